//! Applying: how a refund stands at the provider is written down, by whoever hears of it first.
//!
//! Safe to call twice, in any order, and with anything. A refund that we asked for carries our id; any other is booked
//! when the first word of it comes. Then its state moves on, and never back: `succeeded` that arrives after `failed`
//! finds nothing to do. Take `status = 'pending'` out of the guard in `succeed`, and tests in `refund_notices` fail.

use chrono::{DateTime, Utc};

use super::{
    from_provider::{self, Told},
    late::{self, LATE},
    model::{Kind, Refund, Status},
    news, reserve,
};
use crate::{
    checkout::Verdict,
    db::Tx,
    discrepancies::{self, Discrepancy},
    ids::{CheckoutId, RefundId},
    inventory,
    provider::wire,
};

/// The discrepancy of a refund that had succeeded, and has come back.
const CAME_BACK: &str = "refund_failed";

/// Writes down how a refund stands at the provider, as a part of the transaction `tx`.
pub async fn apply(tx: &mut Tx, made: &wire::Refund, now: DateTime<Utc>) -> sqlx::Result<Verdict> {
    let Some(told) = Told::by(made, now) else {
        return Ok(Verdict::Nothing);
    };
    one_at_a_time(tx, &told.payment_intent_id).await?;
    if let Some(Ok(ours)) = made.refund_id().map(str::parse) {
        recognize(tx, ours, &told).await?;
    }
    let verdict = settle(tx, &told, now).await?;
    if verdict == Verdict::Concluded && told.status == Status::Failed {
        retry_kept(tx, &told.payment_intent_id, now).await?;
    }
    Ok(verdict)
}

/// Books what was told of a payment's refunds before the payment itself was known.
pub(super) async fn what_was_told_early(
    tx: &mut Tx,
    checkout: CheckoutId,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    // One at a time, as below.
    let payment: Option<(String,)> = tx
        .query(
            "select payment_intent_id /*pg , pg_advisory_xact_lock(hashtextextended(payment_intent_id, 0)) */
             from payments where checkout_id = $1",
        )
        .bind(checkout)
        .fetch_optional()
        .await?;
    if let Some((intent,)) = payment {
        retry_kept(tx, &intent, now).await?;
    }
    Ok(())
}

/// Ends a refund of ours that the provider will not make.
pub(super) async fn refuse(
    tx: &mut Tx,
    refund: &Refund,
    code: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let intent = &refund.payment_intent_id;
    one_at_a_time(tx, intent).await?;
    let ended: Option<Refund> = tx
        .query(
            "update refunds set status = 'failed', failure_code = $2, concluded_at = $3
             where id = $1 and status = 'pending' returning *",
        )
        .bind(refund.id)
        .bind(code)
        .bind(now)
        .fetch_optional()
        .await?;
    if let Some(refund) = ended {
        money_is_here_again(tx, &refund, now).await?;
        retry_kept(tx, intent, now).await?;
    }
    Ok(())
}

/// Whoever writes about a payment's refunds waits for whoever does already. Whether a payment is known, and whether
/// something was kept for it, would else be asked by two transactions that do not see each other's answer. SQLite has
/// one writer at a time anyway.
async fn one_at_a_time(tx: &mut Tx, intent: &str) -> sqlx::Result<()> {
    tx.query("select $1 /*pg , pg_advisory_xact_lock(hashtextextended($1, 0)) */")
        .bind(intent)
        .execute()
        .await?;
    Ok(())
}

/// Notes which of the provider's refunds is ours. It names ours in its metadata, and has to be what we asked for.
async fn recognize(tx: &mut Tx, id: RefundId, told: &Told) -> sqlx::Result<u64> {
    tx.query(
        "update refunds set provider_id = $2
         where id = $1 and provider_id is null
           and payment_intent_id = $3 and amount_minor = $4 and currency = $5
           and not exists (select 1 from refunds other where other.provider_id = $2)",
    )
    .bind(id)
    .bind(&told.provider_id)
    .bind(&told.payment_intent_id)
    .bind(told.amount_minor)
    .bind(&told.currency)
    .execute()
    .await
}

/// What was kept may fit by now.
async fn retry_kept(tx: &mut Tx, intent: &str, now: DateTime<Utc>) -> sqlx::Result<()> {
    for told in from_provider::kept(tx, intent).await? {
        settle(tx, &told, now).await?;
    }
    Ok(())
}

