//! `POST /v1/payment_intents/{id}/confirm`: attempt the payment.

use serde_json::Value;

use super::{
    Status,
    attempt::{Confirmation, attempt},
    find,
};
use crate::simulator::{call::Call, error::ApiError, params::Params, payment_methods};

pub(in crate::simulator) async fn confirm(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let named = params.text("payment_method")?;
    let receipt_email = params.text("receipt_email")?;
    let confirmation = Confirmation::parse(&mut params)?;
    params.text("client_secret")?;
    params.finish()?;
    let mut intent = find(call, id).await?;
    let method = match named.or_else(|| intent.payment_method.clone()) {
        Some(name) => Some(payment_methods::resolve(call, &name).await?),
        None => None,
    };
    match intent.status {
        Status::RequiresPaymentMethod | Status::RequiresConfirmation | Status::RequiresAction => {}
        Status::Succeeded => {
            let message = "This PaymentIntent was confirmed before and has succeeded: there is nothing to confirm.";
            return Err(intent.unexpected_state(message)?);
        }
        Status::RequiresCapture | Status::Processing | Status::Canceled => {
            let status = intent.status.name();
            let message = format!("This PaymentIntent is {status} and cannot be confirmed.");
            return Err(intent.unexpected_state(message)?);
        }
    }
    if let Some(method) = &method {
        payment_methods::check_usable(method, intent.customer.as_deref())?;
    }
    intent.receipt_email = receipt_email.or(intent.receipt_email);
    attempt(call, &mut intent, method, &confirmation).await?;
    Ok(intent.show()?)
}
