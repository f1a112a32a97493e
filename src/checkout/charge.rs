//! Charging: the provider is asked, with no transaction open.
//!
//! The key and the bytes are the same each time, so the provider charges once however often it is asked. When
//! its answer can no longer tell what happened, the payment is looked up by the checkout's id in its metadata.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Till, model::Checkout};
use crate::provider::{Doubt, Found, Outcome};

/// How long the provider is trusted to remember a key. It promises 24 hours from the first use; after that
/// the same request would run, and charge, again. <https://docs.stripe.com/api/idempotent_requests>
const KEY_REMEMBERED: TimeDelta = TimeDelta::hours(23);

/// How long after the submission a payment that cannot be found is taken for one that never was. The
/// provider calls a stored 500 indeterminate: it may still finish the work on its side.
/// <https://docs.stripe.com/error-low-level#server-errors>
const SETTLED: TimeDelta = TimeDelta::minutes(10);

/// How far two clocks may be apart, and a request under way.
const MARGIN: TimeDelta = TimeDelta::minutes(10);

/// Brings the payment of `checkout` forward and says how it stands. Never an error: what went wrong on the
/// way is a doubt, and a doubt is an outcome.
pub async fn charge(till: &Till, checkout: &Checkout) -> Outcome {
    if let Some(intent) = &checkout.payment_intent_id {
        // The answer stored for the key is of an earlier day of this payment. Ask for the present one.
        return till.provider.retrieve(intent).await;
    }
    let now = till.clock.now();
    if now > checkout.created_at + KEY_REMEMBERED {
        return look_up(till, checkout, now).await;
    }
    let key = checkout.idempotency_key.to_string();
    let give_up = till.lease.to_std().unwrap_or_default();
    match till
        .provider
        .create_payment_intent(&key, &checkout.provider_request, give_up)
        .await
    {
        Outcome::Unknown(Doubt::StoredError) => look_up(till, checkout, now).await,
        outcome => outcome,
    }
}

/// Finds the payment by the checkout's id, among all that were created since the submission. The provider's
/// search would be shorter and lags behind by minutes; its lists do not.
async fn look_up(till: &Till, checkout: &Checkout, now: DateTime<Utc>) -> Outcome {
    let since = checkout.created_at - MARGIN;
    let until = now + MARGIN;
    let found = till
        .provider
        .find(
            &checkout.id.to_string(),
            since.timestamp(),
            until.timestamp(),
        )
        .await;
    match found {
        Found::Payment(outcome) => outcome,
        Found::Nothing if now > checkout.created_at + SETTLED => Outcome::NeverCharged,
        Found::Nothing => Outcome::Unknown(Doubt::StoredError),
        Found::Unknown(doubt) => Outcome::Unknown(doubt),
    }
}
