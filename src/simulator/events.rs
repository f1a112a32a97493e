//! Events: what happened, as snapshots that never change afterwards.
//!
//! An event is written in the transaction of the change it tells of, together with one delivery per webhook
//! endpoint that wants it, by a trigger. So no crash can come between a charge and the news of it.
//!
//! The API shows them for thirty days: <https://docs.stripe.com/api/events>.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    API_VERSION,
    call::{Call, Cause},
    changes::previous_attributes,
    error::ApiError,
    event_types, ids,
    lists::{Filter, Page},
    objects,
    params::Params,
    webhook_endpoints, webhooks,
};

/// At most this many `types[]`, as at Stripe.
const MAX_TYPES: usize = 20;

/// How long the API shows an event.
const SHOWN_SECONDS: i64 = 30 * 24 * 60 * 60;

/// `GET /v1/events/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    shown(call, id).await
}

/// `POST /v1/events/{id}/retry`: sends an event to one endpoint once more, as `stripe events resend` asks for it.
///
/// It stands beside the automatic delivery: whatever comes of it, that one's retries go on.
pub(super) async fn retry(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let endpoint_id = params.required_text("webhook_endpoint")?;
    params.finish()?;
    let event = shown(call, id).await?;
    let endpoint = webhook_endpoints::find(call.conn().await?, &endpoint_id)
        .await?
        .ok_or_else(|| ApiError::missing("webhook_endpoint", &endpoint_id, "webhook_endpoint"))?;
    if endpoint.status == webhook_endpoints::Status::Disabled {
        let message = format!("The webhook endpoint '{endpoint_id}' is disabled.");
        return Err(ApiError::invalid(message)
            .param("webhook_endpoint")
            .executed());
    }
    let now = call.now;
    webhooks::resend(call.conn().await?, id, &endpoint.id, now).await?;
    call.has_news = true;
    Ok(event)
}

/// An event that is not too old to be shown.
async fn shown(call: &mut Call<'_>, id: &str) -> Result<Value, ApiError> {
    let oldest = call.now - SHOWN_SECONDS;
    let mut event = objects::find(call.conn().await?, "event", id)
        .await?
        .filter(|event| event.get("created").and_then(Value::as_i64) >= Some(oldest))
        .ok_or_else(|| {
            ApiError::missing("event", id, "id").status(axum::http::StatusCode::NOT_FOUND)
        })?;
    show_pending_webhooks(call.conn().await?, &mut event).await?;
    Ok(event)
}

/// `GET /v1/events`, narrowed by `type` (`payment_intent.*` is allowed) or `types[]`, and by `delivery_success`.
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?
        .since(call.now - SHOWN_SECONDS)
        .delivered(params.boolean("delivery_success")?);
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
        (Some(one), _) => Some(event_types::matching(&one)),
        (None, types) => (!types.is_empty()).then_some(types),
    };
    let filters: Vec<Filter> = types
        .into_iter()
        .map(|values| Filter {
            field: "type",
            values,
        })
        .collect();
    let mut list = page
        .fetch(call.conn().await?, "event", "/v1/events", &filters)
        .await?;
    for event in list
        .get_mut("data")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        show_pending_webhooks(call.conn().await?, event).await?;
    }
    Ok(list)
}

/// Records that the call did something to `object`.
pub(super) fn record(
    call: &mut Call<'_>,
    kind: &'static str,
    object: &Value,
) -> Result<(), ApiError> {
    write(call, kind, object, None)
}

/// Records an update by what the object was and is. Nothing changed, nothing to tell.
pub(super) fn record_change(
    call: &mut Call<'_>,
    kind: &'static str,
    before: &Value,
    after: &Value,
) -> Result<(), ApiError> {
    match previous_attributes(before, after) {
        Some(previous) => record_update(call, kind, after, &previous),
        None => Ok(()),
    }
}

/// Records an update of `object`. `before` has the changed fields as they were.
pub(super) fn record_update(
    call: &mut Call<'_>,
    kind: &'static str,
    object: &Value,
    before: &Value,
) -> Result<(), ApiError> {
    write(call, kind, object, Some(before))
}

/// An event as it is stored.
#[derive(Serialize)]
struct Event<'e> {
    id: String,
    object: &'static str,
    api_version: &'static str,
    created: i64,
    data: Data<'e>,
    livemode: bool,
    pending_webhooks: i64,
    request: &'e Cause,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct Data<'e> {
    object: &'e Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_attributes: Option<&'e Value>,
}

fn write(
    call: &mut Call<'_>,
    kind: &'static str,
    object: &Value,
    previous_attributes: Option<&Value>,
) -> Result<(), ApiError> {
    debug_assert!(event_types::MADE.contains(&kind), "{kind} is not in MADE");
    let event = Event {
        id: ids::object_id("evt"),
        object: "event",
        api_version: API_VERSION,
        created: call.now,
        data: Data {
            object,
            previous_attributes,
        },
        livemode: false,
        pending_webhooks: 0,
        request: &call.cause,
        kind,
    };
    objects::insert(call.tx, &event)?;
    call.has_news = true;
    Ok(())
}

/// `pending_webhooks` is the one field that is not a snapshot: endpoints that did not answer 2xx yet.
pub(super) async fn show_pending_webhooks(
    tx: &mut sqlx::SqliteConnection,
    event: &mut Value,
) -> Result<(), ApiError> {
    let id = event.get("id").and_then(Value::as_str).unwrap_or_default();
    let pending = webhooks::count_pending(tx, id).await?;
    objects::set(event, "pending_webhooks", json!(pending));
    Ok(())
}
