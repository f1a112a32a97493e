-- Goods that the catalog does not show: those that the lab buys, so that it sells out nothing that others want.
-- The same chapter for SQLite stands in migrations/sqlite under the same number.

alter table products add column listed boolean not null default true;
