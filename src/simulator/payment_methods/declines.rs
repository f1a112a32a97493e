//! Declines: how a bank refuses, in the words of the API.

use serde_json::json;

use super::PaymentMethod;
use crate::simulator::error::ApiError;

/// A refusal by the bank, in the words of the API.
#[expect(
    clippy::struct_field_names,
    reason = "`decline_code` is the API's word for it"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) struct Decline {
    pub(in crate::simulator) code: &'static str,
    pub(in crate::simulator) decline_code: &'static str,
    pub(in crate::simulator) message: &'static str,
    pub(in crate::simulator) param: Option<&'static str>,
    pub(in crate::simulator) advice_code: Option<&'static str>,
}

impl Decline {
    /// The answer to the request that met this refusal.
    pub(in crate::simulator) fn error(&self, method: &PaymentMethod) -> ApiError {
        let mut error = ApiError::card(self.message)
            .code(self.code)
            .with("decline_code", json!(self.decline_code));
        if let Some(param) = self.param {
            error = error.param(param);
        }
        if let Some(advice) = self.advice_code {
            error = error.with("advice_code", json!(advice));
        }
        error.with("payment_method", method.object.clone())
    }
}

const DECLINED: &str = "Your card was declined.";

/// The refusal most rows start from.
pub(super) const GENERIC: Decline = Decline {
    code: "card_declined",
    decline_code: "generic_decline",
    message: DECLINED,
    param: None,
    advice_code: Some("try_again_later"),
};

pub(super) const INSUFFICIENT_FUNDS: Decline = Decline {
    decline_code: "insufficient_funds",
    message: "Your card has insufficient funds.",
    ..GENERIC
};

// A thief is not told that the card is known to be stolen.
pub(super) const LOST: Decline = Decline {
    decline_code: "lost_card",
    advice_code: Some("do_not_try_again"),
    ..GENERIC
};
pub(super) const STOLEN: Decline = Decline {
    decline_code: "stolen_card",
    ..LOST
};

pub(super) const EXPIRED: Decline = Decline {
    code: "expired_card",
    decline_code: "expired_card",
    message: "Your card has expired.",
    param: Some("exp_month"),
    advice_code: Some("confirm_card_data"),
};

pub(super) const INCORRECT_CVC: Decline = Decline {
    code: "incorrect_cvc",
    decline_code: "incorrect_cvc",
    message: "Your card's security code is incorrect.",
    param: Some("cvc"),
    advice_code: Some("confirm_card_data"),
};

pub(super) const PROCESSING_ERROR: Decline = Decline {
    code: "processing_error",
    decline_code: "processing_error",
    message: "There was an error while your card was processed. Try again shortly.",
    ..GENERIC
};

pub(super) const FRAUDULENT: Decline = Decline {
    decline_code: "fraudulent",
    advice_code: None,
    ..GENERIC
};

pub(super) const VELOCITY: Decline = Decline {
    decline_code: "card_velocity_exceeded",
    message: "Your card was declined: it was used too often, or for more than its limit.",
    advice_code: None,
    ..GENERIC
};

/// The bank wants the customer, and the customer is not there.
pub(in crate::simulator) const AUTHENTICATION_REQUIRED: Decline = Decline {
    code: "authentication_required",
    decline_code: "authentication_required",
    message: "Your card was declined: this payment needs your authentication.",
    param: None,
    advice_code: None,
};

/// The caller asked not to be bothered with authentication (`error_on_requires_action`).
pub(in crate::simulator) const AUTHENTICATION_NOT_HANDLED: Decline = Decline {
    decline_code: "authentication_not_handled",
    ..AUTHENTICATION_REQUIRED
};
