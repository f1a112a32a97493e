//! `POST /v1/refunds`: give money back.

use serde_json::{Map, Value, json};

use super::{
    Refund,
    conclude::{self, Reference},
    save,
};
use crate::simulator::{
    balance_transactions::Kind,
    call::Call,
    charges::{self, Charge},
    disputes,
    error::ApiError,
    events, ids, objects,
    params::{Params, invalid_integer},
    payment_intents::{self, Status},
    payment_methods::{self, Quirk},
};

const REASONS: [&str; 3] = ["duplicate", "fraudulent", "requested_by_customer"];

/// The parameters, parsed.
struct New {
    of: Of,
    amount: Option<i64>,
    reason: Option<String>,
    metadata: Map<String, Value>,
}

/// What is to be refunded.
enum Of {
    PaymentIntent(String),
    Charge(String),
}

pub(in crate::simulator) async fn create(
    call: &mut Call<'_>,
    params: Params,
) -> Result<Value, ApiError> {
    let new = New::parse(params)?;
    let charge = new.of.find(call).await?;
    disputes::check_refundable(call, &charge).await?;
    let amount = amount_to_refund(&charge, new.amount)?;
    let bank = bank_of(call, &charge).await?;
    let mut refund = new.refund(call, &charge, amount, bank)?;
    let kind = if charge.kind() == "card" {
        Kind::Refund
    } else {
        Kind::PaymentRefund
    };
    refund.balance_transaction = Some(refund.move_money(call, kind, -amount)?);
    let created = serde_json::to_value(&refund)?;
    objects::insert(call.tx, &created)?;
    events::record(call, "refund.created", &created)?;
    charges::give_back(call, charge, amount).await?;
    conclude::later(call, &refund, bank);
    if bank == Quirk::RefundsPend {
        return Ok(created);
    }
    let referenced = serde_json::to_value(refund.refer(Reference::Available))?;
    save(call, &created, &referenced).await?;
    Ok(referenced)
}

/// How the customer's bank treats refunds. To an account that was debited it is a transfer, which takes its time.
async fn bank_of(call: &mut Call<'_>, charge: &Charge) -> Result<Quirk, ApiError> {
    if charge.kind() != "card" {
        return Ok(Quirk::RefundsPend);
    }
    payment_methods::quirk(call, &charge.payment_method).await
}

/// What was asked for, or all that is left; or why nothing can be refunded.
fn amount_to_refund(charge: &Charge, wanted: Option<i64>) -> Result<i64, ApiError> {
    let left = charge.left();
    if left == 0 {
        return Err(already_refunded(charge));
    }
    let amount = wanted.unwrap_or(left);
    if amount > left {
        let message = format!(
            "The refund amount ({amount} {currency}) is greater than what is left of the charge ({left} {currency}).",
            currency = charge.currency
        );
        return Err(ApiError::invalid(message).param("amount").executed());
    }
    Ok(amount)
}

fn already_refunded(charge: &Charge) -> ApiError {
    let message = format!("The charge {} has already been refunded.", charge.id);
    ApiError::invalid(message)
        .code("charge_already_refunded")
        .executed()
}

impl New {
    fn parse(mut params: Params) -> Result<Self, ApiError> {
        let of = match (params.text("payment_intent")?, params.text("charge")?) {
            (Some(intent), None) => Of::PaymentIntent(intent),
            (None, Some(charge)) => Of::Charge(charge),
            (Some(_), Some(_)) => {
                let message =
                    "You may only specify one of these parameters: charge, payment_intent.";
                return Err(ApiError::invalid(message).code("parameters_exclusive"));
            }
            (None, None) => {
                let message = "One of these parameters is required: charge, payment_intent.";
                return Err(ApiError::invalid(message).code("parameter_missing"));
            }
        };
        let amount = params.integer("amount")?;
        if let Some(amount) = amount.filter(|amount| *amount < 1) {
            return Err(invalid_integer("amount", &amount.to_string()));
        }
        let new = Self {
            of,
            amount,
            reason: params.one_of("reason", &REASONS)?,
            metadata: params.metadata()?,
        };
        params.finish()?;
        Ok(new)
    }

    /// The whole object as the API shows it. The bank's reference number comes a moment later.
    fn refund(
        &self,
        call: &Call<'_>,
        charge: &Charge,
        amount: i64,
        bank: Quirk,
    ) -> Result<Refund, ApiError> {
        let is_pending = bank == Quirk::RefundsPend;
        let (prefix, destination) = match charge.kind() {
            "us_bank_account" => ("pyr", "us_bank_transfer"),
            "sepa_debit" => ("pyr", "eu_bank_transfer"),
            _ => ("re", "card"),
        };
        let mut refund: Refund = serde_json::from_value(json!({
            "id": ids::object_id(prefix),
            "object": "refund",
            "amount": amount,
            "balance_transaction": null,
            "charge": charge.id,
            "created": call.now,
            "currency": charge.currency,
            "customer": charge.customer,
            "customer_account": null,
            "destination_details": { "type": destination },
            "metadata": self.metadata,
            "payment_intent": charge.payment_intent,
            "payment_method": charge.payment_method,
            "reason": self.reason,
            "receipt_number": null,
            "source_transfer_reversal": null,
            "status": if is_pending { "pending" } else { "succeeded" },
            "transfer_reversal": null
        }))?;
        refund.pending_reason = is_pending.then(|| "processing".to_owned());
        Ok(refund.refer(Reference::Pending))
    }
}

impl Of {
    /// The charge that took the money.
    async fn find(&self, call: &mut Call<'_>) -> Result<Charge, ApiError> {
        let charge = match self {
            Of::Charge(id) => charges::named(call, id).await?,
            Of::PaymentIntent(id) => {
                let intent = payment_intents::named(call, id).await?;
                let has_paid = matches!(intent.status, Status::Succeeded | Status::RequiresCapture);
                let charge = intent.latest_charge.filter(|_| has_paid);
                charges::named(call, &charge.ok_or_else(|| never_charged(id))?).await?
            }
        };
        check_it_took_money(&charge)?;
        Ok(charge)
    }
}

fn never_charged(intent: &str) -> ApiError {
    let message = format!("The payment intent {intent} has no successful charge to refund.");
    ApiError::invalid(message).executed()
}

fn check_it_took_money(charge: &Charge) -> Result<(), ApiError> {
    let id = &charge.id;
    match charge.status {
        charges::Status::Succeeded if charge.captured => Ok(()),
        // An authorization that was canceled or has expired: it was released, which the API calls refunded.
        charges::Status::Succeeded if charge.refunded => Err(already_refunded(charge)),
        charges::Status::Succeeded => {
            let message = format!(
                "The charge {id} is only authorized: there is nothing to refund. Cancel its payment intent to release the money."
            );
            Err(ApiError::invalid(message).executed())
        }
        charges::Status::Pending | charges::Status::Failed => {
            let message = format!("The charge {id} did not succeed, so it cannot be refunded.");
            Err(ApiError::invalid(message)
                .code("charge_not_refundable")
                .executed())
        }
    }
}
