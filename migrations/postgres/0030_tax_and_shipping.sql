-- Tax and shipping. The same chapter for SQLite stands in migrations/sqlite under the same number.

-- Included in the price, never added: thousandths of a percent, and what that is of all that is paid. It is computed once
-- and rounded once, half away from zero; another figure than that cannot be stored.
alter table checkouts add column tax_rate bigint not null default 0 check (tax_rate between 0 and 100000);
alter table checkouts add column tax_minor bigint not null default 0
    check (tax_minor = (2 * amount_minor * tax_rate + 100000 + tax_rate) / (2 * (100000 + tax_rate)));

-- Part of the amount: the rest is what the goods cost.
alter table checkouts add column shipping_minor bigint not null default 0
    check (shipping_minor >= 0 and shipping_minor < amount_minor);
