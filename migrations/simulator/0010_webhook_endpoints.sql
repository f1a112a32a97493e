-- Webhook endpoints become API objects like all others. Beside the documents stands only what the API never shows.

insert into objects (body)
select json_object(
    'id', id,
    'object', 'webhook_endpoint',
    'api_version', null,
    'application', null,
    'created', created,
    'description', null,
    'enabled_events', json(enabled_events),
    'livemode', json('false'),
    'metadata', json('{}'),
    'status', iif(enabled = 1, 'enabled', 'disabled'),
    'url', url)
from webhook_endpoints
order by created, id;

-- What signs the deliveries to an endpoint. A secret that was rolled stays valid for a while, beside the new one.
create table webhook_secrets (
    id integer primary key autoincrement,
    endpoint_id text not null references objects (id) on delete cascade,
    secret text not null,
    -- Seconds of the simulator's clock. None: it is the current one.
    expires_at integer
) strict;

create unique index webhook_secrets_current on webhook_secrets (endpoint_id) where expires_at is null;
create index webhook_secrets_by_endpoint on webhook_secrets (endpoint_id);

insert into webhook_secrets (endpoint_id, secret) select id, secret from webhook_endpoints;

-- The endpoints named on the command line, recognised by the URL they are named with.
create table configured_endpoints (
    url text primary key,
    endpoint_id text not null unique references objects (id) on delete cascade
) strict;

insert into configured_endpoints (url, endpoint_id) select url, id from webhook_endpoints where configured = 1;

-- One event on its way to one endpoint. Written with the event, so that no crash can lose a webhook.
create table new_deliveries (
    id integer primary key autoincrement,
    event_id text not null references objects (id) on delete cascade,
    endpoint_id text not null references objects (id) on delete cascade,
    -- 1: somebody asked for it. It is attempted once, and the automatic one does not know of it.
    manual integer not null default 0 check (manual in (0, 1)),
    state text not null default 'pending' check (state in ('pending', 'delivered', 'given_up')),
    attempts integer not null default 0,
    -- Milliseconds of the simulator's clock.
    next_attempt_at integer not null,
    -- The fault that has struck the coming attempt already and made it wait: delay, or reorder.
    fault text
) strict;

insert into new_deliveries (id, event_id, endpoint_id, state, attempts, next_attempt_at, fault)
select id, event_id, endpoint_id, state, attempts, next_attempt_at, iif(held = 1, 'reorder', null) from deliveries;

-- The children first: dropping a table deletes its rows, and with them what refers to them.
drop table deliveries;
drop index webhook_endpoints_configured;

-- The journal tells which endpoint it was, since two may have the same URL, and which fault struck.
alter table delivery_attempts add column endpoint_id text;
alter table delivery_attempts add column fault text;
update delivery_attempts set endpoint_id = (select id from webhook_endpoints e where e.url = delivery_attempts.url);
drop index delivery_attempts_by_event;
create index delivery_attempts_by_event on delivery_attempts (event_id, endpoint_id);

drop table webhook_endpoints;
alter table new_deliveries rename to deliveries;

-- An event goes to an endpoint by itself once, however often it is resent.
create unique index deliveries_automatic on deliveries (event_id, endpoint_id) where manual = 0;
-- What is due is looked for endpoint by endpoint, so that nobody's backlog hides anybody else's.
create index deliveries_due on deliveries (endpoint_id, next_attempt_at, id) where state = 'pending';
-- When anything is due next.
create index deliveries_next on deliveries (next_attempt_at) where state = 'pending';
