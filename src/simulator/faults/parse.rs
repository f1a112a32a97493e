//! Reading a fault: from `POST /_control/faults`, or from a request's `Boring-Fault` header.
//!
//! A fault that would never strike, or not as its author thinks, is refused with a sentence that says why.

use std::time::Duration;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::{ApiFault, Effect, WebhookFault};
use crate::simulator::{error::ApiError, form::shortened, operations::Operation};

/// Longer than any client waits. A longer delay is a `hang`.
const MAX_DELAY_MS: u64 = 10 * 60 * 1000;

const MAX_COPIES: u32 = 100;

/// A fault as it is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::simulator) struct FaultSpec {
    on: On,
    fault: String,
    #[serde(default)]
    skip: u32,
    #[serde(default = "once")]
    times: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copies: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct On {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    webhook: Option<String>,
}

/// What some faults need to know besides their name.
#[derive(Clone, Copy, Debug, Default)]
struct Details {
    delay_ms: Option<u64>,
    status: Option<u16>,
    copies: Option<u32>,
}

fn once() -> u32 {
    1
}

impl FaultSpec {
    pub(in crate::simulator) fn from_json(body: &[u8]) -> Result<Self, ApiError> {
        serde_json::from_slice(body)
            .map_err(|error| ApiError::invalid(format!("This is not a fault: {error}.")))
    }

    pub(super) fn skip(&self) -> u32 {
        self.skip
    }

    pub(super) fn times(&self) -> u32 {
        self.times
    }

    pub(super) fn is_on_operation(&self, operation: &str) -> bool {
        self.on
            .operation
            .as_deref()
            .is_some_and(|on| on == "*" || on == operation)
    }

    pub(super) fn is_on_webhook(&self, kind: &str) -> bool {
        self.on
            .webhook
            .as_deref()
            .is_some_and(|on| on == "*" || on == kind)
    }

    fn details(&self) -> Details {
        Details {
            delay_ms: self.delay_ms,
            status: self.status,
            copies: self.copies,
        }
    }

    /// Checks the whole and returns what it will do.
    pub(super) fn effect(&self) -> Result<Effect, ApiError> {
        if self.times == 0 {
            return Err(ApiError::invalid("A fault with times 0 never strikes.").param("times"));
        }
        match (&self.on.operation, &self.on.webhook) {
            (Some(operation), None) => {
                if operation != "*" && !Operation::names().any(|name| name == operation) {
                    let names = Operation::names().collect::<Vec<_>>().join(", ");
                    let message = format!(
                        "There is no operation {}. It is * or one of {names}.",
                        shortened(operation)
                    );
                    return Err(ApiError::invalid(message).param("on[operation]"));
                }
                self.details().api_fault(&self.fault).map(Effect::OnApi)
            }
            (None, Some(kind)) => {
                if kind != "*" && !kind.contains('.') {
                    let message = "A webhook is named by its event type, such as payment_intent.succeeded, or *.";
                    return Err(ApiError::invalid(message).param("on[webhook]"));
                }
                self.details()
                    .webhook_fault(&self.fault)
                    .map(Effect::OnWebhook)
            }
            _ => {
                let message =
                    "A fault is on one of the two: {\"operation\": …} or {\"webhook\": …}.";
                Err(ApiError::invalid(message).param("on"))
            }
        }
    }
}

/// `Boring-Fault: error_after; status=503` asks for one fault on this request alone.
pub(in crate::simulator) fn from_header(value: &str) -> Result<ApiFault, ApiError> {
    let mut parts = value.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let mut details = Details::default();
    for part in parts.filter(|part| !part.is_empty()) {
        let malformed = || {
            let message = format!(
                "Boring-Fault: {} is neither delay_ms=… nor status=….",
                shortened(part)
            );
            ApiError::invalid(message).param("Boring-Fault")
        };
        let (key, number) = part.split_once('=').ok_or_else(malformed)?;
        match key.trim() {
            "delay_ms" => details.delay_ms = Some(number.trim().parse().map_err(|_| malformed())?),
            "status" => details.status = Some(number.trim().parse().map_err(|_| malformed())?),
            _ => return Err(malformed()),
        }
    }
    details.api_fault(name)
}

impl Details {
    fn api_fault(&self, name: &str) -> Result<ApiFault, ApiError> {
        match name {
            "drop_request" => self.only(name, &[]).map(|()| ApiFault::DropRequest),
            "drop_response" => self.only(name, &[]).map(|()| ApiFault::DropResponse),
            "delay" => self
                .only(name, &["delay_ms"])
                .and_then(|()| self.delay())
                .map(ApiFault::Delay),
            "hang" => self.only(name, &[]).map(|()| ApiFault::Hang),
            "error_before" => self
                .only(name, &["status"])
                .and_then(|()| self.status())
                .map(ApiFault::ErrorBefore),
            "error_after" => self
                .only(name, &["status"])
                .and_then(|()| self.status())
                .map(ApiFault::ErrorAfter),
            "rate_limit" => self.only(name, &[]).map(|()| ApiFault::RateLimit),
            _ => Err(unknown(
                name,
                "drop_request, drop_response, delay, hang, error_before, error_after, rate_limit",
            )),
        }
    }

