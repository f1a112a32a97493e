//! Attaching a payment method to a customer, who can then pay with it again and again, and detaching it for good.

use serde_json::{Value, json};

use super::{Behaviour, PaymentMethod, Quirk, in_path, usage};
use crate::simulator::{call::Call, customers, error::ApiError, events, objects, params::Params};

/// `POST /v1/payment_methods/{id}/attach`
pub(in crate::simulator) async fn attach(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let customer = params.required_text("customer")?;
    params.finish()?;
    objects::in_param(call.conn().await?, "customer", &customer, "customer").await?;
    let method = in_path(call, id).await?;
    check_can_attach(&method)?;
    attach_to(call, method, &customer).await
}

/// The bank is asked when a card is attached: one that declines every payment is declined here already, unless it
/// is `pm_card_chargeCustomerFail`.
pub(in crate::simulator) fn check_can_attach(method: &PaymentMethod) -> Result<(), ApiError> {
    usage::check_not_spent(method)?;
    if method.customer().is_some() {
        let message = "This payment method is already attached to a customer.";
        return Err(PaymentMethod::unexpected_state(message));
    }
    match method.test.behaviour {
        Behaviour::Declines(decline) if method.test.quirk != Quirk::IsKeptThoughDeclined => {
            Err(decline.error(method))
        }
        Behaviour::Declines(_)
        | Behaviour::Pays
        | Behaviour::Debits(_)
        | Behaviour::Authenticates { .. } => Ok(()),
    }
}

/// Gives the payment method to a customer. Returns it as it is now.
pub(in crate::simulator) async fn attach_to(
    call: &mut Call<'_>,
    mut method: PaymentMethod,
    customer: &str,
) -> Result<Value, ApiError> {
    objects::set(&mut method.object, "customer", json!(customer));
    objects::update(call.tx, &method.id, &method.object)?;
    events::record(call, "payment_method.attached", &method.object)?;
    Ok(method.object)
}

/// `POST /v1/payment_methods/{id}/detach`
pub(in crate::simulator) async fn detach(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    let method = in_path(call, id).await?;
    let Some(customer) = method.customer() else {
        let message =
            "This payment method is not attached to a customer, so it cannot be detached.";
        return Err(PaymentMethod::unexpected_state(message));
    };
    let detached = take_away(call, &method.id, &method.object)?;
    customers::forget_default(call, customer, &method.id).await?;
    Ok(detached)
}

/// Detaches all that a customer keeps: they are about to be deleted.
pub(in crate::simulator) async fn detach_all(
    call: &mut Call<'_>,
    customer: &str,
) -> Result<(), ApiError> {
    let kept: Vec<String> = sqlx::query_scalar(
        "select body from objects
         where kind = 'payment_method' and body ->> '$.customer' = $1
         order by seq",
    )
    .bind(customer)
    .fetch_all(call.conn().await?)
    .await?;
    for body in kept {
        let method: Value = serde_json::from_str(&body)?;
        take_away(call, objects::id(&method), &method)?;
    }
    Ok(())
}

/// Takes a payment method away from its customer. Returns it as it is from now on, for good.
fn take_away(call: &mut Call<'_>, id: &str, method: &Value) -> Result<Value, ApiError> {
    let mut detached = method.clone();
    objects::set(&mut detached, "customer", Value::Null);
    objects::update(call.tx, id, &detached)?;
    usage::spend(call, id);
    // The event has to tell whose it was.
    events::record_change(call, "payment_method.detached", method, &detached)?;
    Ok(detached)
}
