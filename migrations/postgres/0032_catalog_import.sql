-- The catalog comes from a file, again and again. The same chapter for SQLite stands in migrations/sqlite under the same number.

-- All that the file says was ever delivered. An import puts on the shelf what is more than that, so the same file again
-- puts nothing there, however much was sold meanwhile.
alter table products add column delivered bigint not null default 0 check (delivered >= 0);
update products set delivered = stocked;
