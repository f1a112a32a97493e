-- Goods that the catalog does not show: those that the lab buys, so that it sells out nothing that others want.
-- The same chapter for PostgreSQL stands in migrations/postgres under the same number.

alter table products add column listed integer not null default 1 check (listed in (0, 1));
