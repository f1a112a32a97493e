//! The end of a dispute: the bank decides, or the shop gives in.

use serde_json::Value;

use super::{Dispute, Status, find, of_charge};
use crate::simulator::{
    balance_transactions::Kind, call::Call, error::ApiError, events, params::Params,
};

/// `POST /v1/disputes/{id}/close`: the shop has nothing to say, so it has lost.
pub(in crate::simulator) async fn close(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    let dispute = find(call, id).await?;
    match dispute.status {
        Status::NeedsResponse => end(call, dispute, Status::Lost).await,
        Status::WarningNeedsResponse
        | Status::WarningUnderReview
        | Status::WarningClosed
        | Status::UnderReview
        | Status::Won
        | Status::Lost => {
            Err(dispute.refusal("closed: that is possible only while it is needs_response"))
        }
    }
}

/// The bank has read the evidence. It decides by one of two words, and without either it goes on thinking.
pub(in crate::simulator) async fn conclude(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let dispute = find(call, id).await?;
    let word = dispute
        .evidence
        .get("uncategorized_text")
        .and_then(Value::as_str);
    let status = match (dispute.status, word) {
        (Status::UnderReview, Some("winning_evidence")) => Status::Won,
        (Status::UnderReview, Some("losing_evidence")) => Status::Lost,
        (Status::WarningUnderReview, Some("winning_evidence")) => Status::WarningClosed,
        _ => return Ok(()),
    };
    end(call, dispute, status).await.map(drop)
}

/// All the money was given back, so whoever inquired has nothing left to ask.
pub(in crate::simulator) async fn close_inquiry(
    call: &mut Call<'_>,
    charge: &str,
) -> Result<(), ApiError> {
    match of_charge(call, charge).await? {
        Some(inquiry)
            if matches!(
                inquiry.status,
                Status::WarningNeedsResponse | Status::WarningUnderReview
            ) =>
        {
            end(call, inquiry, Status::WarningClosed).await.map(drop)
        }
        _ => Ok(()),
    }
}

async fn end(call: &mut Call<'_>, mut dispute: Dispute, status: Status) -> Result<Value, ApiError> {
    dispute.status = status;
    if status == Status::Won {
        dispute.move_money(call, Kind::DisputeReversal).await?;
        dispute.is_charge_refundable = true;
    }
    let shown = dispute.save(call)?;
    if status == Status::Won {
        events::record(call, "charge.dispute.funds_reinstated", &shown)?;
    }
    events::record(call, "charge.dispute.closed", &shown)?;
    Ok(shown)
}
