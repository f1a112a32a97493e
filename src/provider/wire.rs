//! The provider's objects, as far as a checkout reads them. Unknown fields are ignored.

use std::collections::HashMap;

use serde::Deserialize;

/// A payment intent. <https://docs.stripe.com/api/payment_intents/object>
#[derive(Clone, Debug, Deserialize)]
pub struct PaymentIntent {
    /// `pi_…`
    pub id: String,
    /// Minor units that are to be paid.
    pub amount: i64,
    /// Minor units that were.
    #[serde(default)]
    pub amount_received: Option<i64>,
    /// Three letters, lower case.
    pub currency: String,
    /// One of the provider's states.
    pub status: String,
    /// Our own words on it.
    #[serde(default)]
    pub metadata: HashMap<String, String>,
    /// What went wrong with the last attempt.
    #[serde(default)]
    pub last_payment_error: Option<ApiError>,
    /// What the customer has to do.
    #[serde(default)]
    pub next_action: Option<NextAction>,
}

impl PaymentIntent {
    /// The checkout that we named when we created it.
    pub fn checkout_id(&self) -> Option<&str> {
        self.metadata.get("checkout_id").map(String::as_str)
    }
}

/// A refund. <https://docs.stripe.com/api/refunds/object>
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Refund {
    /// `re_…`
    pub id: String,
    /// Minor units.
    pub amount: i64,
    /// Three letters, lower case.
    pub currency: String,
    /// One of the provider's states.
    pub status: String,
    /// What was paid with.
    #[serde(default)]
    pub payment_intent: Option<String>,
    /// When it was made: Unix seconds, by the provider's clock.
    #[serde(default)]
    pub created: Option<i64>,
    /// Our own words on it.
    #[serde(default)]
    pub metadata: HashMap<String, String>,
}

impl Refund {
    /// The refund that we named when we asked for it.
    pub fn refund_id(&self) -> Option<&str> {
        self.metadata.get("refund_id").map(String::as_str)
    }
}

/// What the customer has to do before a payment can go on.
#[derive(Clone, Debug, Deserialize)]
pub struct NextAction {
    /// Go to a page of the provider.
    #[serde(default)]
    pub redirect_to_url: Option<RedirectToUrl>,
}

/// A page of the provider.
#[derive(Clone, Debug, Deserialize)]
pub struct RedirectToUrl {
    /// Its address.
    pub url: String,
}

/// The provider's error object. <https://docs.stripe.com/api/errors>
#[derive(Clone, Debug, Deserialize)]
pub struct ApiError {
    /// One of four kinds.
    #[serde(rename = "type")]
    pub kind: String,
    /// What exactly.
    #[serde(default)]
    pub code: Option<String>,
    /// Why the bank refused.
    #[serde(default)]
    pub decline_code: Option<String>,
    /// The intent that was refused: a declined create tells its id nowhere else.
    #[serde(default)]
    pub payment_intent: Option<Box<PaymentIntent>>,
}

impl ApiError {
    /// The most telling of its codes. A debit that bounces has its reason in the code, and a decline code that tells nothing.
    pub fn reason(&self) -> &str {
        match (self.decline_code.as_deref(), self.code.as_deref()) {
            (Some("generic_decline"), Some(code)) if code != "card_declined" => code,
            (Some(code), _) | (None, Some(code)) => code,
            (None, None) => &self.kind,
        }
    }
}

/// The envelope of every error.
#[derive(Debug, Deserialize)]
pub struct ErrorBody {
    /// The error.
    pub error: ApiError,
}

/// One page of a list, newest first.
#[derive(Debug, Deserialize)]
pub struct List<T> {
    /// The objects.
    pub data: Vec<T>,
    /// Whether older ones follow.
    pub has_more: bool,
}
