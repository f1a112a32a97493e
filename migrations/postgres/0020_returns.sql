-- What comes back from a bus that keeps messages itself. The same chapter for SQLite stands in migrations/sqlite under
-- the same number.

-- How often a published row became an unpublished one again: a consumer handed its message back, or the bus lost it. Whoever
-- published it before cannot mark it, and a bus that knows what it has stored already stores it once more.
alter table outbox add column returns bigint not null default 0 check (returns >= 0);

-- Each row under the name that its message has in an inbox.
create view outbox_messages as
select id, aggregate_id, published_at, returns,
       aggregate_id::text || '/' || event_type || '/' || version as message
from outbox;
