-- What one purchase of one product commits, statement for statement: the yardstick by which the whole shop is measured.
--
-- pgbench runs it on PostgreSQL, and a loop of prepared statements on SQLite; nothing else of the shop takes part. The first
-- three are the path of the checkout, the rest is what follows each payment. Left out is what is shared by many purchases
-- (claiming work takes up to 32 messages, or 16 mails, at a time) and what only reads (the session, the page of the purchase).
-- `tests/it/yardstick.rs` tells when the shop makes other statements than these, and prints what it makes.

-- submit
begin;
update carts set idle_since = null where id = :cart;
select p.sku, p.name, p.price_minor, p.currency, p.stock, i.quantity
from cart_items i join products p on p.sku = i.sku
where i.cart_id = :cart;
select c.id, c.status, c.amount_minor as total_minor, c.currency, c.created_at, l.*
from checkouts c join checkout_lines l on l.checkout_id = c.id
where c.visitor_id = :visitor and c.cart_id <> :cart
  and (c.status = 'pending' or (c.status = 'paid' and c.concluded_at > :before))
order by c.created_at desc, c.id, l.sku;
insert into checkouts (id, idempotency_key, cart_id, visitor_id, fingerprint, status,
    amount_minor, currency, email, name, address, city, postal_code, country,
    payment_method, provider_request, attempts, lease_until, drive_at, created_at,
    shipping_minor, tax_minor, tax_rate, email_folded)
select :checkout, :key, :cart, :visitor, :fingerprint, 'pending',
    :amount, :currency, :email, :name, :address, :city, :postal_code, :country,
    :payment_method, :request, 1, :lease, :lease, :now,
    :shipping, :tax, :tax_rate, :email
where not exists (select 1 from other_keys where idempotency_key = :key)
on conflict do nothing
returning *;
insert into checkout_lines (checkout_id, sku, name, quantity, unit_minor, amount_minor)
values (:checkout, :sku, :product, :quantity, :amount, :amount);
update products set stock = stock - :quantity where sku = :sku and stock >= :quantity;
insert into stock_reservations (checkout_id, sku, quantity, state)
values (:checkout, :sku, :quantity, 'held');
commit;

-- record
begin;
update checkouts
set status = 'paid', payment_intent_id = :intent, next_action_url = null, lease_until = null,
    concluded_at = :now where id = :checkout and status = 'pending' and amount_minor = :amount and currency = :currency
  and (payment_intent_id is null or payment_intent_id = :intent)
  and not exists (select 1 from checkouts other
                  where other.payment_intent_id = :intent and other.id <> :checkout) returning *;
insert into payments (payment_intent_id, checkout_id, amount_minor, currency, created_at)
values (:intent, :checkout, :amount, :currency, :now);
insert into customers (id, email_folded, email, name, first_order_at, last_order_at)
values (:customer, :email, :email, :name, :now, :now)
on conflict (email_folded) do update
set email = excluded.email, name = excluded.name,
    last_order_at = case when excluded.last_order_at > customers.last_order_at
                         then excluded.last_order_at else customers.last_order_at end
returning id;
insert into orders (number, checkout_id, customer_id, amount_minor, currency, created_at)
values (:number, :checkout, :customer, :amount, :currency, :now);
insert into outbox (aggregate_id, event_type, version, payload, created_at)
values (:checkout, :news, :version, :payload, :now);
update stock_reservations set state = 'sold' where checkout_id = :checkout and state = 'held';
insert into provider_calls (checkout_id, about, attempt, place, operation, ended, requests, ended_at) values
(:checkout, :checkout, :attempt, :place, :operation, :ended, :requests, :now) on conflict do nothing;
commit;

-- the event that the payment has succeeded, which is known by now
begin;
insert into processed_events (event_id, type, object_id, verdict, received_at)
values (:event, :event_type, :intent, 'ignored', :now)
on conflict do nothing;
update checkouts
set status = 'paid', payment_intent_id = :intent, next_action_url = null, lease_until = null,
    concluded_at = :now where id = :checkout and status = 'pending' and amount_minor = :amount and currency = :currency
  and (payment_intent_id is null or payment_intent_id = :intent)
  and not exists (select 1 from checkouts other
                  where other.payment_intent_id = :intent and other.id <> :checkout) returning *;
select * from checkouts where id = :checkout;
commit;

-- fulfilment
begin;
insert into inbox (consumer, message, aggregate_id, consumed_at)
values (:fulfilment, :message, :checkout, :now)
on conflict do nothing;
insert into shipments (order_number, created_at) values (:number, :now)
on conflict do nothing;
commit;

-- mailer
begin;
insert into inbox (consumer, message, aggregate_id, consumed_at)
values (:mailer, :message, :checkout, :now)
on conflict do nothing;
insert into emails (about, kind, checkout_id, created_at) values (:checkout, :mail, :checkout, :now)
on conflict do nothing;
commit;

-- refunds, of which there is none
begin;
insert into inbox (consumer, message, aggregate_id, consumed_at)
values (:refunds, :message, :checkout, :now)
on conflict do nothing;
select payment_intent_id /*pg , pg_advisory_xact_lock(hashtextextended(payment_intent_id, 0)) */
from payments where checkout_id = :checkout;
select * from unbooked_refunds where payment_intent_id = :intent order by made_at, provider_id;
commit;

-- the message is published
begin;
update outbox set published_at = :now, parked_at = null, last_error = null
where id = :outbox and published_at is null and returns = :returns;
commit;

-- the mail is sent
begin;
update emails set sent_at = :now, given_up_at = null, last_error = null
where about = :checkout and kind = :mail and copy = :copy and sent_at is null;
commit;
