//! Who may pay with a payment method, and how often.

use super::{PaymentMethod, attach_to};
use crate::simulator::{call::Call, error::ApiError, payment_intents::PaymentIntent};

/// Refuses a payment method that belongs to somebody else than who pays, or that was used up.
pub(in crate::simulator) fn check_usable(
    method: &PaymentMethod,
    customer: Option<&str>,
) -> Result<(), ApiError> {
    let Some(owner) = method.customer() else {
        return check_not_spent(method);
    };
    let id = &method.id;
    let message = match customer {
        Some(customer) if customer == owner => return Ok(()),
        Some(customer) => {
            format!(
                "The payment method {id} does not belong to the customer {customer} but to another one."
            )
        }
        None => format!(
            "The payment method {id} belongs to a customer. To pay with it, name them in the parameter customer."
        ),
    };
    Err(PaymentMethod::unexpected_state(message))
}

pub(super) fn check_not_spent(method: &PaymentMethod) -> Result<(), ApiError> {
    if !method.is_spent {
        return Ok(());
    }
    let message = "This payment method was used without being attached to a customer, or was detached from one. It cannot be used again.";
    Err(PaymentMethod::unexpected_state(message))
}

/// A payment was made. A payment method that no customer keeps pays once, unless the intent sets it up for more:
/// then its customer keeps it from now on.
pub(in crate::simulator) async fn use_up(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
) -> Result<(), ApiError> {
    if intent.setup_future_usage.as_deref() == Some("off_session") {
        set_up(call, &method.id);
    }
    if method.customer().is_some() {
        return Ok(());
    }
    match (&intent.setup_future_usage, &intent.customer) {
        (Some(_), Some(customer)) => attach_to(call, method.clone(), customer).await.map(drop),
        (Some(_), None) => Ok(()),
        (None, _) => {
            spend(call, &method.id);
            Ok(())
        }
    }
}

fn set_up(call: &mut Call<'_>, id: &str) {
    call.tx
        .write("update objects set set_up = 1 where id = ?")
        .bind(id);
}

pub(super) fn spend(call: &mut Call<'_>, id: &str) {
    call.tx
        .write("update objects set spent = 1 where id = ?")
        .bind(id);
}
