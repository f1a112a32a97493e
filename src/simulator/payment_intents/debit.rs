//! Bank debits: taken at once, and decided on by the bank later.
//!
//! ```text
//! confirm ──► processing ──┬── the money arrives ──► succeeded
//!                          └── the bank refuses ───► requires_payment_method
//! ```

use serde_json::json;

use super::{PaymentIntent, Status, attempt::fail, find};
use crate::simulator::{
    call::Call,
    charges,
    error::ApiError,
    events,
    mandates::{self, Acceptance},
    payment_methods::{self, Behaviour, Debit, Failure, PaymentMethod},
    schedule::{self, Effect},
};

/// Sends the debit to the bank, which takes the customer's mandate.
pub(super) fn begin(
    call: &mut Call<'_>,
    intent: &mut PaymentIntent,
    method: &PaymentMethod,
    debit: Debit,
    acceptance: Option<&Acceptance>,
) -> Result<(), ApiError> {
    let Some(acceptance) = acceptance else {
        let message = "A bank account can be debited only with a mandate of its owner: send `mandate_data` with how they accepted it, such as `mandate_data[customer_acceptance][type]=offline`.";
        return Err(ApiError::invalid(message)
            .with("payment_intent", intent.show()?)
            .executed());
    };
    let mandate = mandates::create(call, intent, method, acceptance)?;
    let charge = charges::begin(call, intent, method, &mandate)?;
    intent.status = Status::Processing;
    intent.latest_charge = Some(charge.id.clone());
    let shown = intent.save(call)?;
    events::record(call, "payment_intent.processing", &shown)?;
    charge.announce(call, "charge.pending")?;
    if let Some(seconds) = debit.after_seconds {
        schedule::later(call, seconds, Effect::SettleDebit, &intent.id);
    }
    Ok(())
}

/// The bank has decided.
pub(in crate::simulator) async fn settle(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let mut intent = find(call, id).await?;
    let (Status::Processing, Some(name), Some(charge)) = (
        intent.status,
        intent.payment_method.clone(),
        intent.latest_charge.clone(),
    ) else {
        return Ok(());
    };
    let method = payment_methods::resolve(call, &name).await?;
    let failure = match method.test.behaviour {
        Behaviour::Debits(debit) => debit.failure,
        Behaviour::Pays | Behaviour::Declines(_) | Behaviour::Authenticates { .. } => None,
    };
    if let Some(failure) = failure {
        charges::bounce(call, &charge, failure).await?;
        let refusal = failure.error(&method, &charge);
        fail(call, &mut intent, refusal)?;
        return Ok(());
    }
    payment_methods::use_up(call, &intent, &method).await?;
    charges::arrive(call, &charge).await?;
    intent.status = Status::Succeeded;
    intent.amount_received = intent.amount;
    let shown = intent.save(call)?;
    events::record(call, "payment_intent.succeeded", &shown)
}

impl Failure {
    /// Banks give the reason as the code; beside it there is always the same decline code.
    fn error(&self, method: &PaymentMethod, charge: &str) -> ApiError {
        ApiError::card(self.message)
            .code(self.code)
            .with("decline_code", json!("generic_decline"))
            .with("payment_method", method.object.clone())
            .with("charge", json!(charge))
    }
}
