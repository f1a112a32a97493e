//! `/_control`: the levers of the simulator, which no payment provider has.
//!
//! JSON in and out, the same key as the API, errors in the same envelope.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path, RawQuery, Request, State},
    http::{HeaderValue, Method, Response, StatusCode, Uri},
    middleware::{self, Next},
    response::IntoResponse,
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    API_VERSION, Shared,
    answer::{Addressee, Answer},
    clock,
    error::ApiError,
    faults::FaultSpec,
    ids, ledger,
    params::Params,
    webhook_endpoints, webhooks,
};

/// Redelivering more often than this at once is a mistake.
const MAX_COPIES: u32 = 100;

pub(super) fn router(shared: &Arc<Shared>) -> Router<Arc<Shared>> {
    Router::new()
        .route("/ledger", get(show_ledger))
        .route("/requests", get(show_requests))
        .route("/deliveries", get(show_deliveries))
        .route(
            "/faults",
            get(list_faults).post(add_fault).delete(clear_faults),
        )
        .route("/events/{event}/deliver", post(deliver_event))
        .route("/webhook_endpoints/{endpoint}/roll", post(roll_secret))
        .route("/clock", get(show_clock).post(move_clock))
        .route("/reset", post(reset))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(middleware::from_fn_with_state(
            Arc::clone(shared),
            check_key,
        ))
}

async fn check_key(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Result<Response<Body>, ApiError> {
    shared.key.check(request.headers())?;
    Ok(next.run(request).await)
}

async fn show_ledger(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
) -> Result<Shown, ApiError> {
    let mut params = Params::decode(query.unwrap_or_default().as_bytes())?;
    let metadata = params.metadata()?.unwrap_or_default();
    params.finish()?;
    let mut tx = shared.store.read().await?;
    Ok(Shown(ledger::read(&mut tx, &metadata).await?))
}

async fn show_requests(State(shared): State<Arc<Shared>>) -> Shown {
    Shown(json!({ "data": shared.journal.read() }))
}

async fn show_deliveries(State(shared): State<Arc<Shared>>) -> Result<Shown, ApiError> {
    let mut tx = shared.store.read().await?;
    Ok(Shown(json!({ "data": webhooks::journal(&mut tx).await? })))
}

async fn list_faults(State(shared): State<Arc<Shared>>) -> Shown {
    Shown(json!({ "data": shared.faults.list() }))
}

async fn add_fault(State(shared): State<Arc<Shared>>, body: Bytes) -> Result<Shown, ApiError> {
    Ok(Shown(shared.faults.add(FaultSpec::from_json(&body)?)?))
}

async fn clear_faults(State(shared): State<Arc<Shared>>) -> Shown {
    Shown(json!({ "cleared": shared.faults.clear() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeliverEvent {
    #[serde(default = "one_copy")]
    copies: u32,
}

fn one_copy() -> u32 {
    1
}

/// Delivers an event again, now, and tells what its receivers said.
async fn deliver_event(
    State(shared): State<Arc<Shared>>,
    Path(event): Path<String>,
    body: Bytes,
) -> Result<Shown, ApiError> {
    let wanted: DeliverEvent = parse(if body.is_empty() { b"{}" } else { &body })?;
    if !(1..=MAX_COPIES).contains(&wanted.copies) {
        return Err(
            ApiError::invalid(format!("copies is between 1 and {MAX_COPIES}.")).param("copies"),
        );
    }
    let sent = webhooks::send_now(&shared, &event, wanted.copies).await?;
    let sent =
        sent.ok_or_else(|| ApiError::missing("event", &event, "id").status(StatusCode::NOT_FOUND))?;
    let deliveries: Vec<Value> = sent
        .into_iter()
        .map(|(url, reception)| match reception {
            Ok(status) => json!({ "url": url, "status": status, "error": null }),
            Err(error) => json!({ "url": url, "status": null, "error": error }),
        })
        .collect();
    Ok(Shown(json!({ "event": event, "deliveries": deliveries })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RollSecret {
    #[serde(default = "a_day")]
    overlap_seconds: i64,
}

fn a_day() -> i64 {
    24 * 60 * 60
}

/// Gives an endpoint a new secret, as one does at Stripe's Dashboard.
async fn roll_secret(
    State(shared): State<Arc<Shared>>,
    Path(endpoint): Path<String>,
    body: Bytes,
) -> Result<Shown, ApiError> {
    let RollSecret { overlap_seconds } = parse(if body.is_empty() { b"{}" } else { &body })?;
    let mut tx = shared.store.begin().await?;
    let now = shared.clock.now();
    let rolled = webhook_endpoints::roll(&mut tx, &endpoint, overlap_seconds, now).await?;
    tx.commit().await?;
    Ok(Shown(rolled))
}

async fn show_clock(State(shared): State<Arc<Shared>>) -> Shown {
    Shown(json!({ "now": shared.clock.now(), "offset_seconds": shared.clock.offset() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveClock {
    advance_seconds: i64,
}

/// Moves the clock forward. Going back would un-expire keys, so it is refused.
async fn move_clock(State(shared): State<Arc<Shared>>, body: Bytes) -> Result<Shown, ApiError> {
    let MoveClock { advance_seconds } = parse(&body)?;
    if !(0..=clock::MAX_ADVANCE_SECONDS).contains(&advance_seconds) {
        let message = format!(
            "advance_seconds is between 0 and {}.",
            clock::MAX_ADVANCE_SECONDS
        );
        return Err(ApiError::invalid(message).param("advance_seconds"));
    }
    let mut tx = shared.store.begin().await?;
    let offset = clock::advance(&mut tx, advance_seconds).await?;
    tx.commit().await?;
    shared.clock.set_offset(offset);
    shared.wake.notify_one();
    Ok(show_clock(State(shared)).await)
}

/// Forgets everything but the configured webhook endpoints.
async fn reset(State(shared): State<Arc<Shared>>) -> Result<Shown, ApiError> {
    let mut tx = shared.store.begin().await?;
    for forget in [
        "delete from delivery_attempts",
        "delete from deliveries",
        "delete from objects where kind <> 'webhook_endpoint'",
        "delete from idempotency_keys",
        "update clock set offset_seconds = 0",
    ] {
        sqlx::query(forget)
            .execute(&mut *tx)
            .await
            .map_err(ApiError::from)?;
    }
    let now = chrono::Utc::now().timestamp();
    webhook_endpoints::restore(&mut tx, &shared.webhooks, now).await?;
    tx.commit().await?;
    shared.clock.set_offset(0);
    shared.faults.clear();
    shared.journal.clear();
    Ok(Shown(json!({ "reset": true })))
}

/// Also the answer to every URL outside `/v1` and `/_control`.
pub(super) async fn unknown(method: Method, uri: Uri) -> ApiError {
    ApiError::unrecognized_url(method.as_str(), uri.path())
}

fn parse<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::invalid(format!("This body is not what it should be: {error}.")))
}

/// A JSON answer.
struct Shown(Value);

impl IntoResponse for Shown {
    fn into_response(self) -> Response<Body> {
        Answer::new(StatusCode::OK, &self.0).into_response(addressee(ids::request_id()))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response<Body> {
        if let Some(cause) = &self.cause {
            tracing::error!(error = %cause, "a control request failed");
        }
        let request_id = ids::request_id();
        let now = chrono::Utc::now().timestamp();
        Answer::refusal(&self, &request_id, now).into_response(addressee(request_id))
    }
}

fn addressee(request_id: String) -> Addressee {
    Addressee {
        request_id,
        version: HeaderValue::from_static(API_VERSION),
        key: None,
    }
}
