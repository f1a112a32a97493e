-- Customers who were asked by their bank and never answered. The same chapter for SQLite stands in
-- migrations/sqlite under the same number.

-- When the customer was first asked. Their time runs from here, in UTC like every other time.
alter table checkouts add column asked_at timestamptz;
-- Names the call that gives the payment up. It is on disk before the call, so a repeat has the same one.
alter table checkouts add column cancel_key text;
