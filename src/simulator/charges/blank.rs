//! What a charge looks like before anybody knows how it ends, and what the bank adds when it does.

use serde_json::{Value, json};

use super::Charge;
use crate::simulator::{
    call::Call, ids, payment_intents::PaymentIntent, payment_methods::PaymentMethod,
};

impl Charge {
    /// Everything a charge has before anybody knows how it ends.
    pub(super) fn pending(
        call: &Call<'_>,
        intent: &PaymentIntent,
        method: &PaymentMethod,
        mandate: Option<&str>,
    ) -> Result<Self, serde_json::Error> {
        let kind = method.kind();
        let details = method
            .test
            .instrument
            .charge_details(intent.amount, mandate);
        // What is not a card is a "payment", in ids and in the books.
        let prefix = if kind == "card" { "ch" } else { "py" };
        let statement = match &intent.statement_descriptor_suffix {
            Some(suffix) => format!("BORING CHECKOUT* {suffix}"),
            None => "BORING CHECKOUT".to_owned(),
        };
        serde_json::from_value(json!({
            "id": ids::object_id(prefix),
            "object": "charge",
            "amount": intent.amount,
            "amount_captured": 0,
            "amount_refunded": 0,
            "application": null,
            "application_fee": null,
            "application_fee_amount": null,
            "balance_transaction": null,
            "billing_details": method.object.get("billing_details"),
            "calculated_statement_descriptor": intent.statement_descriptor.clone().unwrap_or(statement),
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
            "payment_method_details": { "type": kind, kind: details },
            "receipt_email": intent.receipt_email,
            "receipt_number": null,
            "receipt_url": null,
            "refunded": false,
            "review": null,
            "shipping": intent.shipping,
            "source": null,
            "source_transfer": null,
            "statement_descriptor": intent.statement_descriptor,
            "statement_descriptor_suffix": intent.statement_descriptor_suffix,
            "status": "pending",
            "transfer_data": null,
            "transfer_group": null
        }))
    }
}

pub(super) fn receipt_url(id: &str) -> String {
    format!("https://pay.stripe.com/receipts/{id}")
}

pub(super) fn approval() -> Value {
    json!({
        "advice_code": null,
        "network_advice_code": null,
        "network_decline_code": null,
        "network_status": "approved_by_network",
        "reason": null,
        "risk_level": "normal",
        "risk_score": 20,
        "seller_message": "Payment complete.",
        "type": "authorized"
    })
}

pub(super) fn refusal(reason: &str, advice_code: Option<&str>) -> Value {
    json!({
        "advice_code": advice_code,
        "network_advice_code": null,
        "network_decline_code": null,
        "network_status": "declined_by_network",
        "reason": reason,
        "risk_level": "normal",
        "risk_score": 20,
        "seller_message": "The bank gave no reason for this decline.",
        "type": "issuer_declined"
    })
}