    fn webhook_fault(&self, name: &str) -> Result<WebhookFault, ApiError> {
        match name {
            "drop" => self.only(name, &[]).map(|()| WebhookFault::Drop),
            "duplicate" => self
                .only(name, &["copies"])
                .and_then(|()| self.copies())
                .map(WebhookFault::Duplicate),
            "delay" => self
                .only(name, &["delay_ms"])
                .and_then(|()| self.delay())
                .map(WebhookFault::Delay),
            "reorder" => self.only(name, &[]).map(|()| WebhookFault::Reorder),
            "bad_signature" => self.only(name, &[]).map(|()| WebhookFault::BadSignature),
            _ => Err(unknown(
                name,
                "drop, duplicate, delay, reorder, bad_signature",
            )),
        }
    }

    /// Refuses a detail that this fault would not look at.
    fn only(&self, name: &str, allowed: &[&str]) -> Result<(), ApiError> {
        let given = [
            ("delay_ms", self.delay_ms.is_some()),
            ("status", self.status.is_some()),
            ("copies", self.copies.is_some()),
        ];
        match given
            .iter()
            .find(|(detail, is_given)| *is_given && !allowed.contains(detail))
        {
            Some((detail, _)) => {
                Err(ApiError::invalid(format!("The fault {name} takes no {detail}.")).param(detail))
            }
            None => Ok(()),
        }
    }

    fn delay(&self) -> Result<Duration, ApiError> {
        match self.delay_ms {
            Some(delay_ms) if delay_ms <= MAX_DELAY_MS => Ok(Duration::from_millis(delay_ms)),
            _ => {
                let message = format!("A delay needs delay_ms, between 0 and {MAX_DELAY_MS}.");
                Err(ApiError::invalid(message).param("delay_ms"))
            }
        }
    }

    fn status(&self) -> Result<StatusCode, ApiError> {
        let status = StatusCode::from_u16(self.status.unwrap_or(500)).ok();
        status
            .filter(|status| status.is_client_error() || status.is_server_error())
            .ok_or_else(|| {
                ApiError::invalid("The status of an error is between 400 and 599.").param("status")
            })
    }

    fn copies(&self) -> Result<u32, ApiError> {
        match self.copies.unwrap_or(2) {
            copies @ 2..=MAX_COPIES => Ok(copies),
            _ => Err(
                ApiError::invalid(format!("copies is between 2 and {MAX_COPIES}.")).param("copies"),
            ),
        }
    }
}

fn unknown(name: &str, known: &str) -> ApiError {
    ApiError::invalid(format!(
        "There is no fault {} here. It is one of {known}.",
        shortened(name)
    ))
    .param("fault")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::StatusCode;
    use serde_json::{Value, json};

    use super::{ApiFault, FaultSpec, from_header};

    #[test]
    fn a_header_asks_for_a_fault_and_its_details() {
        assert_eq!(
            from_header("drop_response").unwrap(),
            ApiFault::DropResponse
        );
        assert_eq!(
            from_header("delay; delay_ms=500").unwrap(),
            ApiFault::Delay(Duration::from_millis(500))
        );
        assert_eq!(
            from_header("error_after;status=503").unwrap(),
            ApiFault::ErrorAfter(StatusCode::SERVICE_UNAVAILABLE)
        );
        for wrong in [
            "",
            "nonsense",
            "delay",
            "delay; delay_ms=x",
            "hang; status=500",
            "error_after; status=200",
        ] {
            assert!(from_header(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_fault_that_would_never_strike_is_refused() {
        let refused = |spec: Value| {
            FaultSpec::from_json(spec.to_string().as_bytes())
                .and_then(|spec| spec.effect())
                .is_err()
        };
        assert!(!refused(json!({"on": {"operation": "*"}, "fault": "hang"})));
        assert!(refused(json!({"on": {}, "fault": "hang"})));
        assert!(refused(
            json!({"on": {"operation": "*", "webhook": "*"}, "fault": "delay", "delay_ms": 1})
        ));
        assert!(refused(
            json!({"on": {"operation": "payment_intent.create"}, "fault": "hang"})
        ));
        assert!(refused(
            json!({"on": {"operation": "*"}, "fault": "duplicate"})
        ));
        assert!(refused(
            json!({"on": {"webhook": "*"}, "fault": "drop_response"})
        ));
        assert!(refused(
            json!({"on": {"webhook": "*"}, "fault": "duplicate", "copies": 1})
        ));
        assert!(refused(
            json!({"on": {"operation": "*"}, "fault": "hang", "times": 0})
        ));
        assert!(refused(
            json!({"on": {"operation": "*"}, "fault": "hang", "tmes": 2})
        ));
        assert!(refused(json!(["hang"])));
    }
}
