-- What comes back from a bus that keeps messages itself. The same chapter for PostgreSQL stands in migrations/postgres
-- under the same number.

-- How often a published row became an unpublished one again: a consumer handed its message back, or the bus lost it. Whoever
-- published it before cannot mark it, and a bus that knows what it has stored already stores it once more.
alter table outbox add column returns integer not null default 0 check (returns >= 0);

-- Each row under the name that its message has in an inbox.
create view outbox_messages as
select id, aggregate_id, published_at, returns,
       lower(substr(hex(aggregate_id), 1, 8) || '-' || substr(hex(aggregate_id), 9, 4) || '-' ||
             substr(hex(aggregate_id), 13, 4) || '-' || substr(hex(aggregate_id), 17, 4) || '-' ||
             substr(hex(aggregate_id), 21)) || '/' || event_type || '/' || version as message
from outbox;
