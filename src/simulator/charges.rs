//! Charges: one attempt to take money, successful or not.
//!
//! A charge is a copy point. It takes the intent's metadata and description as they are when it is made, and
//! later changes to the intent do not reach it.

use serde_json::{Value, json};

use super::{
    call::Call,
    error::ApiError,
    events, ids,
    lists::{Filter, Page},
    objects,
    params::Params,
    payment_intents::PaymentIntent,
    payment_methods::{self, Card, Decline, PaymentMethod},
};

/// `GET /v1/charges/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    objects::find(call.tx, "charge", id).await?.ok_or_else(|| {
        ApiError::missing("charge", id, "id").status(axum::http::StatusCode::NOT_FOUND)
    })
}

/// `GET /v1/charges`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let mut filters = Vec::new();
    for field in ["customer", "payment_intent"] {
        filters.extend(params.text(field)?.map(|value| Filter {
            field,
            values: vec![value],
        }));
    }
    params.finish()?;
    page.fetch(call.tx, "charge", "/v1/charges", &filters).await
}

/// The bank pays. With `captured` false it only promises to.
pub(super) async fn succeed(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
    captured: bool,
) -> Result<Value, ApiError> {
    let mut charge = object(call, intent, method);
    charge["status"] = json!("succeeded");
    charge["paid"] = json!(true);
    charge["captured"] = json!(captured);
    charge["amount_captured"] = json!(if captured { intent.amount } else { 0 });
    charge["receipt_url"] = json!(format!("https://pay.stripe.com/receipts/{}", intent.id));
    charge["outcome"] = json!({
        "advice_code": null,
        "network_advice_code": null,
        "network_decline_code": null,
        "network_status": "approved_by_network",
        "reason": null,
        "risk_level": "normal",
        "risk_score": 20,
        "seller_message": "Payment complete.",
        "type": "authorized"
    });
    // With asynchronous capture the money is counted a moment later: see `settle`.
    if captured && intent.capture_method == "automatic" {
        charge["balance_transaction"] = json!(ids::object_id("txn"));
    }
    objects::insert(call.tx, &charge).await?;
    events::record(call, "charge.succeeded", &charge).await?;
    Ok(charge)
}

/// The bank refuses.
pub(super) async fn fail(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
    decline: &Decline,
) -> Result<String, ApiError> {
    let mut charge = object(call, intent, method);
    charge["status"] = json!("failed");
    charge["failure_code"] = json!(decline.code);
    charge["failure_message"] = json!(decline.message);
    charge["outcome"] = json!({
        "advice_code": decline.advice_code,
        "network_advice_code": null,
        "network_decline_code": null,
        "network_status": "declined_by_network",
        "reason": decline.decline_code,
        "risk_level": "normal",
        "risk_score": 20,
        "seller_message": "The bank did not return any further details with this decline.",
        "type": "issuer_declined"
    });
    objects::insert(call.tx, &charge).await?;
    events::record(call, "charge.failed", &charge).await?;
    Ok(id_of(&charge))
}

/// Asynchronous capture comes to its end: the balance transaction appears and `charge.updated` tells of it.
///
/// At Stripe this happens a second or three later; here it is the last event of the same call.
pub(super) async fn settle(call: &mut Call<'_>, mut charge: Value) -> Result<(), ApiError> {
    charge["balance_transaction"] = json!(ids::object_id("txn"));
    objects::update(call.tx, &id_of(&charge), &charge).await?;
    let before = json!({ "balance_transaction": null });
    events::record_automatic(call, "charge.updated", &charge, Some(before)).await
}

/// An authorization is given back. The money was never taken, yet the API shows the charge as refunded.
pub(super) async fn release(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let Some(mut charge) = objects::find(call.tx, "charge", id).await? else {
        return Ok(());
    };
    charge["amount_refunded"] = charge["amount"].clone();
    charge["refunded"] = json!(true);
    objects::update(call.tx, id, &charge).await?;
    events::record(call, "charge.refunded", &charge).await
}

pub(super) fn id_of(charge: &Value) -> String {
    charge
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Everything a charge has before anybody knows how it ends.
fn object(call: &Call<'_>, intent: &PaymentIntent, method: &PaymentMethod) -> Value {
    json!({
        "id": ids::object_id("ch"),
        "object": "charge",
        "amount": intent.amount,
        "amount_captured": 0,
        "amount_refunded": 0,
        "application": null,
        "application_fee": null,
        "application_fee_amount": null,
        "balance_transaction": null,
        "billing_details": payment_methods::billing_details(),
        "calculated_statement_descriptor": "BORING CHECKOUT",
        "captured": false,
        "created": call.now,
        "currency": intent.currency,
        "customer": intent.customer,
        "description": intent.description,
        "disputed": false,
        "failure_balance_transaction": null,
        "failure_code": null,
        "failure_message": null,
        "fraud_details": {},
        "livemode": false,
        "metadata": intent.metadata,
        "on_behalf_of": null,
        "outcome": null,
        "paid": false,
        "payment_intent": intent.id,
        "payment_method": method.id,
        "payment_method_details": { "card": card_details(&method.test.card, intent.amount), "type": "card" },
        "receipt_email": intent.receipt_email,
        "receipt_number": null,
        "receipt_url": null,
        "refunded": false,
        "review": null,
        "shipping": intent.shipping,
        "source_transfer": null,
        "statement_descriptor": null,
        "statement_descriptor_suffix": null,
        "status": "pending",
        "transfer_data": null,
        "transfer_group": null
    })
}

fn card_details(card: &Card, amount: i64) -> Value {
    json!({
        "amount_authorized": amount,
        "authorization_code": null,
        "brand": card.brand,
        "checks": { "address_line1_check": null, "address_postal_code_check": null, "cvc_check": null },
        "country": "US",
        "exp_month": payment_methods::EXP_MONTH,
        "exp_year": payment_methods::EXP_YEAR,
        "fingerprint": card.fingerprint(),
        "funding": card.funding,
        "installments": null,
        "last4": card.last4,
        "mandate": null,
        "network": card.brand,
        "three_d_secure": null,
        "wallet": null
    })
}
