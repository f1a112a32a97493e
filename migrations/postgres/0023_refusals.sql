-- How often a mail was refused, apart from how often it was tried: a server that was away for long, and then refuses once,
-- may mean "later". The same chapter for SQLite stands in migrations/sqlite under the same number.

alter table emails add column refusals bigint not null default 0 check (refusals >= 0);
