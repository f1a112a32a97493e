//! `POST /v1/payment_intents/{id}/confirm`: attempt the payment.
//!
//! At Stripe an undisclosed number of confirms cancels an intent. Here any number is allowed.

use serde_json::Value;

use super::{
    PaymentIntent, Status,
    attempt::{Confirmation, attempt},
    create::CAPTURE_METHODS,
    details, find, types,
};
use crate::simulator::{call::Call, error::ApiError, params::Params, payment_methods};

pub(in crate::simulator) async fn confirm(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let named = params.text("payment_method")?;
    let capture_method = params.one_of("capture_method", &CAPTURE_METHODS)?;
    let types = types::parse(&mut params)?;
    let details = details::parse_at_confirm(&mut params)?;
    let confirmation = Confirmation::parse(&mut params)?;
    params.text("client_secret")?;
    params.finish()?;
    let intent = find(call, id).await?;
    intent.check_can_be_confirmed()?;
    let mut shown = intent.show()?;
    details.apply(&mut shown)?;
    let mut intent: PaymentIntent = serde_json::from_value(shown)?;
    intent.capture_method = capture_method.unwrap_or(intent.capture_method);
    intent.accept_types(types);
    types::check(
        &intent.payment_method_types,
        &intent.currency,
        &intent.capture_method,
    )
    .map_err(ApiError::executed)?;
    let method = match named.or_else(|| intent.payment_method.clone()) {
        Some(name) => {
            let method = payment_methods::resolve(call, &name).await?;
            intent.check_accepts(&method).map_err(ApiError::executed)?;
            payment_methods::check_usable(&method, intent.customer.as_deref())?;
            Some(method)
        }
        None => None,
    };
    attempt(call, &mut intent, method, &confirmation).await?;
    Ok(intent.show()?)
}

impl PaymentIntent {
    fn check_can_be_confirmed(&self) -> Result<(), ApiError> {
        match self.status {
            Status::RequiresPaymentMethod
            | Status::RequiresConfirmation
            | Status::RequiresAction => Ok(()),
            Status::Succeeded => {
                let message = "This PaymentIntent was confirmed before and has succeeded: there is nothing to confirm.";
                Err(self.unexpected_state(message)?)
            }
            Status::RequiresCapture | Status::Processing | Status::Canceled => {
                let status = self.status.name();
                let message = format!("This PaymentIntent is {status} and cannot be confirmed.");
                Err(self.unexpected_state(message)?)
            }
        }
    }
}
