//! Refunds that somebody made in the provider's own dashboard: each is booked once, if it fits its payment.
//!
//! One that does not fit books nothing. It may have come early, before the news of its payment, or before the news that
//! another refund has failed and left room for it. So it is kept aside, and looked at again when that is heard. What is
//! not about a payment of ours, nobody ever asks for, and it is forgotten.

use chrono::{DateTime, TimeDelta, Utc};

use super::{model::Status, reserve};
use crate::{
    checkout::Verdict,
    db::Tx,
    discrepancies::{self, Discrepancy},
    ids::{CheckoutId, RefundId},
    money::{Currency, Money},
    provider::wire,
};

/// The discrepancy that is open while a refund does not fit its payment.
const UNFIT: &str = "refund_does_not_fit";

/// So long a refund of an unknown payment is kept. The provider shows its events for as long, so the payment would be
/// known by then.
const KEPT: TimeDelta = TimeDelta::days(30);

/// What the provider tells of a refund.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Told {
    pub provider_id: String,
    pub payment_intent_id: String,
    pub amount_minor: i64,
    pub currency: String,
    pub status: Status,
    made_at: DateTime<Utc>,
}

impl Told {
    /// `None` for a refund that is about no payment intent, or in a state that we do not know.
    pub(super) fn by(made: &wire::Refund, now: DateTime<Utc>) -> Option<Self> {
        // What cannot be is not written down, where it might not fit.
        let made_at = made.created.filter(|at| (0..=now.timestamp()).contains(at));
        let made_at = made_at.and_then(|at| DateTime::from_timestamp(at, 0));
        Some(Self {
            provider_id: made.id.clone(),
            payment_intent_id: made.payment_intent.clone()?,
            amount_minor: made.amount,
            currency: made.currency.clone(),
            status: Status::of(&made.status)?,
            made_at: made_at.unwrap_or(now),
        })
    }
}

/// Books a refund that is not here yet. [`Verdict::Waiting`] is one that is now here as pending, whatever was told of
/// it, and [`Verdict::Concluded`] one that had failed before we heard of it.
pub(super) async fn book(tx: &mut Tx, told: &Told, now: DateTime<Utc>) -> sqlx::Result<Verdict> {
    let has_failed = told.status == Status::Failed;
    let intent = &told.payment_intent_id;
    // What has failed takes nothing from its payment.
    let fits =
        has_failed || reserve::take(tx, intent, told.amount_minor, &told.currency, None).await?;
    if !fits || insert(tx, told, has_failed, now).await? == 0 {
        return put_aside(tx, told, now).await;
    }
    forget(tx, told).await?;
    discrepancies::resolve(tx, UNFIT, &told.provider_id, now).await?;
    Ok(if has_failed {
        Verdict::Concluded
    } else {
        Verdict::Waiting
    })
}

async fn insert(
    tx: &mut Tx,
    told: &Told,
    has_failed: bool,
    now: DateTime<Utc>,
) -> sqlx::Result<u64> {
    tx.query(
        "insert into refunds (id, kind, checkout_id, payment_intent_id, amount_minor, currency, status,
             provider_id, attempts, created_at, concluded_at)
         select $1, 'order', checkout_id, payment_intent_id, $3, currency, $5, $6, 0, $7, $8
         from payments
         where payment_intent_id = $2 and currency = $4 and $3 between 1 and amount_minor",
    )
    .bind(RefundId::new())
    .bind(&told.payment_intent_id)
    .bind(told.amount_minor)
    .bind(&told.currency)
    .bind(if has_failed { Status::Failed } else { Status::Pending })
    .bind(&told.provider_id)
    .bind(told.made_at)
    .bind(has_failed.then_some(now))
    .execute()
    .await
}

/// Keeps what does not fit. A person hears of it when the payment is one of ours.
async fn put_aside(tx: &mut Tx, told: &Told, now: DateTime<Utc>) -> sqlx::Result<Verdict> {
    keep(tx, told, now).await?;
    let payment: Option<(CheckoutId, i64, i64, Currency)> = tx
        .query(
            "select checkout_id, amount_minor, refunded_minor, currency from payments
             where payment_intent_id = $1",
        )
        .bind(&told.payment_intent_id)
        .fetch_optional()
        .await?;
    let Some((checkout, paid, refunded, currency)) = payment else {
        return Ok(Verdict::Nothing);
    };
    let detail = format!(
        "the provider has given {} of {} back, of which {} of {} are given back by our books",
        Money::told(told.amount_minor, &told.currency),
        told.payment_intent_id,
        Money::new(refunded, currency),
        Money::new(paid, currency)
    );
    let discrepancy = Discrepancy {
        kind: UNFIT,
        object: &told.provider_id,
        checkout,
        detail,
    };
    discrepancies::open(tx, &discrepancy, now).await?;
    Ok(Verdict::Discrepancy)
}

/// The same one again may tell a later state, and never takes it back.
async fn keep(tx: &mut Tx, told: &Told, now: DateTime<Utc>) -> sqlx::Result<()> {
    tx.query(
        "insert into unbooked_refunds (provider_id, payment_intent_id, amount_minor, currency, status,
             made_at, received_at)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (provider_id) do update set status = excluded.status
         where unbooked_refunds.status = 'pending' or excluded.status = 'failed'",
    )
    .bind(&told.provider_id)
    .bind(&told.payment_intent_id)
    .bind(told.amount_minor)
    .bind(&told.currency)
    .bind(told.status)
    .bind(told.made_at)
    .bind(now)
    .execute()
    .await?;
    tx.query(
        "delete from unbooked_refunds where received_at < $1
           and not exists (select 1 from payments p where p.payment_intent_id = unbooked_refunds.payment_intent_id)",
    )
    .bind(now - KEPT)
    .execute()
    .await?;
    Ok(())
}

/// Keeps it no longer: it is booked.
pub(super) async fn forget(tx: &mut Tx, told: &Told) -> sqlx::Result<u64> {
    tx.query("delete from unbooked_refunds where provider_id = $1")
        .bind(&told.provider_id)
        .execute()
        .await
}

/// What was kept of a payment's refunds, oldest first.
pub(super) async fn kept(tx: &mut Tx, intent: &str) -> sqlx::Result<Vec<Told>> {
    tx.query(
        "select * from unbooked_refunds where payment_intent_id = $1 order by made_at, provider_id",
    )
    .bind(intent)
    .fetch_all()
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_cannot_be_is_the_time_of_the_news() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default();
        for (created, made_at) in [
            (Some(1_700_000_000_i64), 1_700_000_000),
            (Some(-8_000_000_000_000), 1_800_000_000),
            (Some(9_000_000_000_000), 1_800_000_000),
            (None, 1_800_000_000),
        ] {
            let refund = serde_json::json!({"id": "re_1", "amount": 1, "currency": "eur", "status": "succeeded",
                "payment_intent": "pi_1", "created": created});
            let refund: wire::Refund = serde_json::from_value(refund).expect("a refund");
            let told = Told::by(&refund, now).expect("told");
            assert_eq!(told.made_at.timestamp(), made_at, "{created:?}");
        }
    }
}
