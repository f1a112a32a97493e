//! Giving money back.

use std::time::Duration;

use url::form_urlencoded;

use super::{
    Doubt, PAGE, Provider, READ_PATIENCE,
    transport::Answer,
    wire::{ErrorBody, List, Refund},
};

/// What is to be given back.
#[derive(Clone, Copy, Debug)]
pub struct RefundWish<'a> {
    /// The payment intent that it was paid with.
    pub intent: &'a str,
    /// Minor units: all of it, or a part.
    pub amount_minor: i64,
    /// Our own id, kept in the provider's metadata.
    pub refund_id: &'a str,
}

/// What came of asking for a refund.
#[derive(Clone, Debug)]
pub enum RefundOutcome {
    /// There is one, in some state.
    Made(Refund),
    /// The provider will not make it, and says why by a code.
    Refused(String),
    /// It cannot be told. There may be one or none.
    Unknown(Doubt),
}

impl Provider {
    /// Gives money back, under `key`.
    pub async fn refund(
        &self,
        wish: RefundWish<'_>,
        key: &str,
        give_up: Duration,
    ) -> RefundOutcome {
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("payment_intent", wish.intent)
            .append_pair("amount", &wish.amount_minor.to_string())
            .append_pair("metadata[refund_id]", wish.refund_id)
            .finish();
        match self
            .transport
            .post("refunds.create", "/v1/refunds", key, &body, give_up)
            .await
        {
            Ok(answer) => RefundOutcome::of_answer(&answer),
            Err(doubt) => RefundOutcome::Unknown(doubt),
        }
    }

    /// All refunds of the payment intent `intent`, newest first.
    pub async fn refunds_of(&self, intent: &str) -> Result<Vec<Refund>, Doubt> {
        self.list_refunds("payment_intent", intent).await
    }

    /// All refunds created since an instant (Unix seconds, included, by the provider's clock), newest first.
    pub async fn refunds_since(&self, since: i64) -> Result<Vec<Refund>, Doubt> {
        self.list_refunds("created[gte]", &since.to_string()).await
    }

    async fn list_refunds(&self, name: &str, value: &str) -> Result<Vec<Refund>, Doubt> {
        let mut refunds: Vec<Refund> = Vec::new();
        loop {
            let path = page_path(name, value, refunds.last());
            let answer = self.transport.get("refunds.list", &path, READ_PATIENCE);
            let answer = answer.await?;
            let page: List<Refund> = answer.parse()?;
            let is_empty = page.data.is_empty();
            refunds.extend(page.data);
            match page.has_more {
                false => return Ok(refunds),
                true if is_empty => return Err(Doubt::Unexpected),
                true => {}
            }
        }
    }
}

/// The page that follows `last` of the refunds for which `name` is `value`.
fn page_path(name: &str, value: &str, last: Option<&Refund>) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("limit", PAGE)
        .append_pair(name, value)
        .extend_pairs(last.map(|last| ("starting_after", &last.id)))
        .finish();
    format!("/v1/refunds?{query}")
}

impl RefundOutcome {
    fn of_answer(answer: &Answer) -> Self {
        match answer.status {
            200..=299 => match answer.parse() {
                Ok(refund) => Self::Made(refund),
                Err(doubt) => Self::Unknown(doubt),
            },
            401 | 403 => Self::Unknown(Doubt::Credentials),
            // Stored, so that the same key never gets past it.
            409 | 429 | 500.. if answer.is_stored => Self::Unknown(Doubt::StoredError),
            409 => Self::Unknown(Doubt::StillRunning),
            429 => Self::Unknown(Doubt::RateLimited),
            400 | 404 => match answer.parse::<ErrorBody>() {
                Ok(ErrorBody { error }) => match (error.kind.as_str(), error.code.as_deref()) {
                    // An old spelling of 429.
                    ("invalid_request_error", Some("rate_limit" | "lock_timeout")) => {
                        Self::Unknown(Doubt::RateLimited)
                    }
                    ("invalid_request_error", _) => Self::Refused(error.reason().to_owned()),
                    // Other bytes were once sent under this key.
                    ("idempotency_error", _) => Self::Unknown(Doubt::StoredError),
                    _ => Self::Unknown(Doubt::Unexpected),
                },
                Err(doubt) => Self::Unknown(doubt),
            },
            500.. => Self::Unknown(Doubt::ServerError),
            _ => Self::Unknown(Doubt::Unexpected),
        }
    }
}
