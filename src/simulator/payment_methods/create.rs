//! `POST /v1/payment_methods`, and what every new payment method looks like.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{PaymentMethod, TEST_CARDS, TestMethod, parse_changes};
use crate::simulator::{
    addresses, call::Call, error::ApiError, form::shortened, ids, objects, params::Params,
};

/// Makes a card from one of the test tokens, which are called as the aliases: `tok_visa` is `pm_card_visa`.
///
/// Card numbers are refused, as at Stripe unless an account was allowed to send them: 402, and no code.
pub(in crate::simulator) async fn create(
    call: &mut Call<'_>,
    mut params: Params,
) -> Result<Value, ApiError> {
    let kind = params.required_text("type")?;
    if kind != "card" {
        let message = format!(
            "The type of a payment method made here must be card, not {}.",
            shortened(&kind)
        );
        return Err(ApiError::invalid(message).param("type"));
    }
    let test = card(&mut params)?;
    let changes = parse_changes(&mut params)?;
    params.finish()?;
    let mut method = fresh(call, test)?.object;
    changes.apply(&mut method)?;
    objects::update(call.tx, objects::id(&method), &method)?;
    Ok(method)
}

fn card(params: &mut Params) -> Result<&'static TestMethod, ApiError> {
    let mut card = params.hash("card")?.ok_or_else(|| params.missing("card"))?;
    if card.text("number")?.is_some() {
        let message = "Sending card numbers to this API is not safe, and not allowed. Use a test token instead, such as tok_visa.";
        return Err(ApiError::invalid(message).status(StatusCode::PAYMENT_REQUIRED));
    }
    let token = card.required_text("token")?;
    card.finish()?;
    let test = token.strip_prefix("tok_").and_then(|name| {
        TEST_CARDS
            .iter()
            .find(|test| test.alias.strip_prefix("pm_card_") == Some(name))
    });
    test.ok_or_else(|| ApiError::missing("token", &shortened(&token), "card[token]"))
}

/// A new payment method of this test card.
pub(in crate::simulator) fn fresh(
    call: &mut Call<'_>,
    test: &'static TestMethod,
) -> Result<PaymentMethod, ApiError> {
    let id = ids::payment_method_id();
    let kind = test.instrument.kind();
    let mut object = json!({
        "id": id,
        "object": "payment_method",
        "allow_redisplay": "unspecified",
        "billing_details": {
            "address": addresses::unknown(),
            "email": null,
            "name": null,
            "phone": null,
            "tax_id": null
        },
        "created": call.now,
        "customer": null,
        "customer_account": null,
        "livemode": false,
        "metadata": {},
        "type": kind
    });
    objects::set(&mut object, kind, test.instrument.show());
    objects::insert_with_alias(call.tx, &object, Some(test.alias))?;
    Ok(PaymentMethod {
        id,
        object,
        test,
        is_spent: false,
        is_set_up: false,
    })
}
