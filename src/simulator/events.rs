//! Events: what happened, as snapshots that never change afterwards.
//!
//! An event is written in the transaction of the change it tells of, together with one delivery per webhook
//! endpoint that wants it. So no crash can come between a charge and the news of it.

use std::mem;

use serde_json::{Value, json};

use super::{
    API_VERSION,
    call::{Call, Cause},
    error::ApiError,
    ids,
    lists::{Filter, Page},
    objects,
    params::Params,
};

/// Every type of event the simulator makes.
pub(super) const TYPES: &[&str] = &[
    "charge.failed",
    "charge.refunded",
    "charge.succeeded",
    "charge.updated",
    "payment_intent.amount_capturable_updated",
    "payment_intent.canceled",
    "payment_intent.created",
    "payment_intent.payment_failed",
    "payment_intent.requires_action",
    "payment_intent.succeeded",
];

/// At most this many `types[]`, as at Stripe.
const MAX_TYPES: usize = 20;

/// `GET /v1/events/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    let mut event = objects::find(call.tx, "event", id).await?.ok_or_else(|| {
        ApiError::missing("event", id, "id").status(axum::http::StatusCode::NOT_FOUND)
    })?;
    show_pending_webhooks(call.tx, &mut event).await?;
    Ok(event)
}

/// `GET /v1/events`, narrowed by `type` (`payment_intent.*` is allowed) or `types[]`.
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let (one, several) = (params.text("type")?, params.list("types")?);
    params.finish()?;
    if several.len() > MAX_TYPES {
        return Err(
            ApiError::invalid(format!("You can filter by at most {MAX_TYPES} types."))
                .param("types"),
        );
    }
    let types = match (one, several) {
        (Some(_), types) if !types.is_empty() => {
            let message = "You may only specify one of these parameters: type, types.";
            return Err(ApiError::invalid(message).param("type"));
        }
        (Some(one), _) => Some(matching_types(&one)),
        (None, types) => (!types.is_empty()).then_some(types),
    };
    let filters: Vec<Filter> = types
        .into_iter()
        .map(|values| Filter {
            field: "type",
            values,
        })
        .collect();
    let mut list = page.fetch(call.tx, "event", "/v1/events", &filters).await?;
    for event in list
        .get_mut("data")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        show_pending_webhooks(call.tx, event).await?;
    }
    Ok(list)
}

/// A trailing `*` stands for every type that begins alike.
fn matching_types(pattern: &str) -> Vec<String> {
    match pattern.strip_suffix('*') {
        Some(prefix) => TYPES
            .iter()
            .filter(|kind| kind.starts_with(prefix))
            .map(ToString::to_string)
            .collect(),
        None => vec![pattern.to_owned()],
    }
}

/// Records that the call did something to `object`.
pub(super) async fn record(
    call: &mut Call<'_>,
    kind: &'static str,
    object: &Value,
) -> Result<(), ApiError> {
    write(call, kind, json!({ "object": object })).await
}

/// Records an update that no request asked for: `request` names none. `before` has the changed fields as they were.
pub(super) async fn record_automatic(
    call: &mut Call<'_>,
    kind: &'static str,
    object: &Value,
    before: Value,
) -> Result<(), ApiError> {
    let data = json!({ "object": object, "previous_attributes": before });
    let cause = mem::take(&mut call.cause);
    let written = write(call, kind, data).await;
    call.cause = cause;
    written
}

async fn write(call: &mut Call<'_>, kind: &'static str, data: Value) -> Result<(), ApiError> {
    debug_assert!(TYPES.contains(&kind), "{kind} is missing in TYPES");
    let id = ids::object_id("evt");
    let Cause {
        request_id,
        idempotency_key,
    } = &call.cause;
    let event = json!({
        "id": id,
        "object": "event",
        "api_version": API_VERSION,
        "created": call.now,
        "data": data,
        "livemode": false,
        "pending_webhooks": 0,
        "request": { "id": request_id, "idempotency_key": idempotency_key },
        "type": kind
    });
    objects::insert(call.tx, &event).await?;
    sqlx::query(
        "insert into deliveries (event_id, endpoint_id, next_attempt_at)
         select $1, id, 0 from webhook_endpoints
         where enabled = 1
           and exists (select 1 from json_each(enabled_events) where value in ('*', $2))
         order by created, id",
    )
    .bind(&id)
    .bind(kind)
    .execute(&mut *call.tx)
    .await?;
    Ok(())
}

/// `pending_webhooks` is the one field that is not a snapshot: endpoints that did not answer 2xx yet.
pub(super) async fn show_pending_webhooks(
    tx: &mut sqlx::SqliteConnection,
    event: &mut Value,
) -> Result<(), ApiError> {
    let pending: i64 = sqlx::query_scalar(
        "select count(*) from deliveries where event_id = $1 and state <> 'delivered'",
    )
    .bind(event.get("id").and_then(Value::as_str))
    .fetch_one(tx)
    .await?;
    objects::set(event, "pending_webhooks", json!(pending));
    Ok(())
}
