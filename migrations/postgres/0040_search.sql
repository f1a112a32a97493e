-- Each of the operator's lists can be searched, and stays in the order of time. The same chapter for SQLite stands in
-- migrations/sqlite under the same number.

-- In lower case of every script, which only the program can make: SQL may know the cases of ASCII alone. What was written
-- before is folded as far as SQL can.
alter table checkouts add column email_folded text;
update checkouts set email_folded = lower(email);
drop index checkouts_by_email;
create index checkouts_by_email on checkouts (email_folded, id);

drop index orders_by_customer;
create index orders_by_customer on orders (customer_id, created_at, number);

drop index processed_events_by_object;
create index processed_events_by_object on processed_events (object_id, received_at, event_id) where object_id is not null;
create index processed_events_by_type on processed_events (type, received_at, event_id);

create index outbox_by_type on outbox (event_type, id);
create index emails_by_kind on emails (kind, created_at, about, copy);
create index discrepancies_by_kind on discrepancies (kind, id);
create index discrepancies_by_object on discrepancies (object_id, id);
