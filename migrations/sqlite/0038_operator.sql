-- What the operator's pages need: lists in the order of time, ways to find a purchase, and what a person has done. The same
-- chapter for PostgreSQL stands in migrations/postgres under the same number.

-- Lists are read from a place on, newest first. Ids of checkouts, refunds and discrepancies are in the order of time already.
create index checkouts_by_status on checkouts (status, id);
create index orders_by_age on orders (created_at, number);

-- Customers do not remember in which case they have typed their address.
create index checkouts_by_email on checkouts (lower(email), id);
-- What the provider told of a payment or a refund.
create index processed_events_by_object on processed_events (object_id) where object_id is not null;
-- What has to be looked at, among many that need not be.
create index outbox_parked on outbox (id) where parked_at is not null;
create index discrepancies_open on discrepancies (id) where resolved_at is null;
create index discrepancies_by_checkout on discrepancies (checkout_id);

-- Who has resolved it, and why that is right. Both are empty when it was resolved by itself.
alter table discrepancies add column resolved_by text;
alter table discrepancies add column note text check (note is null or (resolved_by is not null and resolved_at is not null));

-- Each call of the provider that left a checkout undecided, and why. How it was decided stands in the checkout.
create table doubtful_attempts (
    checkout_id blob    not null references checkouts (id),
    attempt     integer not null check (attempt > 0),
    doubt       text    not null,
    noted_at    text    not null,
    primary key (checkout_id, attempt)
) strict;
