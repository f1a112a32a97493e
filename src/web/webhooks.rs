//! `POST /webhooks/provider`: 200 once the event is committed, or was before.

use axum::{
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode},
};

use super::{metrics::Delivery, problem::Problem};
use crate::{
    app::App,
    webhooks::{Event, Received, receive as process, signature},
};

/// The longest body that is read. The provider's events are a few kilobytes.
pub const BODY_MAX: usize = 256 * 1024;

/// Receives one delivery of an event. Nothing is parsed before the signature over the raw bytes was found good.
pub async fn receive(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<&'static str, Problem> {
    let received = take(&app, &headers, body).await;
    app.metrics.count_webhook(match &received {
        Ok(received) => Delivery::Received(*received),
        Err(problem) if problem.status < 500 => Delivery::Refused,
        Err(_) => Delivery::Failed,
    });
    received.map(|_| "")
}

async fn take(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Received, Problem> {
    let body = body.map_err(|rejection| Problem::new(rejection.status(), rejection.body_text()))?;
    let now = app.till.clock.now();
    let signature = headers.get("stripe-signature");
    let signature = signature
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    signature::verify(signature, &body, &app.webhook_secrets, now.timestamp()).map_err(
        |error| {
            tracing::warn!(reason = ?error, "webhook refused: {error}");
            Problem::new(StatusCode::BAD_REQUEST, error.to_string())
        },
    )?;
    let event = Event::parse(&body, app.till.provider.is_live())
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.to_string()))?;
    process(&app.till.db, &event, now).await.map_err(|error| {
        let checkout = event.checkout.map(tracing::field::display);
        tracing::error!(checkout.id = checkout, event.id, %error, "webhook not processed");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "please send it again")
    })
}
