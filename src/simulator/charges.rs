//! Charges: one attempt to take money, successful or not.
//!
//! A charge is a copy point. It takes the intent's metadata and description as they are when it is made, and
//! later changes to the intent do not reach it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    balance_transactions::{self, Kind, Movement, processing_fee},
    call::Call,
    disputes,
    error::ApiError,
    events, ids,
    lists::{Filter, Page},
    objects,
    params::Params,
    payment_intents::PaymentIntent,
    payment_methods::{self, Card, Decline, PaymentMethod, Quirk},
};

/// The part of a charge that changes. Everything else the API shows is in `rest`, carried along unread.
#[expect(clippy::struct_excessive_bools, reason = "they are the API's")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Charge {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) amount_captured: i64,
    pub(super) amount_refunded: i64,
    balance_transaction: Option<String>,
    pub(super) captured: bool,
    pub(super) currency: String,
    pub(super) customer: Option<String>,
    pub(super) disputed: bool,
    description: Option<String>,
    failure_code: Option<String>,
    failure_message: Option<String>,
    outcome: Value,
    paid: bool,
    pub(super) payment_intent: String,
    pub(super) payment_method: String,
    receipt_url: Option<String>,
    /// True only when all of it was given back.
    pub(super) refunded: bool,
    pub(super) status: Status,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Pending,
    Succeeded,
    Failed,
}

/// `GET /v1/charges/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    objects::in_path(call.tx, "charge", id).await
}

/// `GET /v1/charges`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let filters = Filter::parse(&mut params, &["customer", "payment_intent"])?;
    params.finish()?;
    page.fetch(call.tx, "charge", "/v1/charges", &filters).await
}

