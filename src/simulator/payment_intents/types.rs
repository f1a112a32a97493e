//! Which types of payment method an intent accepts.
//!
//! An intent without a list of its own accepts what is switched on for the account. Here that is cards: a bank
//! debit has to be asked for by name.

use serde_json::{Map, Value, json};

use super::PaymentIntent;
use crate::simulator::{
    error::ApiError, form::shortened, params::Params, payment_methods::PaymentMethod,
};

/// A type, and what it is limited to.
struct Type {
    name: &'static str,
    /// `None`: any that can be charged.
    currency: Option<&'static str>,
    /// Whether money can be held before it is taken.
    can_be_captured_later: bool,
}

const TYPES: [Type; 4] = [
    Type {
        name: "card",
        currency: None,
        can_be_captured_later: true,
    },
    Type {
        name: "link",
        currency: None,
        can_be_captured_later: true,
    },
    Type {
        name: "sepa_debit",
        currency: Some("eur"),
        can_be_captured_later: false,
    },
    Type {
        name: "us_bank_account",
        currency: Some("usd"),
        can_be_captured_later: false,
    },
];

/// `payment_method_types[]`; empty when it was not given.
pub(super) fn parse(params: &mut Params) -> Result<Vec<String>, ApiError> {
    let types = params.list("payment_method_types")?;
    for name in &types {
        if find(name).is_none() {
            let message = format!(
                "The payment method type provided: {} is invalid.",
                shortened(name)
            );
            return Err(ApiError::invalid(message).param("payment_method_types"));
        }
    }
    Ok(types)
}

/// Refuses a currency or a way of capturing that one of the types does not have.
pub(super) fn check(
    types: &[String],
    currency: &str,
    capture_method: &str,
) -> Result<(), ApiError> {
    for kind in types.iter().filter_map(|name| find(name)) {
        let name = kind.name;
        if let Some(only) = kind.currency
            && only != currency
        {
            let message = format!(
                "The currency provided ({currency}) is invalid. Payments with {name} support the following currencies: {only}."
            );
            return Err(ApiError::invalid(message).param("currency"));
        }
        if capture_method == "manual" && !kind.can_be_captured_later {
            let message =
                format!("Payments with {name} cannot be captured later: capture_method is manual.");
            return Err(ApiError::invalid(message).param("capture_method"));
        }
    }
    Ok(())
}

/// `payment_method_options` with the defaults of each type.
pub(super) fn options(types: &[String]) -> Value {
    let mut options = Map::new();
    for name in types {
        let defaults = match name.as_str() {
            "card" => json!({
                "installments": null,
                "mandate_options": null,
                "network": null,
                "request_three_d_secure": "automatic"
            }),
            "link" => json!({ "persistent_token": null }),
            "us_bank_account" => {
                json!({ "mandate_options": {}, "verification_method": "automatic" })
            }
            _ => json!({}),
        };
        options.insert(name.clone(), defaults);
    }
    Value::Object(options)
}

impl PaymentIntent {
    /// Takes over a list of types; an empty one changes nothing.
    pub(super) fn accept_types(&mut self, types: Vec<String>) {
        if types.is_empty() {
            return;
        }
        self.automatic_payment_methods = None;
        self.payment_method_options = options(&types);
        self.payment_method_types = types;
    }

    /// Refuses a method of a type that the intent does not accept.
    pub(super) fn check_accepts(&self, method: &PaymentMethod) -> Result<(), ApiError> {
        let (kind, accepted) = (method.kind(), &self.payment_method_types);
        if accepted.iter().any(|name| name == kind) {
            return Ok(());
        }
        let accepted = accepted.join(", ");
        let message = format!(
            "This PaymentIntent does not allow a PaymentMethod of the type {kind}, only one of these: {accepted}. Attach another one, or update payment_method_types to include {kind}."
        );
        Err(ApiError::invalid(message)
            .code("payment_intent_invalid_parameter")
            .param("payment_method"))
    }
}

fn find(name: &str) -> Option<&'static Type> {
    TYPES.iter().find(|kind| kind.name == name)
}
