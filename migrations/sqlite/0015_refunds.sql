-- Money that is given back. The same chapter for PostgreSQL stands in migrations/postgres under the same number.

create table refunds (
    id                blob not null primary key,
    checkout_id       blob not null references checkouts (id),
    payment_intent_id text not null unique, -- what came too late is given back once
    amount_minor      integer not null check (amount_minor > 0),
    currency          text not null check (length(currency) = 3),
    status            text not null check (status in ('pending', 'succeeded', 'failed')),
    call_key          text not null unique, -- of the call that makes it, on disk before it
    provider_id       text unique,
    failure_code      text,
    attempts          integer not null check (attempts >= 0), -- how often the provider was asked
    lease_until       text not null, -- until then somebody is at work on it, or waits before the next try
    created_at        text not null,
    concluded_at      text,
    check ((status = 'pending') = (concluded_at is null)),
    check (status <> 'succeeded' or provider_id is not null)
) strict;
create index refunds_to_make on refunds (lease_until) where status = 'pending';
