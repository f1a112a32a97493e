//! What the provider's answers mean for a payment.

use super::{
    transport::Answer,
    wire::{ApiError, ErrorBody, PaymentIntent},
};

/// How a payment stands, as far as we can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The money arrived.
    Paid(Payment),
    /// The card was refused, for good as far as this payment goes.
    Declined {
        /// The payment.
        payment: Payment,
        /// The provider's decline code, or its code.
        code: String,
    },
    /// The customer has to prove who they are, on a page of the provider.
    NeedsAuthentication {
        /// The payment.
        payment: Payment,
        /// The page.
        url: String,
    },
    /// A slow payment method: the answer comes later.
    Processing(Payment),
    /// The payment was given up at the provider.
    Canceled(Payment),
    /// A look-up showed that there never was a payment.
    NeverCharged,
    /// It cannot be told. There may be a payment or none.
    Unknown(Doubt),
}

/// A payment as the provider knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// The provider's id of it.
    pub intent: String,
    /// Minor units: what arrived or, until something has, what is asked for.
    pub amount_minor: i64,
    /// Three letters, lower case.
    pub currency: String,
}

/// Why it cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// No answer came: refused, cut off, or too late.
    #[error("the provider does not answer")]
    NoAnswer,
    /// The first request under the key is still running.
    #[error("the first request is still running")]
    StillRunning,
    /// We are to slow down.
    #[error("the provider asks us to slow down")]
    RateLimited,
    /// An error of the provider's, which the same key may get past.
    #[error("the provider has an error")]
    ServerError,
    /// An error that is stored for the key: the same request will get it again, whatever happened.
    #[error("the provider has an error, and keeps it for the key")]
    StoredError,
    /// The request is not one the provider executes. What came of an earlier one under the key is not said.
    #[error("the provider refuses the request")]
    Refused,
    /// It was looked for and not found; not long enough to be sure that it never was.
    #[error("the provider does not know it, so far")]
    NotFound,
    /// Our credentials are not accepted; an operator has to mend them.
    #[error("the provider does not accept our key")]
    Credentials,
    /// An answer that this client does not understand.
    #[error("the provider's answer cannot be understood")]
    Unexpected,
}

/// What a look-up found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A payment, and how it stands.
    Payment(Outcome),
    /// All payments of the time were seen, and none is ours.
    Nothing,
    /// Not all could be seen.
    Unknown(Doubt),
}

impl PaymentIntent {
    /// The intent that the answer to a create, confirm, cancel or retrieve is about, granted or refused. A decline comes
    /// as an error, and so does "it has already succeeded": the intent in it knows. An error without one claims what it
    /// likes, and proves nothing.
    pub(super) fn of_answer(answer: &Answer) -> Result<Self, Doubt> {
        match answer.status {
            200..=299 => answer.parse(),
            401 | 403 => Err(Doubt::Credentials),
            409 | 429 | 500.. if answer.is_stored => Err(Doubt::StoredError),
            409 => Err(Doubt::StillRunning),
            429 => Err(Doubt::RateLimited),
            400 | 402 => answer
                .parse::<ErrorBody>()
                .and_then(|body| Self::of_refusal(body.error)),
            500.. => Err(Doubt::ServerError),
            _ => Err(Doubt::Unexpected),
        }
    }

    fn of_refusal(error: ApiError) -> Result<Self, Doubt> {
        match (error.kind.as_str(), error.code.as_deref()) {
            // Other bytes were once sent under this key. What became of them can only be looked up.
            ("idempotency_error", _) => Err(Doubt::StoredError),
            // An old spelling of 429.
            ("invalid_request_error", Some("rate_limit" | "lock_timeout")) => {
                Err(Doubt::RateLimited)
            }
            ("card_error" | "invalid_request_error", _) => match error.payment_intent {
                Some(intent) => Ok(*intent),
                None => Err(Doubt::Refused),
            },
            _ => Err(Doubt::Unexpected),
        }
    }
}

impl Outcome {
    /// For the log: a word for each.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Paid(_) => "paid",
            Self::Declined { .. } => "declined",
            Self::NeedsAuthentication { .. } => "needs authentication",
            Self::Processing(_) => "processing",
            Self::Canceled(_) => "canceled",
            Self::NeverCharged => "never charged",
            Self::Unknown(_) => "unknown",
        }
    }

    /// How the payment of an answer stands, if the answer says so.
    pub(super) fn of_answered(intent: Result<PaymentIntent, Doubt>) -> Self {
        match intent {
            Ok(intent) => Self::of_intent(&intent),
            Err(doubt) => Self::Unknown(doubt),
        }
    }

    /// How a payment intent stands.
    pub fn of_intent(intent: &PaymentIntent) -> Self {
        let payment = Payment::of(intent, intent.amount);
        match intent.status.as_str() {
            "succeeded" => Self::Paid(Payment::of(
                intent,
                intent.amount_received.unwrap_or(intent.amount),
            )),
            "processing" => Self::Processing(payment),
            "canceled" => Self::Canceled(payment),
            "requires_action" => match intent
                .next_action
                .as_ref()
                .and_then(|action| action.redirect_to_url.as_ref())
                // It becomes a link on a page of ours, so it is not to be a script.
                .filter(|page| page.url.starts_with("https:") || page.url.starts_with("http:"))
            {
                Some(page) => Self::NeedsAuthentication {
                    payment,
                    url: page.url.clone(),
                },
                None => Self::Unknown(Doubt::Unexpected),
            },
            // There is no state for "declined": the intent goes back to where it wants a payment method.
            "requires_payment_method" => match &intent.last_payment_error {
                Some(error) => Self::Declined {
                    payment,
                    code: error.reason().to_owned(),
                },
                None => Self::Unknown(Doubt::Unexpected),
            },
            _ => Self::Unknown(Doubt::Unexpected),
        }
    }
}

impl Payment {
    fn of(intent: &PaymentIntent, amount_minor: i64) -> Self {
        Self {
            intent: intent.id.clone(),
            amount_minor,
            currency: intent.currency.clone(),
        }
    }
}

impl Found {
    /// The payment of a checkout among all of its time. Should there be several, the one with money in it.
    pub(super) fn among(intents: &[PaymentIntent], checkout_id: &str) -> Self {
        let ours = || {
            intents
                .iter()
                .filter(|intent| intent.checkout_id() == Some(checkout_id))
                .map(Outcome::of_intent)
        };
        let paid = ours().find(|outcome| matches!(outcome, Outcome::Paid(_)));
        match paid.or_else(|| ours().next()) {
            Some(outcome) => Self::Payment(outcome),
            None => Self::Nothing,
        }
    }
}
