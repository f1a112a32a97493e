//! `/_control`: the controls over HTTP.
//!
//! JSON in and out, the same key as the API, errors in the same envelope.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{OriginalUri, RawQuery, Request, State},
    http::{HeaderValue, Method, Response, StatusCode},
    middleware::{self, Next},
    response::IntoResponse,
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Control, body::WholeBody};
use crate::simulator::{
    API_VERSION, Shared,
    answer::{Addressee, Answer},
    error::ApiError,
    faults::{Chaos, Fault},
    ids,
    params::Params,
    path_id::PathId,
};

pub(in crate::simulator) fn router(shared: &Arc<Shared>) -> Router<Arc<Shared>> {
    Router::new()
        .route("/ledger", get(show_ledger))
        .route("/requests", get(show_requests))
        .route("/deliveries", get(show_deliveries))
        .route(
            "/faults",
            get(list_faults).post(add_fault).delete(clear_faults),
        )
        .route(
            "/chaos",
            get(show_chaos).post(start_chaos).delete(end_chaos),
        )
        .route("/events/{event}/deliver", post(deliver_event))
        .route("/webhook_endpoints/{endpoint}/roll", post(roll_secret))
        .route("/clock", get(show_clock).post(move_clock))
        .route("/settle", post(settle))
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
    State(control): State<Control>,
    RawQuery(query): RawQuery,
) -> Result<Shown, ApiError> {
    let mut params = Params::decode(query.unwrap_or_default().as_bytes())?;
    let metadata = params.metadata()?;
    params.finish()?;
    Shown::new(control.read_ledger(&metadata).await?)
}

async fn show_requests(State(control): State<Control>) -> Result<Shown, ApiError> {
    Shown::list(control.requests())
}

async fn show_deliveries(State(control): State<Control>) -> Result<Shown, ApiError> {
    Shown::list(control.deliveries().await?)
}

async fn list_faults(State(control): State<Control>) -> Result<Shown, ApiError> {
    Shown::list(control.faults())
}

async fn add_fault(
    State(control): State<Control>,
    WholeBody(body): WholeBody,
) -> Result<Shown, ApiError> {
    Shown::new(control.arm(Fault::from_json(&body)?)?)
}

async fn clear_faults(State(control): State<Control>) -> Shown {
    Shown(json!({ "cleared": control.clear_faults() }))
}

/// The same members whether there is chaos or not: without, there is no seed.
async fn show_chaos(State(control): State<Control>) -> Result<Shown, ApiError> {
    match control.chaos() {
        Some(chaos) => Shown::new(chaos),
        None => Ok(Shown(json!({ "seed": null, "rates": {} }))),
    }
}

async fn start_chaos(
    State(control): State<Control>,
    WholeBody(body): WholeBody,
) -> Result<Shown, ApiError> {
    control.start_chaos(Chaos::from_json(&body)?)?;
    show_chaos(State(control)).await
}

async fn end_chaos(State(control): State<Control>) -> Result<Shown, ApiError> {
    control.end_chaos();
    show_chaos(State(control)).await
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

async fn deliver_event(
    State(control): State<Control>,
    PathId(event): PathId,
    WholeBody(body): WholeBody,
) -> Result<Shown, ApiError> {
    let DeliverEvent { copies } = parse(if body.is_empty() { b"{}" } else { &body })?;
    let deliveries = control.redeliver(&event, copies).await?;
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

async fn roll_secret(
    State(control): State<Control>,
    PathId(endpoint): PathId,
    WholeBody(body): WholeBody,
) -> Result<Shown, ApiError> {
    let RollSecret { overlap_seconds } = parse(if body.is_empty() { b"{}" } else { &body })?;
    // What is negative is refused together with what is too much.
    let overlap = Duration::from_secs(u64::try_from(overlap_seconds).unwrap_or(u64::MAX));
    Shown::new(control.roll_secret(&endpoint, overlap).await?)
}

async fn show_clock(State(control): State<Control>) -> Result<Shown, ApiError> {
    Shown::new(control.clock())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveClock {
    advance_seconds: i64,
}

async fn move_clock(
    State(control): State<Control>,
    WholeBody(body): WholeBody,
) -> Result<Shown, ApiError> {
    let MoveClock { advance_seconds } = parse(&body)?;
    // What is negative is refused together with what is too much.
    let seconds = u64::try_from(advance_seconds).unwrap_or(u64::MAX);
    Shown::new(control.advance(Duration::from_secs(seconds)).await?)
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settle {
    object: Option<String>,
}

async fn settle(
    State(control): State<Control>,
    WholeBody(body): WholeBody,
) -> Result<Shown, ApiError> {
    let Settle { object } = parse(if body.is_empty() { b"{}" } else { &body })?;
    let settled = control.settle(object.as_deref()).await?;
    Ok(Shown(json!({ "settled": settled })))
}

async fn reset(State(control): State<Control>) -> Result<Shown, ApiError> {
    control.reset().await?;
    Ok(Shown(json!({ "reset": true })))
}

/// Also the answer to every URL outside `/v1` and `/_control`.
pub(in crate::simulator) async fn unknown(
    method: Method,
    OriginalUri(uri): OriginalUri,
) -> ApiError {
    ApiError::unrecognized_url(method.as_str(), uri.path())
}

fn parse<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::invalid(format!("This body is not what it should be: {error}.")))
}

/// A JSON answer.
struct Shown(Value);

impl Shown {
    fn new(shown: impl Serialize) -> Result<Self, ApiError> {
        Ok(Self(serde_json::to_value(shown)?))
    }

    fn list(data: impl Serialize) -> Result<Self, ApiError> {
        Ok(Self(json!({ "data": serde_json::to_value(data)? })))
    }
}

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
