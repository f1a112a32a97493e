-- Mail. The same chapter for PostgreSQL stands in migrations/postgres under the same number.

-- What the buyers are owed, and what became of it.
create table emails (
    order_number text    not null references orders (number),
    kind         text    not null,
    attempts     integer not null default 0 check (attempts >= 0),
    not_before   text, -- until then somebody sends it, or it waits before the next try
    last_error   text,
    created_at   text    not null,
    sent_at      text,
    given_up_at  text, -- refused, or tried too often: a person has to look
    primary key (order_number, kind), -- an order has one mail of a kind
    check (sent_at is null or given_up_at is null)
) strict;

-- What the postman asks for: fresh mails first, then those that failed.
create index emails_to_send on emails (attempts, created_at) where sent_at is null and given_up_at is null;

-- Keys that the shop made up for itself. Whoever reads this database needs none of them.
create table secrets (
    name       text not null primary key,
    value      text not null,
    created_at text not null
) strict;
