//! Refunds: money on its way back, a part or all of what a charge took.
//!
//! ```text
//! create ──┬── succeeded ── (the bank of pm_card_refundFail) ──► failed: the charge has its money again
//!          └── pending ──── (the bank of pm_card_pendingRefund, or of a debited account) ──► succeeded
//! ```
//!
//! `requires_action` and `canceled` belong to methods whose customer has to say where the money shall go. Here it
//! is always known, so canceling a refund is always refused.
//!
//! Two refunds of one charge cannot together exceed it: what is left is read and taken in one transaction, and
//! the database has one writer at a time. Leave out the comparison in `create` and
//! `cargo nextest run two_refunds` fails.

mod conclude;
mod create;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(super) use self::{
    conclude::{fail, succeed},
    create::create,
};
use super::{
    balance_transactions::{self, Kind, Movement},
    call::Call,
    changes::Changes,
    error::ApiError,
    events,
    lists::{Filter, Page},
    objects,
    params::Params,
};

/// The part of a refund that changes. Everything else the API shows (see `create`) is in `rest`, carried along
/// unread.
#[derive(Debug, Serialize, Deserialize)]
struct Refund {
    id: String,
    amount: i64,
    balance_transaction: Option<String>,
    charge: String,
    currency: String,
    destination_details: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure_balance_transaction: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending_reason: Option<String>,
    status: Status,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Those a refund can have whose way is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    Succeeded,
    Failed,
}

/// `GET /v1/refunds/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    objects::in_path(call.conn().await?, "refund", id).await
}

/// `GET /v1/refunds`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let filters = Filter::parse(&mut params, &["charge", "payment_intent"])?;
    params.finish()?;
    page.fetch(call.conn().await?, "refund", "/v1/refunds", &filters)
        .await
}

/// `GET /v1/charges/{id}/refunds`, where the list inside an expanded charge goes on.
pub(super) async fn list_of_charge(
    call: &mut Call<'_>,
    charge: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    params.finish()?;
    objects::in_path(call.conn().await?, "charge", charge).await?;
    let url = format!("/v1/charges/{charge}/refunds");
    let filter = Filter::new("charge", charge.to_owned());
    page.fetch(call.conn().await?, "refund", &url, &[filter])
        .await
}

/// `POST /v1/refunds/{id}`: nothing but the metadata can be changed.
pub(super) async fn update(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let changes = Changes::parse(&mut params, &[])?;
    params.finish()?;
    let before = objects::in_path(call.conn().await?, "refund", id).await?;
    let mut refund = before.clone();
    changes.apply(&mut refund)?;
    save(call, &before, &refund).await?;
    Ok(refund)
}

/// `POST /v1/refunds/{id}/cancel`
pub(super) async fn cancel(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    let refund = objects::in_path(call.conn().await?, "refund", id).await?;
    let refund: Refund = serde_json::from_value(refund)?;
    let message = format!(
        "The refund {id} is {} and cannot be canceled: that is possible only while it is requires_action.",
        refund.status.name()
    );
    Err(ApiError::invalid(message).executed())
}

/// Stores the new state of a refund and tells of it: under its own name, and as news of its charge.
async fn save(call: &mut Call<'_>, before: &Value, after: &Value) -> Result<(), ApiError> {
    objects::update(call.tx, objects::id(after), after)?;
    for kind in ["refund.updated", "charge.refund.updated"] {
        events::record_change(call, kind, before, after)?;
    }
    Ok(())
}

impl Refund {
    /// Money leaves the balance, or comes again: at once, also while the refund is pending. Returns the id of the
    /// balance transaction.
    fn move_money(&self, call: &mut Call<'_>, kind: Kind, amount: i64) -> Result<String, ApiError> {
        let movement = Movement {
            kind,
            source: &self.id,
            amount,
            fee: 0,
            currency: &self.currency,
            description: None,
            available_at_once: true,
        };
        balance_transactions::record(call, &movement)
    }
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Succeeded => "succeeded",
            Status::Failed => "failed",
        }
    }
}
