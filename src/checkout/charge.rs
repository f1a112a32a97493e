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

/// How long a payment must have been looked for in vain until it is taken for one that never was. The provider
/// calls a stored 500 indeterminate: it may still finish the work on its side. It is also far longer than any
/// request of ours can be under way. <https://docs.stripe.com/error-low-level#server-errors>
const SETTLED: TimeDelta = TimeDelta::minutes(10);

/// How far the provider's clock may be behind ours. The metadata decides, so a wide margin costs only pages.
const MARGIN: TimeDelta = TimeDelta::days(1);

/// Brings the payment of `checkout` forward and says how it stands. Never an error: what went wrong on the
/// way is a doubt, and a doubt is an outcome.
pub async fn charge(till: &Till, checkout: &Checkout) -> Outcome {
    if let Some(intent) = &checkout.payment_intent_id {
        // The answer stored for the key is of an earlier day of this payment. Ask for the present one.
        return till.provider.retrieve(intent).await;
    }
    if may_send_key(checkout, till.clock.now()) {
        let (key, id) = (
            checkout.idempotency_key.to_string(),
            checkout.id.to_string(),
        );
        let give_up = till.lease.to_std().unwrap_or_default();
        let request = &checkout.provider_request;
        tracing::debug!("charge, with the key of the form");
        match till
            .provider
            .create_payment_intent(&key, &id, request, give_up)
            .await
        {
            // None says what became of an earlier request under the key. "Refused" is no proof either: the provider
            // refuses what it cannot read before it looks at the key.
            Outcome::Unknown(Doubt::StoredError | Doubt::Refused | Doubt::Unexpected) => {}
            outcome => return outcome,
        }
    }
    look_up(till, checkout).await
}

/// Whether the provider still knows the key, and its answer was not yet found to be of no use.
fn may_send_key(checkout: &Checkout, now: DateTime<Utc>) -> bool {
    checkout.look_up_since.is_none() && now <= checkout.created_at + KEY_REMEMBERED
}

/// Finds the payment by the checkout's id, among all that were created since the submission. The provider's
/// search would be shorter and lags behind by minutes; its lists do not.
async fn look_up(till: &Till, checkout: &Checkout) -> Outcome {
    tracing::debug!("look the payment up, the key may be forgotten");
    let since = (checkout.created_at - MARGIN).timestamp();
    let id = checkout.id.to_string();
    match till.provider.find(&id, since).await {
        Found::Payment(outcome) => outcome,
        Found::Nothing if is_settled(checkout, till.clock.now()) => Outcome::NeverCharged,
        Found::Nothing => Outcome::Unknown(Doubt::NotFound),
        Found::Unknown(doubt) => Outcome::Unknown(doubt),
    }
}

fn is_settled(checkout: &Checkout, now: DateTime<Utc>) -> bool {
    checkout
        .look_up_since
        .is_some_and(|since| now > since + SETTLED)
}
