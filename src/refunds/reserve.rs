//! What of a payment can still be given back.
//!
//! `payments.refunded_minor` is the sum of what was given back and of what is on its way. A refund of an order first
//! takes its amount there, by a guarded update: of two that are too much together, at the same moment, one gets it. Take
//! the comparison out of the guard, and the table's check refuses; what does not fit is then an error for ever. Take the
//! second one out, and of two who saw the same amount left, and take a part each, both get it.

use crate::{db::Tx, refunds::model::Refund};

/// Takes `amount_minor` for a refund. `false` when the payment is not ours, is in another currency, or has less left; or
/// when not exactly `left_minor` is left, which is what somebody has decided upon.
pub(super) async fn take(
    tx: &mut Tx,
    intent: &str,
    amount_minor: i64,
    currency: &str,
    left_minor: Option<i64>,
) -> sqlx::Result<bool> {
    let taken = tx
        .query(
            "update payments set refunded_minor = refunded_minor + $2
             where payment_intent_id = $1 and currency = $3
               and $2 between 1 and amount_minor - refunded_minor
               and amount_minor - refunded_minor = coalesce($4, amount_minor - refunded_minor)",
        )
        .bind(intent)
        .bind(amount_minor)
        .bind(currency)
        .bind(left_minor)
        .execute()
        .await?;
    Ok(taken == 1)
}

/// Gives the amount of a refund that has failed free again.
pub(super) async fn release(tx: &mut Tx, refund: &Refund) -> sqlx::Result<u64> {
    tx.query(
        "update payments set refunded_minor = refunded_minor - $2 where payment_intent_id = $1",
    )
    .bind(&refund.payment_intent_id)
    .bind(refund.amount().minor)
    .execute()
    .await
}
