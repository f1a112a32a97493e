//! What must hold within the shop's own database. Each statement finds violations, so each should find nothing.

use std::fmt::Display;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Counts, Invariant};
use crate::{
    catalog::Sku,
    customers,
    db::{Db, Row, Tx},
    ids::{CartId, CheckoutId, CustomerId},
    orders::OrderNumber,
    pruner::MESSAGES_LEAST,
};

/// An undecided checkout or refund, or a message that nobody took, older than this needs a person.
pub(crate) const HORIZON: TimeDelta = TimeDelta::hours(24);

/// How long a published message may be on its way to its consumers.
pub(super) const DELIVERY: TimeDelta = TimeDelta::minutes(5);

/// Rows that are in memory at a time, where SQL cannot say what is wrong with them.
const ROWS: i64 = 2_000;

pub(super) async fn invariants(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Vec<Invariant>> {
    Ok(vec![
        one_paid_checkout_for_each_cart(tx).await?,
        one_payment_and_one_order_for_each_paid_checkout(tx).await?,
        lines_payment_and_order_agree(tx).await?,
        each_order_is_its_customers(tx).await?,
        stock_is_conserved(tx).await?,
        reservations_follow_their_checkout(tx).await?,
        each_order_is_announced_once(tx, now).await?,
        each_order_is_shipped(tx, now).await?,
        nothing_is_unpublished_past_the_horizon(tx, now).await?,
        nothing_is_pending_past_the_horizon(tx, now).await?,
        discrepancies_are_resolved(tx).await?,
    ])
}

async fn one_paid_checkout_for_each_cart(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let carts: Vec<(CartId,)> = tx
        .query(
            "select cart_id from checkouts where status = 'paid' group by cart_id having count(*) > 1",
        )
        .fetch_all()
        .await?;
    Ok(violated("one_paid_checkout_for_each_cart", "cart", &carts))
}

async fn one_payment_and_one_order_for_each_paid_checkout(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let checkouts: Vec<(CheckoutId,)> = tx
        .query(
            "select c.id from checkouts c
             left join payments p on p.checkout_id = c.id
             left join orders o on o.checkout_id = c.id
             where (c.status = 'paid') <> (p.checkout_id is not null)
                or (c.status = 'paid') <> (o.checkout_id is not null)
                or (p.payment_intent_id <> c.payment_intent_id)",
        )
        .fetch_all()
        .await?;
    let name = "one_payment_and_one_order_for_each_paid_checkout";
    Ok(violated(name, "checkout", &checkouts))
}

async fn lines_payment_and_order_agree(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let checkouts: Vec<(CheckoutId,)> = tx
        .query(
            "select c.id from checkouts c
             left join payments p on p.checkout_id = c.id
             left join orders o on o.checkout_id = c.id
             left join (select checkout_id, sum(amount_minor) as amount_minor
                        from checkout_lines group by checkout_id) l on l.checkout_id = c.id
             where coalesce(l.amount_minor, 0) + c.shipping_minor <> c.amount_minor
                or p.amount_minor <> c.amount_minor or p.currency <> c.currency
                or o.amount_minor <> c.amount_minor or o.currency <> c.currency",
        )
        .fetch_all()
        .await?;
    Ok(violated(
        "lines_payment_and_order_agree",
        "checkout",
        &checkouts,
    ))
}

/// Of whose address it is, however that is spelt; and nobody is a customer without one.
async fn each_order_is_its_customers(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let mut violations = Vec::new();
    let mut last = String::new();
    loop {
        let orders: Vec<(OrderNumber, String, String)> = tx
            .query(
                "select o.number, c.email, u.email_folded from orders o
                 join checkouts c on c.id = o.checkout_id
                 join customers u on u.id = o.customer_id
                 where o.number > $1 order by o.number limit $2",
            )
            .bind(&last)
            .bind(ROWS)
            .fetch_all()
            .await?;
        let Some((newest, ..)) = orders.last() else {
            break;
        };
        last = newest.to_string();
        let strangers = orders
            .iter()
            .filter(|(_, email, folded)| customers::fold(email) != *folded)
            .map(|(number, ..)| format!("order {number}"));
        violations.extend(strangers);
    }
    let idle: Vec<(CustomerId,)> = tx
        .query(
            "select id from customers
             where not exists (select 1 from orders o where o.customer_id = customers.id)",
        )
        .fetch_all()
        .await?;
    violations.extend(idle.iter().map(|(id,)| format!("customer {id}")));
    Ok(Invariant::new("each_order_is_its_customers", violations))
}

async fn stock_is_conserved(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let products: Vec<(Sku,)> = tx
        .query(
            "select p.sku from products p
             left join (select sku, sum(quantity) as quantity from stock_reservations
                        where state in ('held', 'sold') group by sku) r on r.sku = p.sku
             where p.stocked <> p.stock + coalesce(r.quantity, 0)",
        )
        .fetch_all()
        .await?;
    Ok(violated("stock_is_conserved", "product", &products))
}

/// Held while undecided, sold when paid, released when ended otherwise; and exactly what was agreed. Sold goods are returned
/// when a refund that puts them back has succeeded. Should its money come back later, they are not taken off the shelf again.
async fn reservations_follow_their_checkout(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let checkouts: Vec<(CheckoutId,)> = tx
        .query(
            "select distinct c.id from checkouts c
             join checkout_lines l on l.checkout_id = c.id
             left join stock_reservations r on r.checkout_id = l.checkout_id and r.sku = l.sku
             where r.sku is null or r.quantity <> l.quantity
                or r.state <> case c.status
                       when 'pending' then 'held'
                       when 'paid' then
                           case when exists (select 1 from refunds f
                                             where f.checkout_id = c.id and f.restock and f.ordinal is not null)
                                then 'returned' else 'sold' end
                       else 'released' end",
        )
        .fetch_all()
        .await?;
    Ok(violated(
        "reservations_follow_their_checkout",
        "checkout",
        &checkouts,
    ))
}

/// The news of an old order may have been pruned. That somebody has heard of it is what the next two say.
async fn each_order_is_announced_once(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Invariant> {
    let checkouts: Vec<(CheckoutId,)> = tx
        .query(
            "select o.checkout_id from orders o
             left join outbox m on m.aggregate_id = o.checkout_id and m.event_type = 'order.placed'
             group by o.checkout_id, o.created_at
             having count(m.id) > 1 or (count(m.id) = 0 and o.created_at > $1)
             union all
             select m.aggregate_id from outbox m
             left join orders o on o.checkout_id = m.aggregate_id
             where m.event_type = 'order.placed' and o.number is null",
        )
        .bind(now - MESSAGES_LEAST)
        .fetch_all()
        .await?;
    Ok(violated(
        "each_order_is_announced_once",
        "checkout",
        &checkouts,
    ))
}

/// That it is not shipped twice is the table's business. Until its news is published, and while it is on its way, an
/// order may still wait. News that is not there any more was published long ago, or was lost.
async fn each_order_is_shipped(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Invariant> {
    let orders: Vec<(OrderNumber,)> = tx
        .query(
            "select o.number from orders o
             left join outbox m on m.aggregate_id = o.checkout_id and m.event_type = 'order.placed'
             left join shipments s on s.order_number = o.number
             where (m.id is null or m.published_at < $1) and s.order_number is null",
        )
        .bind(now - DELIVERY)
        .fetch_all()
        .await?;
    Ok(violated("each_order_is_shipped", "order", &orders))
}

async fn nothing_is_unpublished_past_the_horizon(
    tx: &mut Tx,
    now: DateTime<Utc>,
) -> sqlx::Result<Invariant> {
    let messages: Vec<(i64,)> = tx
        .query("select id from outbox where published_at is null and created_at < $1 order by id")
        .bind(now - HORIZON)
        .fetch_all()
        .await?;
    Ok(violated(
        "nothing_is_unpublished_past_the_horizon",
        "message",
        &messages,
    ))
}

async fn nothing_is_pending_past_the_horizon(
    tx: &mut Tx,
    now: DateTime<Utc>,
) -> sqlx::Result<Invariant> {
    let checkouts: Vec<(CheckoutId,)> = tx
        .query("select id from checkouts where status = 'pending' and created_at < $1")
        .bind(now - HORIZON)
        .fetch_all()
        .await?;
    Ok(violated(
        "nothing_is_pending_past_the_horizon",
        "checkout",
        &checkouts,
    ))
}

async fn discrepancies_are_resolved(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let open: Vec<(String, String)> = tx
        .query(
            "select kind, detail from discrepancies where resolved_at is null order by created_at",
        )
        .fetch_all()
        .await?;
    let violations = open
        .into_iter()
        .map(|(kind, detail)| format!("{kind}: {detail}"));
    Ok(Invariant::new(
        "discrepancies_are_resolved",
        violations.collect(),
    ))
}

pub(crate) fn violated<T: Display>(name: &'static str, kind: &str, rows: &[(T,)]) -> Invariant
where
    (T,): Row,
{
    let violations = rows.iter().map(|(id,)| format!("{kind} {id}"));
    Invariant::new(name, violations.collect())
}

/// When the first checkout was submitted.
pub(super) async fn first_checkout(db: &Db) -> sqlx::Result<Option<DateTime<Utc>>> {
    let first: Option<(DateTime<Utc>,)> = db
        .query("select created_at from checkouts order by created_at limit 1")
        .fetch_optional()
        .await?;
    Ok(first.map(|(at,)| at))
}

pub(super) async fn counts(tx: &mut Tx) -> sqlx::Result<Counts> {
    let (
        checkouts,
        paid,
        orders,
        payments,
        emails,
        processed_events,
        outbox_unpublished,
        discrepancies_open,
    ) = tx
        .query(
            "select (select count(*) from checkouts),
                    (select count(*) from checkouts where status = 'paid'),
                    (select count(*) from orders),
                    (select count(*) from payments),
                    (select count(*) from emails where copy = 0 and sent_at is not null),
                    (select count(*) from processed_events),
                    (select count(*) from outbox where published_at is null),
                    (select count(*) from discrepancies where resolved_at is null)",
        )
        .fetch_one()
        .await?;
    Ok(Counts {
        checkouts,
        paid,
        orders,
        payments,
        emails,
        processed_events,
        outbox_unpublished,
        discrepancies_open,
        ..Counts::default()
    })
}
