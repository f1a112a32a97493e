-- What is of no more use is deleted, oldest first, so each table of such has an index on its age. The same chapter for
-- PostgreSQL stands in migrations/postgres under the same number.

create index processed_events_by_age on processed_events (received_at);
create index outbox_by_age on outbox (published_at) where published_at is not null; -- the rest is never deleted
create index inbox_by_age on inbox (consumed_at);

-- What a consumed message was about. As long as the outbox has a row about the same, the message may come again.
alter table inbox add column aggregate_id blob;
update inbox set aggregate_id = unhex(replace(substr(message, 1, 36), '-', ''));

-- Whoever deletes a cart must know that no checkout refers to it, without reading all checkouts.
create index checkouts_by_cart on checkouts (cart_id);

-- Since when nobody has touched the cart. Empty once it has led to a checkout: then it is kept as long as that is.
-- When an old cart was touched last is not known; it counts as touched when the newest one was made.
alter table carts add column idle_since text;
update carts set idle_since = (select max(created_at) from carts)
    where not exists (select 1 from checkouts where cart_id = carts.id);
create index carts_by_age on carts (idle_since) where idle_since is not null;