/// The bank pays. With `captured` false it only promises to.
pub(super) async fn succeed(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
    captured: bool,
) -> Result<Charge, ApiError> {
    let mut charge = Charge::pending(call, intent, method)?;
    charge.status = Status::Succeeded;
    charge.paid = true;
    charge.captured = captured;
    charge.amount_captured = if captured { intent.amount } else { 0 };
    charge.receipt_url = Some(format!("https://pay.stripe.com/receipts/{}", intent.id));
    charge.outcome = json!({
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
    // With asynchronous capture the money is counted a moment later: see `add_to_balance`.
    if captured && intent.capture_method == "automatic" {
        charge.balance_transaction = Some(charge.enter_balance(call).await?);
    }
    charge.insert(call, "charge.succeeded").await?;
    if captured {
        disputes::expect(call, &charge, method.test.quirk).await?;
    }
    Ok(charge)
}

/// The bank refuses.
pub(super) async fn fail(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
    decline: &Decline,
) -> Result<Charge, ApiError> {
    let mut charge = Charge::pending(call, intent, method)?;
    charge.status = Status::Failed;
    charge.failure_code = Some(decline.code.to_owned());
    charge.failure_message = Some(decline.message.to_owned());
    charge.outcome = json!({
        "advice_code": decline.advice_code,
        "network_advice_code": null,
        "network_decline_code": null,
        "network_status": "declined_by_network",
        "reason": decline.decline_code,
        "risk_level": "normal",
        "risk_score": 20,
        "seller_message": "The bank gave no reason for this decline.",
        "type": "issuer_declined"
    });
    charge.insert(call, "charge.failed").await?;
    Ok(charge)
}

/// Asynchronous capture comes to its end: the balance transaction appears and `charge.updated` tells of it.
pub(super) async fn add_to_balance(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let Some(mut charge) = find(call, id).await? else {
        return Ok(());
    };
    charge.balance_transaction = Some(charge.enter_balance(call).await?);
    let shown = charge.save(call).await?;
    let before = json!({ "balance_transaction": null });
    events::record_update(call, "charge.updated", &shown, before).await
}

/// An authorization is given back. The money was never taken, yet the API shows the charge as refunded.
///
/// `event` says why: `charge.refunded` when it was canceled, `charge.expired` when nobody captured it in time.
pub(super) async fn release(
    call: &mut Call<'_>,
    id: &str,
    event: &'static str,
) -> Result<(), ApiError> {
    let Some(mut charge) = find(call, id).await? else {
        return Ok(());
    };
    charge.amount_refunded = charge.amount;
    charge.refunded = true;
    let shown = charge.save(call).await?;
    events::record(call, event, &shown).await
}

async fn find(call: &mut Call<'_>, id: &str) -> Result<Option<Charge>, ApiError> {
    let found = objects::find(call.tx, "charge", id).await?;
    Ok(found.map(serde_json::from_value).transpose()?)
}

/// The charge that a parameter names, or 400.
pub(super) async fn named(call: &mut Call<'_>, id: &str) -> Result<Charge, ApiError> {
    let charge = objects::in_param(call.tx, "charge", id, "charge").await?;
    Ok(serde_json::from_value(charge)?)
}

/// Its customer's bank wants the money back, or asks what it was for.
pub(super) async fn mark_disputed(call: &mut Call<'_>, mut charge: Charge) -> Result<(), ApiError> {
    charge.disputed = true;
    charge.save(call).await.map(drop)
}

/// A part of the money, or all of it, is refunded.
pub(super) async fn give_back(
    call: &mut Call<'_>,
    mut charge: Charge,
    amount: i64,
) -> Result<(), ApiError> {
    let before = serde_json::to_value(&charge)?;
    charge.amount_refunded += amount;
    charge.refunded = charge.left() == 0;
    let after = charge.save(call).await?;
    events::record_change(call, "charge.refunded", &before, &after).await?;
    if charge.disputed && charge.refunded {
        disputes::close_inquiry(call, &charge.id).await?;
    }
    Ok(())
}

/// A refund failed: the money is here again.
pub(super) async fn take_again(
    call: &mut Call<'_>,
    mut charge: Charge,
    amount: i64,
) -> Result<(), ApiError> {
    charge.amount_refunded -= amount;
    charge.refunded = charge.left() == 0;
    charge.save(call).await?;
    Ok(())
}

impl Charge {
    /// What can still be refunded: no more than was captured.
    pub(super) fn left(&self) -> i64 {
        self.amount_captured - self.amount_refunded
    }

    pub(super) fn card_brand(&self) -> Option<&str> {
        let details = self.rest.get("payment_method_details")?;
        details.pointer("/card/brand")?.as_str()
    }

    /// Returns the id of the balance transaction.
    async fn enter_balance(&self, call: &mut Call<'_>) -> Result<String, ApiError> {
        let quirk = payment_methods::quirk(call, &self.payment_method).await?;
        let movement = Movement {
            kind: Kind::Charge,
            source: &self.id,
            amount: self.amount_captured,
            fee: processing_fee(self.amount_captured),
            currency: &self.currency,
            description: self.description.as_deref(),
            available_at_once: quirk == Quirk::BypassesPending,
        };
        balance_transactions::record(call, movement).await
    }

    async fn insert(&self, call: &mut Call<'_>, event: &'static str) -> Result<(), ApiError> {
        let shown = serde_json::to_value(self)?;
        objects::insert(call.tx, &shown).await?;
        events::record(call, event, &shown).await
    }

    async fn save(&self, call: &mut Call<'_>) -> Result<Value, ApiError> {
        let shown = serde_json::to_value(self)?;
        objects::update(call.tx, &self.id, &shown).await?;
        Ok(shown)
    }

    /// Everything a charge has before anybody knows how it ends.
    fn pending(
        call: &Call<'_>,
        intent: &PaymentIntent,
        method: &PaymentMethod,
    ) -> Result<Self, serde_json::Error> {
        serde_json::from_value(json!({
            "id": ids::object_id("ch"),
            "object": "charge",
            "amount": intent.amount,
            "amount_captured": 0,
            "amount_refunded": 0,
            "application": null,
            "application_fee": null,
            "application_fee_amount": null,
            "balance_transaction": null,
            "billing_details": method.object.get("billing_details"),
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
        }))
    }
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
