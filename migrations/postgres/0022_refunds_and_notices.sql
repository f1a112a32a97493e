-- Refunds of orders beside those of payments that came too late, and a mail for each. The same chapter for SQLite
-- stands in migrations/sqlite under the same number.

-- What of a payment is given back or on its way. A refund reserves its amount here before it is written down, so that
-- two at once can never give back more than was paid.
alter table payments add column refunded_minor bigint not null default 0
    check (refunded_minor between 0 and amount_minor);

alter table refunds add column kind text not null default 'late_payment' check (kind in ('late_payment', 'order'));
alter table refunds alter column kind drop default;
alter table refunds add column ordinal bigint check (ordinal > 0); -- the how-manieth of its payment that has succeeded
update refunds set ordinal = 1 where status = 'succeeded';
alter table refunds alter column call_key drop not null; -- none: it was made at the provider
alter table refunds alter column lease_until drop not null;
alter table refunds add check (status <> 'succeeded' or (provider_id is not null and ordinal is not null));
alter table refunds add check (call_key is not null or provider_id is not null);
alter table refunds add check ((call_key is null) = (lease_until is null));
-- What came too late is given back once. An order may have many refunds.
alter table refunds drop constraint refunds_payment_intent_id_key;
create unique index one_refund_for_each_late_payment on refunds (payment_intent_id) where kind = 'late_payment';
create unique index refunds_have_an_order on refunds (payment_intent_id, ordinal);
create index refunds_by_checkout on refunds (checkout_id);

-- Nobody was told so far of what went back.
insert into outbox (aggregate_id, event_type, version, payload, created_at)
    select checkout_id, 'payment.refunded', 1,
           jsonb_build_object('format', 1, 'checkout_id', checkout_id, 'refund_id', id,
                              'amount_minor', amount_minor, 'currency', currency),
           concluded_at
    from refunds where status = 'succeeded';

-- Refunds that the provider tells of and that cannot be booked: not yet, since their payment is not known here or has
-- not as much left, or never, since it is not ours.
create table unbooked_refunds (
    provider_id       text        not null primary key,
    payment_intent_id text        not null,
    amount_minor      bigint      not null,
    currency          text        not null,
    status            text        not null check (status in ('pending', 'succeeded', 'failed')),
    made_at           timestamptz not null,
    received_at       timestamptz not null
);
create index unbooked_refunds_by_payment on unbooked_refunds (payment_intent_id);

-- A mail is about a purchase or about a refund: not every purchase that needs one has become an order.
create table mails (
    about        uuid    not null, -- the checkout's id, or the refund's
    kind         text    not null check (kind in ('order_confirmation', 'not_fulfilled', 'refund_notice')),
    checkout_id  uuid    not null references checkouts (id), -- whose buyer gets it
    attempts     bigint  not null default 0 check (attempts >= 0),
    not_before   timestamptz, -- until then somebody sends it, or it waits before the next try
    last_error   text,
    created_at   timestamptz not null,
    sent_at      timestamptz,
    given_up_at  timestamptz, -- refused, or tried too often: a person has to look
    primary key (about, kind), -- one mail of a kind about each
    check (kind = 'refund_notice' or about = checkout_id),
    check (sent_at is null or given_up_at is null)
);
insert into mails
    select o.checkout_id, e.kind, o.checkout_id, e.attempts, e.not_before, e.last_error, e.created_at, e.sent_at,
           e.given_up_at
    from emails e join orders o on o.number = e.order_number;
drop table emails;
alter table mails rename to emails;
create index emails_to_send on emails (attempts, created_at) where sent_at is null and given_up_at is null;
create index emails_by_checkout on emails (checkout_id);

-- Refunds that were made at the provider told us nothing so far. Their events are read again.
delete from processed_events where type like 'refund.%' and verdict = 'ignored';
delete from events_read;
