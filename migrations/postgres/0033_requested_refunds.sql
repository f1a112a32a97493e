-- Refunds that somebody asks for. The same chapter for SQLite stands in migrations/sqlite under the same number.

alter table refunds add column idempotency_key uuid unique; -- the same wish twice: one refund
alter table refunds add column requester text; -- a key belongs to whoever used it first
alter table refunds add column fingerprint text check (length(fingerprint) = 64); -- of what was asked for with it
alter table refunds add column reason text check (length(reason) between 1 and 200);
alter table refunds add column restock boolean not null default false; -- the goods go back on the shelf with the money
alter table refunds add check ((requester is null) = (idempotency_key is null));
alter table refunds add check ((fingerprint is null) = (idempotency_key is null));
alter table refunds add check (idempotency_key is null or (kind = 'order' and call_key is not null));
alter table refunds add check (idempotency_key is not null or not restock);

-- What was sold can come back on the shelf, once.
alter table stock_reservations drop constraint stock_reservations_state_check;
alter table stock_reservations add check (state in ('held', 'sold', 'released', 'returned'));
