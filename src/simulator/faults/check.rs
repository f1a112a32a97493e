//! Checking a fault: one that is to be armed, or one that a request asks for in its `Boring-Fault` header.
//!
//! A fault that would never strike, or not as its author thinks, is refused with a sentence that says why.

use std::time::Duration;

use axum::http::StatusCode;

use super::{ApiFault, Fault, WebhookFault, effect::Effect};
use crate::simulator::{form::shortened, refused::Refused};

/// Longer than any client waits. A longer delay is a `hang`.
const MAX_DELAY_MS: u64 = 10 * 60 * 1000;

const MAX_COPIES: u32 = 100;

/// What some faults need to know besides their name.
#[derive(Clone, Copy, Debug, Default)]
struct Details {
    delay_ms: Option<u64>,
    status: Option<u16>,
    copies: Option<u32>,
}

impl Fault {
    /// Reads the body of `POST /_control/faults`. Values are checked by [`Fault::effect`].
    pub(in crate::simulator) fn from_json(body: &[u8]) -> Result<Self, Refused> {
        serde_json::from_slice(body)
            .map_err(|error| Refused::new(format!("This is not a fault: {error}. One is {{\"on\": {{\"operation\": \"payment_intents.create\"}}, \"fault\": \"drop_response\"}}.")))
    }

    /// Checks the whole and returns what it will do.
    pub(super) fn effect(&self) -> Result<Effect, Refused> {
        if self.times == 0 {
            return Err(Refused::new("A fault with times 0 never strikes.").param("times"));
        }
        let details = Details {
            delay_ms: self.delay_ms,
            status: self.status,
            copies: self.copies,
        };
        match (self.on.is_on_requests(), self.on.is_on_webhooks()) {
            (true, false) => {
                self.on.check_requests()?;
                details.api_fault(&self.name).map(Effect::OnApi)
            }
            (false, true) => {
                self.on.check_webhooks()?;
                details.webhook_fault(&self.name).map(Effect::OnWebhook)
            }
            _ => Err(Refused::new(
                "A fault is on one of the two: {\"operation\": …, \"key\": …, \"path\": …} or \
                 {\"webhook\": …, \"url\": …}.",
            )
            .param("on")),
        }
    }
}

/// `Boring-Fault: error_after; status=503` asks for one fault on this request alone.
pub(in crate::simulator) fn from_header(value: &str) -> Result<ApiFault, Refused> {
    let mut parts = value.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let mut details = Details::default();
    for part in parts.filter(|part| !part.is_empty()) {
        let malformed = || {
            let message = format!(
                "Boring-Fault: {} is neither delay_ms=… nor status=….",
                shortened(part)
            );
            Refused::new(message).param("Boring-Fault")
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
    fn api_fault(&self, name: &str) -> Result<ApiFault, Refused> {
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
            _ => Err(unknown(name, &ApiFault::NAMES)),
        }
    }

    fn webhook_fault(&self, name: &str) -> Result<WebhookFault, Refused> {
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
            _ => Err(unknown(name, &WebhookFault::NAMES)),
        }
    }

    /// Refuses a detail that this fault would not look at.
    fn only(&self, name: &str, allowed: &[&str]) -> Result<(), Refused> {
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
                Err(Refused::new(format!("The fault {name} takes no {detail}.")).param(detail))
            }
            None => Ok(()),
        }
    }

    fn delay(&self) -> Result<Duration, Refused> {
        match self.delay_ms {
            Some(delay_ms) if delay_ms <= MAX_DELAY_MS => Ok(Duration::from_millis(delay_ms)),
            _ => {
                let message = format!(
                    "A delay needs delay_ms, between 0 and {MAX_DELAY_MS}; in the header: delay; delay_ms=300."
                );
                Err(Refused::new(message).param("delay_ms"))
            }
        }
    }

    fn status(&self) -> Result<StatusCode, Refused> {
        let status = StatusCode::from_u16(self.status.unwrap_or(500)).ok();
        status
            .filter(|status| status.is_client_error() || status.is_server_error())
            .ok_or_else(|| {
                Refused::new("The status of an error is between 400 and 599.").param("status")
            })
    }

    fn copies(&self) -> Result<u32, Refused> {
        match self.copies.unwrap_or(2) {
            copies @ 2..=MAX_COPIES => Ok(copies),
            _ => {
                Err(Refused::new(format!("copies is between 2 and {MAX_COPIES}.")).param("copies"))
            }
        }
    }
}

fn unknown(name: &str, known: &[&str]) -> Refused {
    Refused::new(format!(
        "There is no fault {} here. It is one of {}.",
        shortened(name),
        known.join(", ")
    ))
    .param("fault")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::StatusCode;
    use serde_json::{Value, json};

    use super::{ApiFault, Fault, from_header};

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
            Fault::from_json(spec.to_string().as_bytes())
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
