//! The end of a wish that was not paid: `POST /v1/payment_intents/{id}/cancel`, or an authorization's time is up.

use serde_json::Value;

use super::{PaymentIntent, Status, find};
use crate::simulator::{call::Call, charges, error::ApiError, events, params::Params};

const REASONS: [&str; 4] = [
    "abandoned",
    "duplicate",
    "fraudulent",
    "requested_by_customer",
];

pub(in crate::simulator) async fn cancel(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let reason = params.one_of("cancellation_reason", &REASONS)?;
    params.finish()?;
    let mut intent = find(call, id).await?;
    let before = intent.status;
    match before {
        Status::RequiresPaymentMethod
        | Status::RequiresConfirmation
        | Status::RequiresAction
        | Status::RequiresCapture
        | Status::Processing => {}
        Status::Succeeded | Status::Canceled => {
            let status = intent.status.name();
            let message = format!(
                "This PaymentIntent is {status} and cannot be canceled. That is possible while it is one of requires_payment_method, requires_capture, requires_confirmation, requires_action, processing."
            );
            return Err(intent.unexpected_state(message)?);
        }
    }
    let shown = end(call, &mut intent, reason)?;
    match (before, &intent.latest_charge) {
        (Status::RequiresCapture, Some(charge)) => {
            charges::release(call, charge, "charge.refunded").await?;
        }
        (Status::Processing, Some(charge)) => charges::recall(call, charge).await?,
        _ => {}
    }
    Ok(shown)
}

/// Nobody captured the money in time, and the bank gives it back.
pub(in crate::simulator) async fn expire(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let mut intent = find(call, id).await?;
    if intent.status != Status::RequiresCapture {
        return Ok(());
    }
    end(call, &mut intent, Some("automatic".to_owned()))?;
    match &intent.latest_charge {
        Some(charge) => charges::release(call, charge, "charge.expired").await,
        None => Ok(()),
    }
}

fn end(
    call: &mut Call<'_>,
    intent: &mut PaymentIntent,
    reason: Option<String>,
) -> Result<Value, ApiError> {
    intent.status = Status::Canceled;
    intent.canceled_at = Some(call.now);
    intent.cancellation_reason = reason;
    intent.amount_capturable = 0;
    intent.next_action = None;
    let shown = intent.save(call)?;
    events::record(call, "payment_intent.canceled", &shown)?;
    Ok(shown)
}
