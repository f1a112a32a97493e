//! What goes wrong.

use std::time::Duration;

use axum::http::StatusCode;

/// What goes wrong with an API request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) enum ApiFault {
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
pub(in crate::simulator) enum WebhookFault {
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
    pub(in crate::simulator) const NAMES: [&str; 7] = [
        "drop_request",
        "drop_response",
        "delay",
        "hang",
        "error_before",
        "error_after",
        "rate_limit",
    ];

    pub(in crate::simulator) fn name(self) -> &'static str {
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
    pub(in crate::simulator) const NAMES: [&str; 5] =
        ["drop", "duplicate", "delay", "reorder", "bad_signature"];

    pub(in crate::simulator) fn name(self) -> &'static str {
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
pub(super) enum Effect {
    OnApi(ApiFault),
    OnWebhook(WebhookFault),
}
