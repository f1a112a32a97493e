//! Refusals in Stripe's envelope: `{"error": {"type": …, "message": …}}`.
//!
//! Besides its body, every error says how far the request came, which is what idempotency goes by:
//!
//! ```text
//! refused at the door, by its parameters alone     nothing is kept, and the key is as good as new
//! executed: judged by the state of things          the answer is kept for the key, and nothing else
//! an outcome: a declined card, say                 the answer is kept, and what was done
//! ```

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

#[derive(Debug)]
pub(super) struct ApiError {
    pub(super) status: StatusCode,
    /// The answer is stored for the idempotency key.
    pub(super) executed: bool,
    /// What was done is done: the transaction commits.
    pub(super) is_outcome: bool,
    /// For `Stripe-Should-Retry`: `None` lets the client decide by the status.
    pub(super) should_retry: Option<bool>,
    /// What broke inside, for the log. The client never sees it.
    pub(super) cause: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// Absent fields are left out, never null.
    fields: Map<String, Value>,
}

impl ApiError {
    /// 400 `invalid_request_error`, to be refined.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    /// 401. Says whether a key was missing or wrong; a wrong one is shown masked.
    pub(super) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "invalid_request_error", message)
    }

    /// 402 `card_error`: the parameters were fine, the card was not. Always an outcome.
    pub(super) fn card(message: impl Into<String>) -> Self {
        let error = Self::new(StatusCode::PAYMENT_REQUIRED, "card_error", message);
        error.executed().into_outcome()
    }

    /// An object named by `param` does not exist: 400 here, 404 (see [`ApiError::not_found`]) when it is in the path.
    pub(super) fn missing(kind: &str, id: &str, param: &str) -> Self {
        Self::invalid(format!("No such {kind}: '{id}'"))
            .code("resource_missing")
            .param(param)
            .executed()
    }

    /// 404 for a URL that names nothing.
    pub(super) fn unrecognized_url(method: &str, path: &str) -> Self {
        Self::invalid(format!("Unrecognized request URL ({method}: {path})."))
            .status(StatusCode::NOT_FOUND)
    }

    /// 400 `idempotency_error`: a key was used again for something else.
    pub(super) fn idempotency(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "idempotency_error", message)
    }

    /// 429: more at a time than can be served, or a fault that says so.
    pub(super) fn rate_limited() -> Self {
        Self::invalid("Request rate limit exceeded. Learn more about rate limits at https://stripe.com/docs/rate-limits.")
            .code("rate_limit")
            .status(StatusCode::TOO_MANY_REQUESTS)
    }

    /// 5xx `api_error`, with nothing but a message, as Stripe's own.
    pub(super) fn api(status: StatusCode) -> Self {
        Self::new(
            status,
            "api_error",
            "An unknown error occurred. The outcome of this request is uncertain: retry it with the same \
             idempotency key, or look the object up.",
        )
    }

    /// An error that a fault asked for, of the type that goes with its status.
    pub(super) fn injected(status: StatusCode) -> Self {
        let kind = match status {
            StatusCode::TOO_MANY_REQUESTS => return Self::rate_limited(),
            StatusCode::PAYMENT_REQUIRED => "card_error",
            status if status.is_client_error() => "invalid_request_error",
            _ => return Self::api(status),
        };
        Self::new(status, kind, "A fault asked for this error.")
    }

    fn new(status: StatusCode, kind: &str, message: impl Into<String>) -> Self {
        let mut fields = Map::new();
        fields.insert("type".to_owned(), json!(kind));
        fields.insert("message".to_owned(), json!(message.into()));
        Self {
            status,
            executed: false,
            is_outcome: false,
            should_retry: None,
            cause: None,
            fields,
        }
    }

    pub(super) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub(super) fn not_found(self) -> Self {
        self.status(StatusCode::NOT_FOUND)
    }

    /// Judged by the state of things.
    pub(super) fn executed(mut self) -> Self {
        self.executed = true;
        self
    }

    /// If it executed, what it did is kept.
    pub(super) fn into_outcome(mut self) -> Self {
        self.is_outcome = self.executed;
        self
    }

    pub(super) fn should_retry(mut self, should_retry: bool) -> Self {
        self.should_retry = Some(should_retry);
        self
    }

    /// Sets `code`, and the `doc_url` that goes with each.
    pub(super) fn code(self, code: &str) -> Self {
        let page = code.replace('_', "-");
        self.with("code", json!(code)).with(
            "doc_url",
            json!(format!("https://stripe.com/docs/error-codes/{page}")),
        )
    }

    pub(super) fn param(self, param: &str) -> Self {
        self.with("param", json!(param))
    }

    pub(super) fn with(mut self, field: &str, value: Value) -> Self {
        self.fields.insert(field.to_owned(), value);
        self
    }

    /// The error object without its envelope: an intent's `last_payment_error`.
    pub(super) fn object(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// The body of the answer to the request `request_id`, made at `now`.
    pub(super) fn body(&self, request_id: &str, now: i64) -> Value {
        let mut fields = self.fields.clone();
        if self.status != StatusCode::UNAUTHORIZED && !self.status.is_server_error() {
            let url = format!("https://dashboard.stripe.com/test/logs/{request_id}?t={now}");
            fields.insert("request_log_url".to_owned(), json!(url));
        }
        json!({ "error": fields })
    }

    /// What went wrong, for whoever is no client.
    pub(super) fn into_cause(self) -> Box<dyn std::error::Error + Send + Sync> {
        self.cause
            .unwrap_or_else(|| Value::Object(self.fields).to_string().into())
    }

    /// 500, with its cause for the log.
    pub(super) fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let mut error = Self::api(StatusCode::INTERNAL_SERVER_ERROR);
        error.cause = Some(cause.into());
        error
    }
}

impl From<sqlx::Error> for ApiError {
    fn from(cause: sqlx::Error) -> Self {
        match cause {
            // Nothing was begun, so nothing is uncertain.
            sqlx::Error::PoolTimedOut => Self::rate_limited(),
            cause => Self::internal(cause),
        }
    }
}

/// A stored document that does not fit its type: our own mistake, never the client's.
impl From<serde_json::Error> for ApiError {
    fn from(cause: serde_json::Error) -> Self {
        Self::internal(cause)
    }
}
