-- Everything the simulator knows. Four ideas: objects, idempotency keys, webhooks, and a clock.

-- Every API object (payment intent, charge, event, …) is one JSON document, stored as it is shown. What the
-- queries need is read out of the document by SQLite itself, so a column can never disagree with the body.
create table objects (
    -- The order of creation. Lists page by it, since `created` has one-second grain.
    seq integer primary key autoincrement,
    id text not null unique generated always as (body ->> '$.id') stored,
    kind text not null generated always as (body ->> '$.object') stored,
    created integer not null generated always as (body ->> '$.created') stored,
    body text not null check (json_valid(body)),
    -- For a payment method: the test method it was made from (pm_card_visa), which decides how it behaves.
    alias text
) strict;

create index objects_by_kind on objects (kind, seq);

-- The first answer to each idempotency key, byte for byte. The row is written in the transaction of the effect
-- it answers for: there is never one without the other, whatever crashes between.
create table idempotency_keys (
    key text primary key,
    -- A key belongs to the concrete path it was first used on …
    path text not null,
    -- … and to the parameters it came with (SHA-256 of the decoded form, whatever its order or spelling).
    digest text not null,
    request_id text not null,
    status integer not null,
    body blob not null,
    created integer not null
) strict;

create index idempotency_keys_by_age on idempotency_keys (created);

create table webhook_endpoints (
    id text primary key,
    url text not null,
    secret text not null,
    -- A JSON array of event types; "*" is all of them.
    enabled_events text not null default '["*"]' check (json_valid(enabled_events)),
    enabled integer not null default 1 check (enabled in (0, 1)),
    -- 1: named on the command line, where the URL is its identity.
    configured integer not null default 0 check (configured in (0, 1)),
    created integer not null
) strict;

create unique index webhook_endpoints_configured on webhook_endpoints (url) where configured = 1;

-- One event on its way to one endpoint. Written with the event, so that no crash can lose a webhook.
create table deliveries (
    id integer primary key autoincrement,
    event_id text not null references objects (id) on delete cascade,
    endpoint_id text not null references webhook_endpoints (id) on delete cascade,
    state text not null default 'pending' check (state in ('pending', 'delivered', 'given_up')),
    attempts integer not null default 0,
    -- Milliseconds of the simulator's clock.
    next_attempt_at integer not null,
    -- 1: waits for a later event to overtake it (the `reorder` fault).
    held integer not null default 0 check (held in (0, 1)),
    unique (event_id, endpoint_id)
) strict;

create index deliveries_due on deliveries (next_attempt_at) where state = 'pending';

-- What became of each attempt: the journal behind GET /_control/deliveries.
create table delivery_attempts (
    id integer primary key autoincrement,
    event_id text not null references objects (id) on delete cascade,
    url text not null,
    attempt integer not null,
    at integer not null,
    -- The receiver's answer, or why there was none.
    status integer,
    error text,
    next_attempt_at integer,
    check (status is not null or error is not null)
) strict;

create index delivery_attempts_by_event on delivery_attempts (event_id, url);

-- How far the simulator's clock is ahead of the wall's. One row.
create table clock (
    one integer primary key check (one = 1),
    offset_seconds integer not null check (offset_seconds >= 0)
) strict;

insert into clock (one, offset_seconds) values (1, 0);
