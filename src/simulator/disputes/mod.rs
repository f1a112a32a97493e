//! Disputes: the owner of a card wants their money back, and asks their bank instead of the shop.
//!
//! ```text
//! needs_response ──┬── evidence ──► under_review ──┬── winning_evidence ──► won: the money comes again
//!                  └── close ──► lost ◄────────────┴── losing_evidence
//! warning_needs_response (an inquiry) ── evidence ──► warning_under_review ──┐
//!                  └── the charge is refunded in full ───────────────────────┴──► warning_closed
//! ```
//!
//! A dispute opens a moment after the payment, if its card is one of those for it (`pm_card_createDispute` and its
//! like). The bank takes the money at once, with a fee, and the charge cannot be refunded any more; an inquiry
//! takes nothing and hinders nothing. How the bank decides is said by the evidence's `uncategorized_text`, in the
//! two words of Stripe's test mode; with any other it never decides. Deadlines are shown but not enforced.

mod conclude;
mod evidence;
mod open;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(super) use self::{
    conclude::{close, close_inquiry, conclude},
    evidence::update,
    open::{expect, open},
};
use super::{
    call::Call,
    charges::Charge,
    error::ApiError,
    lists::{Filter, Page},
    objects,
    params::Params,
};

/// The part of a dispute that changes. Everything else the API shows (see `open`) is in `rest`, carried along
/// unread.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Dispute {
    id: String,
    amount: i64,
    /// Whole, not their ids.
    balance_transactions: Vec<Value>,
    currency: String,
    evidence: Map<String, Value>,
    evidence_details: EvidenceDetails,
    is_charge_refundable: bool,
    status: Status,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct EvidenceDetails {
    due_by: i64,
    enhanced_eligibility: Value,
    has_evidence: bool,
    past_due: bool,
    submission_count: i64,
    submission_method: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    WarningNeedsResponse,
    WarningUnderReview,
    WarningClosed,
    NeedsResponse,
    UnderReview,
    Won,
    Lost,
}

/// `GET /v1/disputes/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    objects::in_path(call.conn().await?, "dispute", id).await
}

/// `GET /v1/disputes`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let filters = Filter::parse(&mut params, &["charge", "payment_intent"])?;
    params.finish()?;
    page.fetch(call.conn().await?, "dispute", "/v1/disputes", &filters)
        .await
}

/// Refuses to refund a charge whose money a bank has taken.
pub(super) async fn check_refundable(call: &mut Call<'_>, charge: &Charge) -> Result<(), ApiError> {
    if !charge.disputed
        || of_charge(call, &charge.id)
            .await?
            .is_none_or(|dispute| dispute.is_charge_refundable)
    {
        return Ok(());
    }
    let message = format!(
        "The charge {} is disputed. Its customer's bank decides about the money, so it cannot be refunded.",
        charge.id
    );
    Err(ApiError::invalid(message)
        .code("charge_disputed")
        .executed())
}

/// A charge is disputed once at most.
async fn of_charge(call: &mut Call<'_>, charge: &str) -> Result<Option<Dispute>, ApiError> {
    let body: Option<String> = sqlx::query_scalar(
        "select body from objects where kind = 'dispute' and body ->> '$.charge' = $1",
    )
    .bind(charge)
    .fetch_optional(call.conn().await?)
    .await?;
    Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
}

/// The dispute named in the path.
async fn find(call: &mut Call<'_>, id: &str) -> Result<Dispute, ApiError> {
    let found = objects::in_path(call.conn().await?, "dispute", id).await?;
    Ok(serde_json::from_value(found)?)
}

impl Dispute {
    fn save(&self, call: &mut Call<'_>) -> Result<Value, ApiError> {
        let shown = serde_json::to_value(self)?;
        objects::update(call.tx, &self.id, &shown)?;
        Ok(shown)
    }

    fn refusal(&self, action: &str) -> ApiError {
        let message = format!(
            "The dispute {} is {} and cannot be {action}.",
            self.id,
            self.status.name()
        );
        ApiError::invalid(message).executed()
    }
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Status::WarningNeedsResponse => "warning_needs_response",
            Status::WarningUnderReview => "warning_under_review",
            Status::WarningClosed => "warning_closed",
            Status::NeedsResponse => "needs_response",
            Status::UnderReview => "under_review",
            Status::Won => "won",
            Status::Lost => "lost",
        }
    }
}
