//! What the customer's bank does with a refund: it names it, and some banks take their time or send it back.

use serde_json::{Value, json};

use super::{Refund, Status, save};
use crate::simulator::{
    balance_transactions::Kind,
    call::Call,
    charges,
    error::ApiError,
    events, ids, objects,
    payment_methods::Quirk,
    schedule::{self, Effect},
};

/// How long the banks of `pm_card_pendingRefund` and `pm_card_refundFail` think about it.
const BANK_SECONDS: i64 = 10;

/// The number under which the customer's bank finds the refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Pending,
    Available,
}

/// Schedules what this customer's bank does later.
pub(super) fn later(call: &mut Call<'_>, refund: &Refund, bank: Quirk) {
    let effect = match bank {
        Quirk::RefundsPend => Effect::SucceedRefund,
        Quirk::RefundsFail => Effect::FailRefund,
        _ => return,
    };
    schedule::later(call, BANK_SECONDS, effect, &refund.id);
}

/// A pending refund reaches the customer.
pub(in crate::simulator) async fn succeed(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let Some((before, mut refund)) = find(call, id, Status::Pending).await? else {
        return Ok(());
    };
    refund.status = Status::Succeeded;
    refund.pending_reason = None;
    let after = serde_json::to_value(refund.refer(Reference::Available))?;
    save(call, &before, &after).await
}

/// A refund that seemed to succeed comes back, and its charge has the money again.
pub(in crate::simulator) async fn fail(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let Some((before, mut refund)) = find(call, id, Status::Succeeded).await? else {
        return Ok(());
    };
    refund.status = Status::Failed;
    refund.failure_reason = Some("expired_or_canceled_card".to_owned());
    let came_again = refund.move_money(call, Kind::RefundFailure, refund.amount)?;
    refund.failure_balance_transaction = Some(came_again);
    let after = serde_json::to_value(&refund)?;
    let charge = charges::named(call, &refund.charge).await?;
    charges::take_again(call, charge, refund.amount).await?;
    events::record(call, "refund.failed", &after)?;
    save(call, &before, &after).await
}

/// The refund as it is shown and as it is read, if it has this status still.
async fn find(
    call: &mut Call<'_>,
    id: &str,
    status: Status,
) -> Result<Option<(Value, Refund)>, ApiError> {
    let Some(shown) = objects::find(call.conn().await?, "refund", id).await? else {
        return Ok(None);
    };
    let refund: Refund = serde_json::from_value(shown.clone())?;
    Ok((refund.status == status).then_some((shown, refund)))
}

impl Refund {
    /// Shows the bank's reference, or that it is still to come.
    pub(super) fn refer(mut self, reference: Reference) -> Self {
        let is_available = reference == Reference::Available;
        let number = is_available.then(|| ids::digits(16));
        let mut destination =
            json!({ "reference_status": if is_available { "available" } else { "pending" } });
        if let Some(number) = number {
            objects::set(&mut destination, "reference", json!(number));
        }
        let kind = self.destination_details.get("type").and_then(Value::as_str);
        let kind = kind.unwrap_or_default().to_owned();
        if kind == "card" {
            let is_pending = self.status == Status::Pending;
            let way = if is_pending { "pending" } else { "refund" };
            objects::set(&mut destination, "type", json!(way));
            let number = "acquirer_reference_number";
            objects::set(&mut destination, "reference_type", json!(number));
        }
        self.destination_details = json!({ "type": kind, kind: destination });
        self
    }
}
