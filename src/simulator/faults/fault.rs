//! A fault as it is asked for: in Rust by its builder, elsewhere as JSON.
//!
//! What it is on decides which faults there are: the builder offers no others, and JSON is checked when the fault
//! is armed.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::scope::On;
use crate::simulator::place::without_secrets;

/// Something that goes wrong on the way to the provider, or on the way of its webhooks.
///
/// It lets `skip` matching requests (or delivery attempts) pass, then strikes the next `times` of them, and is gone.
///
/// ```
/// use boring_checkout::simulator::Fault;
///
/// // The second and the third purchase succeed, and their answers are lost.
/// let lost = Fault::on_operation("payment_intents.create").drop_response().skip(1).times(2);
/// // Whatever is asked for with this key is answered 503, once, although it was done.
/// let lied = Fault::on_key("order-17").error_after(503);
/// // The first attempt to tell of a payment arrives three times.
/// let told = Fault::on_webhook("payment_intent.succeeded").duplicate(3);
/// ```
///
/// Its serde form is the JSON of `POST /_control/faults`. Values are checked when the fault is armed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use = "a fault does nothing until it is armed"]
pub struct Fault {
    pub(super) on: On,
    #[serde(rename = "fault")]
    pub(super) name: String,
    #[serde(default)]
    pub(in crate::simulator) skip: u32,
    #[serde(default = "once")]
    pub(in crate::simulator) times: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) delay_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) copies: Option<u32>,
}

fn once() -> u32 {
    1
}

impl Fault {
    /// On requests of one operation, such as `payment_intents.create`; `*` is every operation.
    pub fn on_operation(operation: impl Into<String>) -> OnRequests {
        OnRequests::default().operation(operation)
    }

    /// On requests with this `Idempotency-Key`.
    pub fn on_key(key: impl Into<String>) -> OnRequests {
        OnRequests::default().key(key)
    }

    /// On requests for this path, such as `/v1/payment_intents/pi_1/confirm`. It may end in `*`.
    pub fn on_path(path: impl Into<String>) -> OnRequests {
        OnRequests::default().path(path)
    }

    /// On the delivery of events of one type, such as `payment_intent.succeeded`; `*` is every type.
    pub fn on_webhook(event_type: impl Into<String>) -> OnWebhooks {
        OnWebhooks::default().webhook(event_type)
    }

    /// On whatever is delivered to the endpoint with this URL.
    pub fn on_endpoint(url: impl Into<String>) -> OnWebhooks {
        OnWebhooks::default().url(url)
    }

    /// Lets this many matching requests (or attempts) pass before it strikes. Without it: none.
    pub fn skip(mut self, skip: u32) -> Self {
        self.skip = skip;
        self
    }

    /// Strikes this often. Without it: once.
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    fn new(on: On, name: &str) -> Self {
        Self {
            on,
            name: name.to_owned(),
            skip: 0,
            times: once(),
            delay_ms: None,
            status: None,
            copies: None,
        }
    }
}

/// Which API requests a fault waits for: all that is given must match.
#[derive(Clone, Debug, Default)]
#[must_use = "say what goes wrong with them"]
pub struct OnRequests(On);

impl OnRequests {
    /// Only requests of this operation; `*` is every operation.
    pub fn operation(mut self, operation: impl Into<String>) -> Self {
        self.0.operation = Some(operation.into());
        self
    }

    /// Only requests with this `Idempotency-Key`.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.0.key = Some(key.into());
        self
    }

    /// Only requests for this path, which may end in `*`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.0.path = Some(path.into());
        self
    }

    /// Never processed; the connection is closed.
    pub fn drop_request(self) -> Fault {
        Fault::new(self.0, "drop_request")
    }

    /// Processed; the connection is closed without an answer.
    pub fn drop_response(self) -> Fault {
        Fault::new(self.0, "drop_response")
    }

    /// Processed at once, answered so much later (whole milliseconds, ten minutes at most).
    pub fn delay(self, delay: Duration) -> Fault {
        Fault {
            delay_ms: Some(milliseconds(delay)),
            ..Fault::new(self.0, "delay")
        }
    }

    /// Never processed, never answered; the connection stays open.
    pub fn hang(self) -> Fault {
        Fault::new(self.0, "hang")
    }

    /// Answered with this status (400 to 599), not processed, not stored for the key.
    pub fn error_before(self, status: u16) -> Fault {
        Fault {
            status: Some(status),
            ..Fault::new(self.0, "error_before")
        }
    }

    /// Processed, then answered with this status (400 to 599), which is stored for the key.
    pub fn error_after(self, status: u16) -> Fault {
        Fault {
            status: Some(status),
            ..Fault::new(self.0, "error_after")
        }
    }

    /// 429; not processed, not stored for the key.
    pub fn rate_limit(self) -> Fault {
        Fault::new(self.0, "rate_limit")
    }
}

/// Which delivery attempts a fault waits for: all that is given must match.
#[derive(Clone, Debug, Default)]
#[must_use = "say what goes wrong with them"]
pub struct OnWebhooks(On);

impl OnWebhooks {
    /// Only events of this type; `*` is every type.
    pub fn webhook(mut self, event_type: impl Into<String>) -> Self {
        self.0.webhook = Some(event_type.into());
        self
    }

    /// Only deliveries to the endpoint with exactly this URL.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.0.url = Some(url.into());
        self
    }

    /// Not sent. It counts as a failed attempt, and is retried.
    pub fn drop(self) -> Fault {
        Fault::new(self.0, "drop")
    }

    /// Sent this many times at once (2 to 100).
    pub fn duplicate(self, copies: u32) -> Fault {
        Fault {
            copies: Some(copies),
            ..Fault::new(self.0, "duplicate")
        }
    }

    /// Sent so much later (whole milliseconds, ten minutes at most).
    pub fn delay(self, delay: Duration) -> Fault {
        Fault {
            delay_ms: Some(milliseconds(delay)),
            ..Fault::new(self.0, "delay")
        }
    }

    /// Held back until a later event was delivered to the same endpoint.
    pub fn reorder(self) -> Fault {
        Fault::new(self.0, "reorder")
    }

    /// Sent with a signature that does not verify.
    pub fn bad_signature(self) -> Fault {
        Fault::new(self.0, "bad_signature")
    }
}

fn milliseconds(delay: Duration) -> u64 {
    u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)
}

/// `drop_response on payment_intents.create with the key order-17`
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (text, value) in [
            (" on ", &self.on.operation),
            (" on ", &self.on.webhook),
            (" with the key ", &self.on.key),
            (" at ", &self.on.path),
        ] {
            if let Some(value) = value {
                write!(f, "{text}{value}")?;
            }
        }
        if let Some(url) = &self.on.url {
            write!(f, " to {}", without_secrets(url))?;
        }
        let details = [
            ("delay_ms", self.delay_ms),
            ("status", self.status.map(u64::from)),
            ("copies", self.copies.map(u64::from)),
        ];
        for (name, value) in details {
            if let Some(value) = value {
                write!(f, ", {name} {value}")?;
            }
        }
        Ok(())
    }
}
