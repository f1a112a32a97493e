//! `POST /v1/payment_intents/{id}/capture`: take the money that an authorization holds, or a part of it.

use serde_json::Value;

use super::{PaymentIntent, Status, details::descriptor, find};
use crate::simulator::{
    call::Call,
    changes::Changes,
    charges,
    currencies::check_granularity,
    error::ApiError,
    events,
    params::{Params, invalid_integer},
};

pub(in crate::simulator) async fn capture(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let amount = params.integer("amount_to_capture")?;
    let is_final = params.boolean("final_capture")?.unwrap_or(true);
    let mut changes = Changes::parse(&mut params, &[])?;
    let suffix = "statement_descriptor_suffix";
    changes.field(suffix, descriptor(&mut params, suffix, 1)?);
    params.finish()?;
    if let Some(amount) = amount
        && amount < 1
    {
        return Err(invalid_integer("amount_to_capture", &amount.to_string()));
    }
    let intent = find(call, id).await?;
    intent.check_can_be_captured()?;
    if !is_final {
        let message = "This payment can be captured once only: final_capture cannot be false.";
        return Err(ApiError::invalid(message)
            .code("payment_intent_invalid_parameter")
            .param("final_capture")
            .executed());
    }
    let amount = amount.unwrap_or(intent.amount_capturable);
    intent.check_covers(amount)?;
    let mut shown = intent.show()?;
    changes.apply(&mut shown)?;
    let mut intent: PaymentIntent = serde_json::from_value(shown)?;
    if let Some(charge) = &intent.latest_charge {
        charges::capture(call, charge, amount).await?;
    }
    intent.status = Status::Succeeded;
    intent.amount_received = amount;
    intent.amount_capturable = 0;
    let shown = intent.save(call)?;
    events::record(call, "payment_intent.succeeded", &shown)?;
    Ok(shown)
}

impl PaymentIntent {
    fn check_can_be_captured(&self) -> Result<(), ApiError> {
        match self.status {
            Status::RequiresCapture => Ok(()),
            Status::Succeeded => {
                let message = "This PaymentIntent was captured already.";
                Err(self.unexpected_state(message)?)
            }
            Status::RequiresPaymentMethod
            | Status::RequiresConfirmation
            | Status::RequiresAction
            | Status::Processing
            | Status::Canceled => {
                let status = self.status.name();
                let message = format!(
                    "This PaymentIntent is {status} and cannot be captured. That is possible while it is requires_capture."
                );
                Err(self.unexpected_state(message)?)
            }
        }
    }

    /// Refuses to take more than is held.
    fn check_covers(&self, amount: i64) -> Result<(), ApiError> {
        check_granularity(amount, &self.currency, "amount_to_capture")
            .map_err(ApiError::executed)?;
        if amount <= self.amount_capturable {
            return Ok(());
        }
        let message = format!(
            "The amount to capture ({amount}) is greater than what can be captured of this charge ({}).",
            self.amount_capturable
        );
        Err(ApiError::invalid(message)
            .code("amount_too_large")
            .param("amount_to_capture")
            .with("payment_intent", self.show()?)
            .executed())
    }
}
