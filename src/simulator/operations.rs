//! The API's operations: which request is which, and what it may expand.
//!
//! Adding one is adding a line to each `match`; the compiler names the places.

use axum::http::Method;
use serde_json::Value;

use super::{call::Call, charges, error::ApiError, events, params::Params, payment_intents};

#[derive(Clone, Debug)]
pub(super) enum Operation {
    PaymentIntentsCreate,
    PaymentIntentsList,
    PaymentIntentsRetrieve(String),
    PaymentIntentsConfirm(String),
    PaymentIntentsCancel(String),
    ChargesList,
    ChargesRetrieve(String),
    EventsList,
    EventsRetrieve(String),
}

/// Every name that a fault can be put on.
pub(super) const NAMES: &[&str] = &[
    "payment_intents.create",
    "payment_intents.list",
    "payment_intents.retrieve",
    "payment_intents.confirm",
    "payment_intents.cancel",
    "charges.list",
    "charges.retrieve",
    "events.list",
    "events.retrieve",
];

impl Operation {
    /// What a request asks for. `None`: nothing has this URL.
    pub(super) fn find(method: &Method, path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.strip_prefix("/v1/")?.split('/').collect();
        if segments.iter().any(|segment| segment.is_empty()) {
            return None;
        }
        Some(match (method, segments.as_slice()) {
            (&Method::POST, ["payment_intents"]) => Self::PaymentIntentsCreate,
            (&Method::GET, ["payment_intents"]) => Self::PaymentIntentsList,
            (&Method::GET, ["payment_intents", id]) => {
                Self::PaymentIntentsRetrieve((*id).to_owned())
            }
            (&Method::POST, ["payment_intents", id, "confirm"]) => {
                Self::PaymentIntentsConfirm((*id).to_owned())
            }
            (&Method::POST, ["payment_intents", id, "cancel"]) => {
                Self::PaymentIntentsCancel((*id).to_owned())
            }
            (&Method::GET, ["charges"]) => Self::ChargesList,
            (&Method::GET, ["charges", id]) => Self::ChargesRetrieve((*id).to_owned()),
            (&Method::GET, ["events"]) => Self::EventsList,
            (&Method::GET, ["events", id]) => Self::EventsRetrieve((*id).to_owned()),
            _ => return None,
        })
    }

    /// `false`: it only reads, and any number may run at a time.
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::PaymentIntentsCreate
            | Self::PaymentIntentsConfirm(_)
            | Self::PaymentIntentsCancel(_) => true,
            Self::PaymentIntentsList
            | Self::PaymentIntentsRetrieve(_)
            | Self::ChargesList
            | Self::ChargesRetrieve(_)
            | Self::EventsList
            | Self::EventsRetrieve(_) => false,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::PaymentIntentsCreate => "payment_intents.create",
            Self::PaymentIntentsList => "payment_intents.list",
            Self::PaymentIntentsRetrieve(_) => "payment_intents.retrieve",
            Self::PaymentIntentsConfirm(_) => "payment_intents.confirm",
            Self::PaymentIntentsCancel(_) => "payment_intents.cancel",
            Self::ChargesList => "charges.list",
            Self::ChargesRetrieve(_) => "charges.retrieve",
            Self::EventsList => "events.list",
            Self::EventsRetrieve(_) => "events.retrieve",
        }
    }

    /// The ids in the answer that `expand[]` may replace by their objects.
    pub(super) fn expandable(&self) -> &'static [&'static str] {
        match self {
            Self::PaymentIntentsCreate
            | Self::PaymentIntentsRetrieve(_)
            | Self::PaymentIntentsConfirm(_)
            | Self::PaymentIntentsCancel(_) => &["customer", "latest_charge", "payment_method"],
            Self::PaymentIntentsList => {
                &["data.customer", "data.latest_charge", "data.payment_method"]
            }
            Self::ChargesRetrieve(_) => &["customer", "payment_intent"],
            Self::ChargesList => &["data.customer", "data.payment_intent"],
            Self::EventsList | Self::EventsRetrieve(_) => &[],
        }
    }

    pub(super) async fn run(self, call: &mut Call<'_>, params: Params) -> Result<Value, ApiError> {
        match self {
            Self::PaymentIntentsCreate => payment_intents::create(call, params).await,
            Self::PaymentIntentsList => payment_intents::list(call, params).await,
            Self::PaymentIntentsRetrieve(id) => payment_intents::retrieve(call, &id, params).await,
            Self::PaymentIntentsConfirm(id) => payment_intents::confirm(call, &id, params).await,
            Self::PaymentIntentsCancel(id) => payment_intents::cancel(call, &id, params).await,
            Self::ChargesList => charges::list(call, params).await,
            Self::ChargesRetrieve(id) => charges::retrieve(call, &id, params).await,
            Self::EventsList => events::list(call, params).await,
            Self::EventsRetrieve(id) => events::retrieve(call, &id, params).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use super::{NAMES, Operation};

    #[test]
    fn every_route_has_a_name_that_faults_know() {
        for (method, path) in [
            (Method::POST, "/v1/payment_intents"),
            (Method::GET, "/v1/payment_intents"),
            (Method::GET, "/v1/payment_intents/pi_1"),
            (Method::POST, "/v1/payment_intents/pi_1/confirm"),
            (Method::POST, "/v1/payment_intents/pi_1/cancel"),
            (Method::GET, "/v1/charges"),
            (Method::GET, "/v1/charges/ch_1"),
            (Method::GET, "/v1/events"),
            (Method::GET, "/v1/events/evt_1"),
        ] {
            let operation = Operation::find(&method, path).unwrap();
            assert!(NAMES.contains(&operation.name()), "{}", operation.name());
        }
    }

    #[test]
    fn what_is_not_listed_does_not_exist() {
        for path in [
            "/v1",
            "/v1/",
            "/v1/payment_intents/",
            "/v1//x",
            "/v2/payment_intents",
            "/v1/unknown",
        ] {
            assert!(Operation::find(&Method::GET, path).is_none(), "{path}");
        }
        assert!(Operation::find(&Method::DELETE, "/v1/payment_intents/pi_1").is_none());
    }
}
