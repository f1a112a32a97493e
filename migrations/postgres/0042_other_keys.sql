-- One wish to buy may come in several forms: two tabs, or a page that was loaded again. The same chapter for SQLite stands in
-- migrations/sqlite under the same number.

-- The keys of the forms that were answered with the checkout of another one, since their cart was being bought. They lead there
-- for ever: sent again after a decline, such a form would be a second attempt that nobody asked for.
create table other_keys (
    idempotency_key uuid not null primary key,
    checkout_id     uuid not null references checkouts (id)
);
