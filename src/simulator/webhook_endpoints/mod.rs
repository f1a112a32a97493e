//! Webhook endpoints: where events are delivered, and which.
//!
//! An endpoint is an API object like any other. What the API never shows stands beside it: its `secrets`, of which
//! only the answer to the create tells, and whether the command line names it (`configured`).

mod configured;
mod secrets;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use self::secrets::RolledSecret;
pub(super) use self::{
    configured::{configure, restore},
    secrets::roll,
};
use super::{
    call::Call, changes::merge_metadata, error::ApiError, event_types, form::shortened, ids,
    lists::Page, objects, params::Params, request,
};

const KIND: &str = "webhook_endpoint";

/// As many as an account has at Stripe.
const MAX_ENDPOINTS: usize = 16;

/// Longer than any URL that a receiver would read.
const MAX_URL: usize = 2048;

/// The part of an endpoint that changes. Everything else the API shows is in `rest`, carried along unread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WebhookEndpoint {
    pub(super) id: String,
    /// The version that its events say they are in. `None`: the account's.
    pub(super) api_version: Option<String>,
    description: Option<String>,
    enabled_events: Vec<String>,
    metadata: Map<String, Value>,
    pub(super) status: Status,
    pub(super) url: String,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Enabled,
    Disabled,
}

/// `POST /v1/webhook_endpoints`. The only answer with the secret in it.
pub(super) async fn create(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let url = params.required_text("url")?;
    check_url(&url).map_err(|reason| invalid_url(&reason))?;
    let enabled_events = enabled_events(&mut params)?
        .filter(|events| !events.is_empty())
        .ok_or_else(|| params.missing("enabled_events"))?;
    let mut endpoint = WebhookEndpoint::new(&url, call.now)?;
    endpoint.enabled_events = enabled_events;
    endpoint.api_version = api_version(&mut params)?;
    endpoint.description = params.text("description")?;
    endpoint.metadata = params.metadata()?;
    // Whether it also hears of connected accounts. There are none here.
    params.boolean("connect")?;
    params.finish()?;
    if count(call).await? >= MAX_ENDPOINTS {
        let message =
            format!("You have reached the maximum of {MAX_ENDPOINTS} test webhook endpoints.");
        return Err(ApiError::invalid(message).executed());
    }
    objects::insert(call.tx, &endpoint)?;
    let secret = secrets::fresh();
    secrets::replace(call.conn().await?, &endpoint.id, &secret).await?;
    let mut shown = serde_json::to_value(&endpoint)?;
    objects::set(&mut shown, "secret", json!(secret));
    Ok(shown)
}

/// `GET /v1/webhook_endpoints/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    Ok(serde_json::to_value(in_path(call, id).await?)?)
}

/// `POST /v1/webhook_endpoints/{id}`
pub(super) async fn update(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let mut endpoint = in_path(call, id).await?;
    if params.is_given("url") {
        endpoint.url = params.text("url")?.unwrap_or_default();
        check_url(&endpoint.url).map_err(|reason| invalid_url(&reason))?;
    }
    if let Some(events) = enabled_events(&mut params)? {
        if events.is_empty() {
            return Err(ApiError::invalid(
                "An endpoint needs at least one event in enabled_events.",
            )
            .code("parameter_invalid_empty")
            .param("enabled_events"));
        }
        endpoint.enabled_events = events;
    }
    if let Some(disabled) = params.boolean("disabled")? {
        endpoint.status = if disabled {
            Status::Disabled
        } else {
            Status::Enabled
        };
    }
    if params.is_given("description") {
        endpoint.description = params.text("description")?;
    }
    merge_metadata(&mut endpoint.metadata, params.metadata_change()?)?;
    params.finish()?;
    objects::update(call.tx, id, &endpoint)?;
    Ok(serde_json::to_value(endpoint)?)
}

/// `GET /v1/webhook_endpoints`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    params.finish()?;
    page.fetch(call.conn().await?, KIND, "/v1/webhook_endpoints", &[])
        .await
}

/// `DELETE /v1/webhook_endpoints/{id}`. Nothing is delivered to it any more.
pub(super) async fn delete(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    let endpoint = in_path(call, id).await?;
    objects::forget(call.conn().await?, &endpoint.id).await?;
    Ok(json!({ "id": endpoint.id, "object": KIND, "deleted": true }))
}

/// The endpoint with this id.
pub(super) async fn find(
    tx: &mut sqlx::SqliteConnection,
    id: &str,
) -> Result<Option<WebhookEndpoint>, ApiError> {
    let found = objects::find(tx, KIND, id).await?;
    Ok(found.map(serde_json::from_value).transpose()?)
}

async fn in_path(call: &mut Call<'_>, id: &str) -> Result<WebhookEndpoint, ApiError> {
    find(call.conn().await?, id)
        .await?
        .ok_or_else(|| not_found(id))
}

/// The answer to a path with an id that no endpoint has.
pub(super) fn not_found(id: &str) -> ApiError {
    ApiError::missing(KIND, id, KIND).status(StatusCode::NOT_FOUND)
}

async fn count(call: &mut Call<'_>) -> Result<usize, ApiError> {
    let count: i64 = sqlx::query_scalar("select count(*) from objects where kind = $1")
        .bind(KIND)
        .fetch_one(call.conn().await?)
        .await?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

impl WebhookEndpoint {
    /// One that wants every event.
    fn new(url: &str, now: i64) -> Result<Self, serde_json::Error> {
        serde_json::from_value(json!({
            "id": ids::object_id("we"),
            "object": KIND,
            "api_version": null,
            "application": null,
            "created": now,
            "description": null,
            "enabled_events": ["*"],
            "livemode": false,
            "metadata": {},
            "status": "enabled",
            "url": url
        }))
    }
}

/// What is wrong with the URL of an endpoint.
pub(super) fn check_url(text: &str) -> Result<(), String> {
    if text.len() > MAX_URL {
        return Err(format!("it is longer than {MAX_URL} characters"));
    }
    let url = url::Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it must begin with http:// or https://".to_owned());
    }
    Ok(())
}

fn invalid_url(reason: &str) -> ApiError {
    ApiError::invalid(format!("Invalid URL: {reason}."))
        .code("url_invalid")
        .param("url")
}

/// `None` when the parameter is absent. A type that Stripe does not know is refused: nobody would ever hear of it.
fn enabled_events(params: &mut Params) -> Result<Option<Vec<String>>, ApiError> {
    if !params.is_given("enabled_events") {
        return Ok(None);
    }
    let mut events = params.list("enabled_events")?;
    if let Some(unknown) = events
        .iter()
        .find(|event| *event != "*" && !event_types::is_known(event))
    {
        let message = format!(
            "Invalid enabled_events: there is no event type {}.",
            shortened(unknown)
        );
        return Err(ApiError::invalid(message).param("enabled_events"));
    }
    let mut seen = std::collections::HashSet::new();
    events.retain(|event| seen.insert(event.clone()));
    Ok(Some(events))
}

fn api_version(params: &mut Params) -> Result<Option<String>, ApiError> {
    let version = params.text("api_version")?;
    if let Some(version) = version.as_deref().filter(|it| !request::is_version(it)) {
        let message = format!("Invalid API version: {}", shortened(version));
        return Err(ApiError::invalid(message).param("api_version"));
    }
    Ok(version)
}