/// Books a refund, unless it is here, and moves it on.
async fn settle(tx: &mut Tx, told: &Told, now: DateTime<Utc>) -> sqlx::Result<Verdict> {
    if !is_here(tx, told).await? && !late::is_given_back_by(tx, told).await? {
        let verdict = from_provider::book(tx, told, now).await?;
        if verdict != Verdict::Waiting {
            return Ok(verdict);
        }
    }
    match told.status {
        Status::Pending => Ok(Verdict::Waiting),
        Status::Succeeded => succeed(tx, told, now).await,
        Status::Failed => fail(tx, told, now).await,
    }
}

async fn is_here(tx: &mut Tx, told: &Told) -> sqlx::Result<bool> {
    let here: i64 = tx
        .query("select count(*) from refunds where provider_id = $1")
        .bind(&told.provider_id)
        .fetch_scalar()
        .await?;
    Ok(here > 0)
}

/// The money is with the customer's bank, and everybody may hear of it. Now, and not when it was asked for, the goods are
/// for sale again: a refund that comes to nothing leaves them with the customer.
async fn succeed(tx: &mut Tx, told: &Told, now: DateTime<Utc>) -> sqlx::Result<Verdict> {
    let ended: Option<Refund> = tx
        .query(
            "update refunds set status = 'succeeded', concluded_at = $2,
                 ordinal = 1 + (select count(other.ordinal) from refunds other
                                where other.payment_intent_id = refunds.payment_intent_id)
             where provider_id = $1 and status = 'pending'
               and payment_intent_id = $3 and amount_minor = $4 and currency = $5
             returning *",
        )
        .bind(&told.provider_id)
        .bind(now)
        .bind(&told.payment_intent_id)
        .bind(told.amount_minor)
        .bind(&told.currency)
        .fetch_optional()
        .await?;
    let Some(refund) = ended else {
        return Ok(Verdict::Nothing);
    };
    if refund.kind == Kind::LatePayment {
        discrepancies::resolve(tx, LATE, &refund.payment_intent_id, now).await?;
    }
    if refund.restock {
        inventory::put_back(tx, refund.checkout_id).await?;
    }
    news::announce(tx, &refund, now).await?;
    Ok(Verdict::Concluded)
}

/// The customer's bank did not take it, or has sent it back.
async fn fail(tx: &mut Tx, told: &Told, now: DateTime<Utc>) -> sqlx::Result<Verdict> {
    let ended: Option<Refund> = tx
        .query(
            "update refunds set status = 'failed', concluded_at = $2
             where provider_id = $1 and status in ('pending', 'succeeded')
               and payment_intent_id = $3 and amount_minor = $4 and currency = $5
             returning *",
        )
        .bind(&told.provider_id)
        .bind(now)
        .bind(&told.payment_intent_id)
        .bind(told.amount_minor)
        .bind(&told.currency)
        .fetch_optional()
        .await?;
    let Some(refund) = ended else {
        return Ok(Verdict::Nothing);
    };
    money_is_here_again(tx, &refund, now).await?;
    Ok(Verdict::Concluded)
}

/// A person has to find another way to the customer: a late payment's discrepancy is open, or is again, and so is one of
/// an order's refund of which the customer was told that it had been made.
async fn money_is_here_again(tx: &mut Tx, refund: &Refund, now: DateTime<Utc>) -> sqlx::Result<()> {
    tracing::error!(refund.id = %refund.id, checkout.id = %refund.checkout_id, "the refund failed");
    match refund.kind {
        Kind::LatePayment => {
            discrepancies::reopen(tx, LATE, &refund.payment_intent_id).await?;
        }
        Kind::Order => {
            reserve::release(tx, refund).await?;
        }
    }
    if let (Kind::Order, Some(_), Some(object)) = (refund.kind, refund.ordinal, &refund.provider_id)
    {
        let discrepancy = Discrepancy {
            kind: CAME_BACK,
            object,
            checkout: refund.checkout_id,
            detail: format!(
                "the customer was told that {} were given back, and the refund has failed since",
                refund.amount()
            ),
        };
        discrepancies::open(tx, &discrepancy, now).await?;
    }
    Ok(())
}
