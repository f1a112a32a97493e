//! Abandoning: a customer was asked by their bank, and never answered.
//!
//! Their goods must not be held for ever, and the checkout cannot simply be ended either: the customer may approve
//! at this very moment, and would pay for nothing. So the payment is given up *at the provider*, which lets one of the
//! two happen, and only what it then says ends the checkout:
//!
//! ```text
//! time is up ── note the key ── cancel ──┬── canceled: the stock goes back
//!                                        └── "it has succeeded": paid, like any other
//! ```

use chrono::{DateTime, Utc};

use super::{Till, model::Checkout};
use crate::{
    db::{Db, retrying},
    provider::{Doubt, Outcome},
};

/// When a customer who is asked now, or was asked before, is not waited for any more.
pub(super) fn deadline(till: &Till, checkout: &Checkout, now: DateTime<Utc>) -> DateTime<Utc> {
    checkout.asked_at.unwrap_or(now) + till.authentication_time
}

/// Gives the payment of `checkout` up, whose lease the caller holds, and says how the payment stands now. `None` when
/// the lease is somebody else's by now.
pub(super) async fn abandon(till: &Till, checkout: &Checkout) -> sqlx::Result<Option<Outcome>> {
    let Some(intent) = &checkout.payment_intent_id else {
        // Nobody was ever asked.
        return Ok(None);
    };
    let Some(key) = retrying(|| note_key(&till.db, checkout)).await? else {
        return Ok(None);
    };
    tracing::info!(checkout.id = %checkout.id, "abandoned by the customer");
    let give_up = till.lease.to_std().unwrap_or_default();
    let outcome = till.provider.cancel(intent, &key, give_up).await;
    if outcome == Outcome::Unknown(Doubt::StoredError) {
        // The key is of no more use. Another one is safe here: a payment cannot be given up twice.
        retrying(|| forget_key(&till.db, checkout, &key)).await?;
    }
    Ok(Some(outcome))
}

/// Writes down under which key the payment is given up, before the provider hears of it.
async fn note_key(db: &Db, checkout: &Checkout) -> sqlx::Result<Option<String>> {
    let key = format!("{}-cancel-{}", checkout.idempotency_key, checkout.attempts);
    let mut tx = db.begin().await?;
    let noted: Option<(String,)> = tx
        .query(
            "update checkouts set cancel_key = coalesce(cancel_key, $3)
             where id = $1 and status = 'pending' and lease_until = $2
             returning cancel_key",
        )
        .bind(checkout.id)
        .bind(checkout.lease_until)
        .bind(key)
        .fetch_optional()
        .await?;
    tx.commit().await?;
    Ok(noted.map(|(key,)| key))
}

async fn forget_key(db: &Db, checkout: &Checkout, key: &str) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query("update checkouts set cancel_key = null where id = $1 and cancel_key = $2")
        .bind(checkout.id)
        .bind(key)
        .execute()
        .await?;
    tx.commit().await
}
