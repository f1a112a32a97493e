//! A dispute opens, a moment after the payment.

use serde_json::{Value, json};

use super::{Dispute, Status, evidence, of_charge};
use crate::simulator::{
    balance_transactions::{self, Kind, Movement},
    call::Call,
    charges::{self, Charge},
    error::ApiError,
    events, ids, objects, payment_intents,
    payment_methods::{self, Complaint, Quirk},
    schedule::{self, Effect},
};

/// How soon the owner of the card notices.
const NOTICED_SECONDS: i64 = 5;

/// How long the shop may take to answer.
const RESPONSE_SECONDS: i64 = 7 * 24 * 60 * 60;

/// What a dispute costs besides the money, in minor units of any currency.
const FEE: i64 = 1500;

/// Schedules the dispute of a payment, if its card is one of those for it.
pub(in crate::simulator) fn expect(call: &mut Call<'_>, charge: &Charge, quirk: Quirk) {
    if matches!(quirk, Quirk::Disputes(_)) {
        let intent = &charge.payment_intent;
        schedule::later(call, NOTICED_SECONDS, Effect::OpenDispute, intent);
    }
}

/// The owner of the card disputes what a payment intent took of them, unless it was given back.
pub(in crate::simulator) async fn open(call: &mut Call<'_>, intent: &str) -> Result<(), ApiError> {
    let Some(charge) = payment_intents::find(call, intent).await?.latest_charge else {
        return Ok(());
    };
    let charge = charges::named(call, &charge).await?;
    let Quirk::Disputes(complaint) = payment_methods::quirk(call, &charge.payment_method).await?
    else {
        return Ok(());
    };
    if charge.left() == 0 || of_charge(call, &charge.id).await?.is_some() {
        return Ok(());
    }
    let mut dispute = new(call.now, &charge, complaint)?;
    objects::insert(call.tx, &dispute)?;
    let takes_money = complaint != Complaint::Inquiry;
    if takes_money {
        dispute.move_money(call, Kind::Dispute).await?;
    }
    let shown = dispute.save(call)?;
    charges::mark_disputed(call, charge).await?;
    events::record(call, "charge.dispute.created", &shown)?;
    if takes_money {
        events::record(call, "charge.dispute.funds_withdrawn", &shown)?;
    }
    Ok(())
}

/// The whole object as the API shows it.
fn new(now: i64, charge: &Charge, complaint: Complaint) -> Result<Dispute, serde_json::Error> {
    // The reason, then the network's code for it.
    let (reason, code) = match complaint {
        Complaint::Fraudulent | Complaint::Inquiry => ("fraudulent", "10.4"),
        Complaint::ProductNotReceived => ("product_not_received", "13.1"),
    };
    let is_inquiry = complaint == Complaint::Inquiry;
    serde_json::from_value(json!({
        "id": ids::object_id("du"),
        "object": "dispute",
        "amount": charge.left(),
        "balance_transactions": [],
        "charge": charge.id,
        "created": now,
        "currency": charge.currency,
        "enhanced_eligibility_types": [],
        "evidence": evidence::none(),
        "evidence_details": {
            "due_by": now + RESPONSE_SECONDS,
            "enhanced_eligibility": {},
            "has_evidence": false,
            "past_due": false,
            "submission_count": 0,
            "submission_method": "not_submitted"
        },
        "intended_submission_method": null,
        "is_charge_refundable": is_inquiry,
        "livemode": false,
        "metadata": {},
        "payment_intent": charge.payment_intent,
        "payment_method_details": {
            "card": {
                "brand": charge.card_brand(),
                "case_type": if is_inquiry { "inquiry" } else { "chargeback" },
                "network": charge.card_brand(),
                "network_reason_code": code
            },
            "type": "card"
        },
        "reason": reason,
        "status": if is_inquiry { Status::WarningNeedsResponse } else { Status::NeedsResponse }
    }))
}

impl Dispute {
    /// The bank takes the money and a fee, or gives the money back; the fee stays gone.
    pub(super) async fn move_money(
        &mut self,
        call: &mut Call<'_>,
        kind: Kind,
    ) -> Result<(), ApiError> {
        let is_taken = kind == Kind::Dispute;
        let movement = Movement {
            kind,
            source: &self.id,
            amount: if is_taken { -self.amount } else { self.amount },
            fee: if is_taken { FEE } else { 0 },
            currency: &self.currency,
            description: None,
            available_at_once: true,
        };
        let id = balance_transactions::record(call, &movement)?;
        let transaction: Option<Value> = objects::find_any(call.conn().await?, &id).await?;
        self.balance_transactions.extend(transaction);
        Ok(())
    }
}
