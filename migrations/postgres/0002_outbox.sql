-- What becomes of an outbox row, and of those who hear of it. The same chapter for SQLite stands in
-- migrations/sqlite under the same number.

alter table outbox add column attempts   bigint not null default 0 check (attempts >= 0);
alter table outbox add column not_before timestamptz; -- until then somebody publishes it, or it waits before the next try
alter table outbox add column parked_at  timestamptz; -- refused too often: a person has to look
alter table outbox add column last_error text;

-- What the relay asks for: fresh rows first, then those that failed.
create index outbox_to_publish on outbox (attempts, id) where published_at is null and parked_at is null;

-- What each consumer has acted on; written in the transaction of the effect.
create table inbox (
    consumer    text not null,
    message     text not null,
    consumed_at timestamptz not null,
    primary key (consumer, message) -- the same message twice: one effect
);

create table shipments (
    order_number text not null primary key references orders (number), -- an order is shipped once
    created_at   timestamptz not null
);
