//! Payment intents: one wish to be paid, through as many attempts as it takes.
//!
//! ```text
//!              ┌────────────────────── a failed attempt ───────────────────────┐
//!              ▼                                                               │
//! requires_payment_method ── confirm ──┬── succeeded                           │
//! requires_confirmation ──── confirm ──┼── requires_capture (capture_method=manual) ── capture ──► succeeded
//!                                      ├── processing (bank debits) ── the bank decides ──► succeeded, or failed
//!                                      └── requires_action ── the customer acts ──► succeeded, requires_capture, or failed
//! everything but succeeded and canceled ── cancel, or an authorization's time is up ──► canceled
//! ```
//!
//! There is no `failed`: a decline leads back to `requires_payment_method`, and another method may pay the same
//! intent.

mod attempt;
mod authenticate;
mod cancel;
mod capture;
mod confirm;
mod create;
mod debit;
mod details;
mod types;
mod update;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(super) use self::{
    authenticate::{Verdict, authenticate},
    cancel::{cancel, expire},
    capture::capture,
    confirm::confirm,
    create::create,
    debit::settle,
    update::update,
};
use super::{
    call::Call,
    error::ApiError,
    lists::{Filter, Page},
    objects,
    params::Params,
    search::{self, Index, Kind},
};

/// The part of a payment intent that changes, or that something is decided by. Everything else the API shows
/// (see `create`) is in `rest`, carried along unread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PaymentIntent {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) amount_capturable: i64,
    pub(super) amount_received: i64,
    pub(super) automatic_payment_methods: Option<AutomaticPaymentMethods>,
    pub(super) canceled_at: Option<i64>,
    pub(super) cancellation_reason: Option<String>,
    pub(super) capture_method: String,
    pub(super) client_secret: String,
    pub(super) confirmation_method: String,
    pub(super) currency: String,
    pub(super) customer: Option<String>,
    pub(super) description: Option<String>,
    pub(super) last_payment_error: Option<Value>,
    pub(super) latest_charge: Option<String>,
    pub(super) metadata: Map<String, Value>,
    pub(super) next_action: Option<Value>,
    pub(super) payment_method: Option<String>,
    payment_method_options: Value,
    payment_method_types: Vec<String>,
    pub(super) receipt_email: Option<String>,
    pub(super) setup_future_usage: Option<String>,
    pub(super) shipping: Option<Value>,
    pub(super) statement_descriptor: Option<String>,
    pub(super) statement_descriptor_suffix: Option<String>,
    pub(super) status: Status,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    RequiresPaymentMethod,
    RequiresConfirmation,
    RequiresAction,
    RequiresCapture,
    Processing,
    Succeeded,
    Canceled,
}

/// "Offer whatever suits", as opposed to a list of payment method types.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AutomaticPaymentMethods {
    pub(super) enabled: bool,
    /// `always` or `never`. With `always` a confirm needs a `return_url`.
    pub(super) allow_redirects: String,
}

/// `GET /v1/payment_intents/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    params.text("client_secret")?;
    params.finish()?;
    Ok(find(call, id).await?.show()?)
}

/// `GET /v1/payment_intents`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let filters = Filter::parse(&mut params, &["customer"])?;
    params.finish()?;
    page.fetch(
        call.conn().await?,
        "payment_intent",
        "/v1/payment_intents",
        &filters,
    )
    .await
}

const INDEX: Index = Index {
    kind: "payment_intent",
    resource: "payment_intents",
    fields: &[
        ("amount", Kind::Number),
        ("created", Kind::Number),
        ("currency", Kind::Token),
        ("customer", Kind::Token),
        ("status", Kind::Token),
    ],
};

/// `GET /v1/payment_intents/search`
pub(super) async fn search(call: &mut Call<'_>, params: Params) -> Result<Value, ApiError> {
    search::search(call.conn().await?, &INDEX, params).await
}

/// The intent named in the path.
pub(super) async fn find(call: &mut Call<'_>, id: &str) -> Result<PaymentIntent, ApiError> {
    let found = objects::find(call.conn().await?, "payment_intent", id).await?;
    let found = found.ok_or_else(|| {
        ApiError::missing("payment_intent", id, "intent").status(StatusCode::NOT_FOUND)
    })?;
    Ok(serde_json::from_value(found)?)
}

/// The intent that a parameter names, or 400.
pub(super) async fn named(call: &mut Call<'_>, id: &str) -> Result<PaymentIntent, ApiError> {
    let intent =
        objects::in_param(call.conn().await?, "payment_intent", id, "payment_intent").await?;
    Ok(serde_json::from_value(intent)?)
}

impl PaymentIntent {
    /// The whole object, as the API shows it.
    pub(super) fn show(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    pub(super) fn save(&self, call: &mut Call<'_>) -> Result<Value, ApiError> {
        let shown = self.show()?;
        objects::update(call.tx, &self.id, &shown)?;
        Ok(shown)
    }

    /// The refusal of an action that the present status does not allow. It carries the intent, so a client
    /// whose first answer was lost learns from it how things stand.
    pub(super) fn unexpected_state(
        &self,
        message: impl Into<String>,
    ) -> Result<ApiError, ApiError> {
        let error = ApiError::invalid(message).code("payment_intent_unexpected_state");
        Ok(error.with("payment_intent", self.show()?).executed())
    }
}

impl Status {
    pub(super) fn name(self) -> &'static str {
        match self {
            Status::RequiresPaymentMethod => "requires_payment_method",
            Status::RequiresConfirmation => "requires_confirmation",
            Status::RequiresAction => "requires_action",
            Status::RequiresCapture => "requires_capture",
            Status::Processing => "processing",
            Status::Succeeded => "succeeded",
            Status::Canceled => "canceled",
        }
    }
}
