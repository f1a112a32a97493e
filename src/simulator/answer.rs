//! Answers: status, body, and the headers that SDKs read.

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
};
use serde_json::Value;

use super::error::ApiError;

/// What a request is answered with; and, for a key, what is stored.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    /// `Stripe-Should-Retry`; `None` lets the client decide by the status.
    pub(super) should_retry: Option<bool>,
    /// The request that was executed for the key; itself, unless this is a replay.
    pub(super) original_request: Option<String>,
    pub(super) replayed: bool,
}

/// Which request an answer belongs to, for its headers.
#[derive(Debug)]
pub(super) struct Addressee {
    pub(super) request_id: String,
    pub(super) version: HeaderValue,
    /// The `Idempotency-Key` header, echoed as it came.
    pub(super) key: Option<HeaderValue>,
}

impl Answer {
    pub(super) fn new(status: StatusCode, body: &Value) -> Self {
        Self {
            status,
            body: body.to_string().into_bytes(),
            should_retry: None,
            original_request: None,
            replayed: false,
        }
    }

    pub(super) fn refusal(error: &ApiError, request_id: &str, now: i64) -> Self {
        Self {
            should_retry: error.should_retry,
            ..Self::new(error.status, &error.body(request_id, now))
        }
    }

    pub(super) fn into_response(self, to: Addressee) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("no-cache, no-store"),
        );
        headers.insert("stripe-version", to.version);
        insert(headers, "request-id", &to.request_id);
        if let Some(key) = to.key {
            headers.insert("idempotency-key", key);
        }
        if let Some(original) = &self.original_request {
            insert(headers, "original-request", original);
        }
        // Absent, not `false`, on the first execution.
        if self.replayed {
            insert(headers, "idempotent-replayed", "true");
        }
        if let Some(should_retry) = self.should_retry {
            insert(
                headers,
                "stripe-should-retry",
                if should_retry { "true" } else { "false" },
            );
        }
        response
    }
}

/// Request ids are letters and digits, so the conversion never fails on them.
fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}
