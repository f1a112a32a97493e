//! What of a payment can still be given back.
//!
//! `payments.refunded_minor` is the sum of what was given back and of what is on its way. A refund of an order first
//! takes its amount there, by a guarded update: of two that are too much together, at the same moment, one gets it. Take
//! the comparison out of the guard, and the table's check refuses; what does not fit is then an error for ever.

use crate::{db::Tx, refunds::model::Refund};

/// Takes `amount_minor` for a refund. `false` when the payment is not ours, is in another currency, or has less left.
pub(super) async fn take(
    tx: &mut Tx,
    intent: &str,
    amount_minor: i64,
    currency: &str,
) -> sqlx::Result<bool> {
    let taken = tx
        .query(
            "update payments set refunded_minor = refunded_minor + $2
             where payment_intent_id = $1 and currency = $3
               and $2 between 1 and amount_minor - refunded_minor",
        )
        .bind(intent)
        .bind(amount_minor)
        .bind(currency)
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
