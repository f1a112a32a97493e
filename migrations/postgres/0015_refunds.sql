-- Money that is given back. The same chapter for SQLite stands in migrations/sqlite under the same number.

create table refunds (
    id                uuid not null primary key,
    checkout_id       uuid not null references checkouts (id),
    payment_intent_id text not null unique, -- what came too late is given back once
    amount_minor      bigint not null check (amount_minor > 0),
    currency          text not null check (length(currency) = 3),
    status            text not null check (status in ('pending', 'succeeded', 'failed')),
    call_key          text not null unique, -- of the call that makes it, on disk before it
    provider_id       text unique,
    failure_code      text,
    attempts          bigint not null check (attempts >= 0), -- how often the provider was asked
    lease_until       timestamptz not null, -- until then somebody is at work on it, or waits before the next try
    created_at        timestamptz not null,
    concluded_at      timestamptz,
    check ((status = 'pending') = (concluded_at is null)),
    check (status <> 'succeeded' or provider_id is not null)
);
create index refunds_to_make on refunds (lease_until) where status = 'pending';
