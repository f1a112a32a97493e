//! Faults: what goes wrong on the way to a payment provider, at the moment a test asks for it.
//!
//! ```text
//! client ── request ──► │ drop_request, hang, error_before, rate_limit      nothing happened
//!                       │    the operation, committed
//! client ◄── answer ─── │ drop_response, delay, error_after                 it happened
//! ```
//!
//! A fault waits for requests of one operation (or for webhooks of one event type): it lets `skip` of them pass
//! and then strikes `times` of them. Every matching fault counts every request, and the oldest one that is due
//! strikes. Faults are kept in memory; a restart clears them.

mod parse;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;

pub(super) use self::parse::{FaultSpec, from_header};
use super::error::ApiError;

/// More waiting faults than any test sets by hand; a loop that forgot to clear them ends here.
const MAX_FAULTS: usize = 1000;

/// What goes wrong with an API request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiFault {
    /// Never processed; the connection is closed.
    DropRequest,
    /// Processed; the connection is closed without an answer.
    DropResponse,
    /// Processed at once, answered later.
    Delay(Duration),
    /// Never processed, never answered, and the connection stays open.
    Hang,
    /// Not processed, nothing stored.
    ErrorBefore(StatusCode),
    /// Processed, and then this status is answered and stored for the key.
    ErrorAfter(StatusCode),
    /// 429: not processed, nothing stored.
    RateLimit,
}

/// What goes wrong with a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WebhookFault {
    /// Not sent. It counts as a failed attempt and is retried.
    Drop,
    /// Sent this many times at once.
    Duplicate(u32),
    Delay(Duration),
    /// Held back until a later event was delivered.
    Reorder,
    BadSignature,
}

impl ApiFault {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DropRequest => "drop_request",
            Self::DropResponse => "drop_response",
            Self::Delay(_) => "delay",
            Self::Hang => "hang",
            Self::ErrorBefore(_) => "error_before",
            Self::ErrorAfter(_) => "error_after",
            Self::RateLimit => "rate_limit",
        }
    }
}

impl WebhookFault {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Duplicate(_) => "duplicate",
            Self::Delay(_) => "delay",
            Self::Reorder => "reorder",
            Self::BadSignature => "bad_signature",
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    OnApi(ApiFault),
    OnWebhook(WebhookFault),
}

/// A fault that waits for its moment.
#[derive(Debug)]
struct Armed {
    id: u64,
    spec: FaultSpec,
    effect: Effect,
    seen: u32,
    struck: u32,
}

/// All faults that wait.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    last_id: u64,
    faults: Vec<Armed>,
}

impl Faults {
    /// Arms a fault and returns it as the API shows it.
    pub(super) fn add(&self, spec: FaultSpec) -> Result<Value, ApiError> {
        let effect = spec.effect()?;
        self.with(|waiting| {
            if waiting.faults.len() >= MAX_FAULTS {
                return Err(ApiError::invalid(format!(
                    "There are {MAX_FAULTS} faults waiting already: clear them."
                )));
            }
            waiting.last_id += 1;
            let fault = Armed {
                id: waiting.last_id,
                spec,
                effect,
                seen: 0,
                struck: 0,
            };
            let shown = fault.show();
            waiting.faults.push(fault);
            Ok(shown)
        })
    }

    pub(super) fn list(&self) -> Vec<Value> {
        self.with(|waiting| waiting.faults.iter().map(Armed::show).collect())
    }

    /// Returns how many there were.
    pub(super) fn clear(&self) -> usize {
        self.with(|waiting| waiting.faults.drain(..).count())
    }

    /// The fault that strikes a request of this operation.
    pub(super) fn strike_api(&self, operation: &str) -> Option<ApiFault> {
        self.strike(|fault| match fault.effect {
            Effect::OnApi(effect) => fault.spec.is_on_operation(operation).then_some(effect),
            Effect::OnWebhook(_) => None,
        })
    }

    /// The fault that strikes a delivery of an event of this type.
    pub(super) fn strike_webhook(&self, kind: &str) -> Option<WebhookFault> {
        self.strike(|fault| match fault.effect {
            Effect::OnWebhook(effect) => fault.spec.is_on_webhook(kind).then_some(effect),
            Effect::OnApi(_) => None,
        })
    }

    fn strike<T>(&self, effect_on_this: impl Fn(&Armed) -> Option<T>) -> Option<T> {
        self.with(|waiting| {
            let mut struck = None;
            for fault in &mut waiting.faults {
                let Some(effect) = effect_on_this(fault) else {
                    continue;
                };
                fault.seen = fault.seen.saturating_add(1);
                if struck.is_none() && fault.seen > fault.spec.skip() {
                    fault.struck += 1;
                    struck = Some(effect);
                }
            }
            waiting
                .faults
                .retain(|fault| fault.struck < fault.spec.times());
            struck
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Waiting) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Armed {
    fn show(&self) -> Value {
        #[derive(Serialize)]
        struct Shown<'a> {
            id: u64,
            #[serde(flatten)]
            spec: &'a FaultSpec,
            seen: u32,
            struck: u32,
        }
        let shown = Shown {
            id: self.id,
            spec: &self.spec,
            seen: self.seen,
            struck: self.struck,
        };
        serde_json::to_value(shown).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ApiFault, FaultSpec, Faults};

    fn armed(faults: &[Value]) -> Faults {
        let armed = Faults::default();
        for fault in faults {
            armed
                .add(FaultSpec::from_json(fault.to_string().as_bytes()).unwrap())
                .unwrap();
        }
        armed
    }

    #[test]
    fn a_fault_skips_then_strikes_then_is_gone() {
        let faults = armed(&[
            json!({"on": {"operation": "payment_intents.create"}, "fault": "hang", "skip": 1, "times": 2}),
        ]);
        let strikes: Vec<bool> = (0..5)
            .map(|_| faults.strike_api("payment_intents.create").is_some())
            .collect();
        assert_eq!(strikes, [false, true, true, false, false]);
        assert!(faults.list().is_empty());
    }

    #[test]
    fn two_faults_count_the_same_requests() {
        let faults = armed(&[
            json!({"on": {"operation": "*"}, "fault": "drop_request"}),
            json!({"on": {"operation": "*"}, "fault": "drop_response", "skip": 1}),
        ]);
        assert_eq!(
            faults.strike_api("events.list"),
            Some(ApiFault::DropRequest)
        );
        assert_eq!(
            faults.strike_api("events.list"),
            Some(ApiFault::DropResponse)
        );
        assert_eq!(faults.strike_api("events.list"), None);
    }

    #[test]
    fn a_webhook_fault_leaves_requests_alone() {
        let faults = armed(&[json!({"on": {"webhook": "*"}, "fault": "drop"})]);
        assert_eq!(faults.strike_api("payment_intents.create"), None);
        assert!(faults.strike_webhook("payment_intent.succeeded").is_some());
    }
}
