//! What must hold of refunds, in our books and between them and the provider's.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    Invariant,
    ledger::UNDER_WAY,
    shop::{HORIZON, violated},
};
use crate::{
    db::Tx,
    ids::RefundId,
    provider::wire,
    pruner::MESSAGES_LEAST,
    refunds::{Status, model::Kind},
};

/// Refunds whose payments are looked up at a time.
const ROWS: usize = 2_000;

/// A refund in our books.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct Booked {
    pub(crate) id: RefundId,
    kind: Kind,
    payment_intent_id: String,
    amount_minor: i64,
    currency: String,
    status: Status,
    provider_id: Option<String>,
    concluded_at: Option<DateTime<Utc>>,
}

pub(super) async fn booked(tx: &mut Tx) -> sqlx::Result<Vec<Booked>> {
    tx.query("select * from refunds").fetch_all().await
}

/// How many have succeeded.
pub(crate) fn succeeded(booked: &[Booked]) -> i64 {
    let succeeded = booked.iter().filter(|it| it.status == Status::Succeeded);
    i64::try_from(succeeded.count()).unwrap_or(i64::MAX)
}

/// The payments that had come too late and were given back.
pub(super) fn given_back(booked: &[Booked]) -> HashSet<&str> {
    let late = booked.iter().filter(|it| it.kind == Kind::LatePayment);
    late.filter(|it| it.status == Status::Succeeded)
        .map(|it| it.payment_intent_id.as_str())
        .collect()
}

