-- Refunds that somebody asks for. The same chapter for PostgreSQL stands in migrations/postgres under the same number.

alter table refunds add column idempotency_key blob
    check (idempotency_key is null or (kind = 'order' and call_key is not null));
alter table refunds add column requester text -- a key belongs to whoever used it first
    check ((requester is null) = (idempotency_key is null));
alter table refunds add column fingerprint text -- of what was asked for with it
    check (length(fingerprint) = 64 and (fingerprint is null) = (idempotency_key is null));
alter table refunds add column reason text check (length(reason) between 1 and 200);
alter table refunds add column restock integer not null default 0 -- the goods go back on the shelf with the money
    check (restock in (0, 1) and (idempotency_key is not null or not restock));
create unique index one_refund_for_each_key on refunds (idempotency_key); -- the same wish twice: one refund

-- What was sold can come back on the shelf, once.
create table reservations_that_return (
    checkout_id blob    not null references checkouts (id),
    sku         text    not null references products (sku),
    quantity    integer not null check (quantity > 0),
    state       text    not null check (state in ('held', 'sold', 'released', 'returned')),
    primary key (checkout_id, sku)
) strict;
insert into reservations_that_return select checkout_id, sku, quantity, state from stock_reservations;
drop table stock_reservations;
alter table reservations_that_return rename to stock_reservations;