pub(super) async fn invariants(
    tx: &mut Tx,
    made: &[wire::Refund],
    booked: &[Booked],
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Invariant>> {
    let orders = of_orders(tx, made).await?;
    let orders = orders.iter().map(String::as_str).collect();
    Ok(vec![
        refunds_fit_their_payment(tx).await?,
        no_refund_is_unknown_past_the_horizon(tx, now).await?,
        each_refund_is_announced_once(tx, now).await?,
        each_booked_refund_was_made(made, booked, now),
        each_refund_is_booked(made, booked, &orders, now),
    ])
}

/// Which payments, of those of which something was given back, are those of orders.
async fn of_orders(tx: &mut Tx, made: &[wire::Refund]) -> sqlx::Result<Vec<String>> {
    let mut orders = Vec::new();
    for some in made.chunks(ROWS) {
        // As the keys of an object: so both engines read them.
        let intents = some.iter().filter_map(|made| made.payment_intent.clone());
        let intents: serde_json::Map<_, _> = intents.map(|it| (it, Value::Null)).collect();
        let found: Vec<(String,)> = tx
            .query(
                "select payment_intent_id from payments
                 where payment_intent_id in (select key from json_each($1 /*pg ::json */))",
            )
            .bind(Value::Object(intents).to_string())
            .fetch_all()
            .await?;
        orders.extend(found.into_iter().map(|(intent,)| intent));
    }
    Ok(orders)
}

/// What is given back and on its way is what its payment has reserved for it.
async fn refunds_fit_their_payment(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let payments: Vec<(String,)> = tx
        .query(
            "select p.payment_intent_id from payments p
             left join (select payment_intent_id, sum(amount_minor) as amount_minor from refunds
                        where kind = 'order' and status in ('pending', 'succeeded')
                        group by payment_intent_id) r on r.payment_intent_id = p.payment_intent_id
             where coalesce(r.amount_minor, 0) <> p.refunded_minor or p.refunded_minor > p.amount_minor",
        )
        .fetch_all()
        .await?;
    Ok(violated("refunds_fit_their_payment", "payment", &payments))
}

/// That the provider does not have it for so long, or does not say so, needs a person: its money is reserved. One that it
/// has is the bank's to decide, which may take days.
async fn no_refund_is_unknown_past_the_horizon(
    tx: &mut Tx,
    now: DateTime<Utc>,
) -> sqlx::Result<Invariant> {
    let refunds: Vec<(RefundId,)> = tx
        .query(
            "select id from refunds where status = 'pending' and provider_id is null and created_at < $1",
        )
        .bind(now - HORIZON)
        .fetch_all()
        .await?;
    let name = "no_refund_is_unknown_past_the_horizon";
    Ok(violated(name, "refund", &refunds))
}

/// The news of an old refund may have been pruned.
async fn each_refund_is_announced_once(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Invariant> {
    let refunds: Vec<(String,)> = tx
        .query(
            "select r.provider_id from refunds r
             left join outbox m on m.aggregate_id = r.checkout_id and m.version = r.ordinal
                and m.event_type = case r.kind when 'order' then 'order.refunded' else 'payment.refunded' end
             where r.ordinal is not null
             group by r.id, r.provider_id, r.status, r.concluded_at
             having count(m.id) > 1 or (count(m.id) = 0 and r.status = 'succeeded' and r.concluded_at > $1)
             union all
             select m.event_type from outbox m
             left join refunds r on r.checkout_id = m.aggregate_id and r.ordinal = m.version
             where m.event_type in ('order.refunded', 'payment.refunded') and r.id is null",
        )
        .bind(now - MESSAGES_LEAST)
        .fetch_all()
        .await?;
    Ok(violated(
        "each_refund_is_announced_once",
        "refund",
        &refunds,
    ))
}

/// What has succeeded here has succeeded there, with its amount and once.
pub(crate) fn each_booked_refund_was_made(
    made: &[wire::Refund],
    booked: &[Booked],
    now: DateTime<Utc>,
) -> Invariant {
    let made: HashMap<&str, &wire::Refund> =
        made.iter().map(|made| (made.id.as_str(), made)).collect();
    let is_made = |booked: &Booked| {
        let id = booked.provider_id.as_deref().unwrap_or_default();
        made.get(id).is_some_and(|made| {
            Status::of(&made.status) == Some(Status::Succeeded)
                && made.amount == booked.amount_minor
                && made.currency == booked.currency
                && made.payment_intent.as_ref() == Some(&booked.payment_intent_id)
        })
    };
    let violations = booked
        .iter()
        .filter(|booked| booked.status == Status::Succeeded)
        // The provider's list was read at `now`. What ended here later may have been made later.
        .filter(|booked| booked.concluded_at.is_some_and(|at| at < now))
        .filter(|booked| !is_made(booked))
        .map(|booked| {
            let Booked {
                id, amount_minor, ..
            } = booked;
            format!("refund {id} of {amount_minor} is none of the provider's that have succeeded")
        });
    Invariant::new("each_booked_refund_was_made", violations.collect())
}

/// What was made of an order's payment, and whatever carries the id of one of ours, is in our books by now, as it is.
pub(crate) fn each_refund_is_booked(
    made: &[wire::Refund],
    booked: &[Booked],
    orders: &HashSet<&str>,
    now: DateTime<Utc>,
) -> Invariant {
    let ids: HashSet<String> = booked.iter().map(|it| it.id.to_string()).collect();
    let is_ours = |made: &wire::Refund| {
        let of_an_order = made
            .payment_intent
            .as_deref()
            .is_some_and(|it| orders.contains(it));
        of_an_order || made.refund_id().is_some_and(|id| ids.contains(id))
    };
    let is_under_way = |made: &wire::Refund| {
        let made_at = made.created.and_then(|at| DateTime::from_timestamp(at, 0));
        made_at.is_none_or(|at| now - at < UNDER_WAY)
    };
    let states: HashMap<&str, Status> = booked
        .iter()
        .filter_map(|booked| Some((booked.provider_id.as_deref()?, booked.status)))
        .collect();
    let is_booked = |made: &wire::Refund| {
        let booked = states.get(made.id.as_str());
        booked.is_some_and(|&status| Status::of(&made.status) == Some(status))
    };
    let violations = made
        .iter()
        .filter(|made| is_ours(made) && !is_under_way(made) && !is_booked(made))
        .map(|made| {
            let wire::Refund {
                id,
                amount,
                currency,
                status,
                ..
            } = made;
            format!("{id} ({amount} {currency}, {status}) is not booked")
        });
    Invariant::new("each_refund_is_booked", violations.collect())
}
