//! The endpoints that the command line names.
//!
//! They are ordinary endpoints, which the API shows and may change. The URL on the command line is what they are
//! recognised by, also when the API has given them another one since.

use serde_json::json;

use super::{KIND, Status, WebhookEndpoint, find, secrets};
use crate::simulator::{WebhookTarget, error::ApiError, objects, transaction::Tx};

/// At the start: every endpoint of `targets` is there and enabled. One that is named no longer is disabled.
pub(in crate::simulator) async fn configure(
    tx: &mut Tx,
    targets: &[WebhookTarget],
    now: i64,
) -> Result<(), ApiError> {
    disable_all(tx).await?;
    for target in targets {
        let mut endpoint = match named(tx, &target.url).await? {
            Some(endpoint) => endpoint,
            None => introduce(tx, &target.url, now).await?,
        };
        endpoint.url.clone_from(&target.url);
        endpoint.status = Status::Enabled;
        objects::update(tx, &endpoint.id, &endpoint)?;
        // One that signs already may have been rolled since, and the rotation goes on.
        let active = secrets::active_secrets(tx.conn().await?, &endpoint.id, now).await?;
        if !active.contains(&target.secret) {
            secrets::replace(tx.conn().await?, &endpoint.id, &target.secret).await?;
        }
    }
    Ok(())
}

/// After a reset: the endpoints of `targets` are as new but for their ids, and there are no others.
pub(in crate::simulator) async fn restore(
    tx: &mut Tx,
    targets: &[WebhookTarget],
    now: i64,
) -> Result<(), ApiError> {
    // Those that the API deleted are back, too.
    configure(tx, targets, now).await?;
    let mut kept = Vec::new();
    for target in targets {
        if let Some(endpoint) = named(tx, &target.url).await? {
            let fresh = WebhookEndpoint {
                id: endpoint.id,
                ..WebhookEndpoint::new(&target.url, now)?
            };
            objects::update(tx, &fresh.id, &fresh)?;
            secrets::replace(tx.conn().await?, &fresh.id, &target.secret).await?;
            kept.push(fresh.id);
        }
    }
    sqlx::query(
        "delete from objects where kind = $1 and id not in (select value from json_each($2))",
    )
    .bind(KIND)
    .bind(json!(kept).to_string())
    .execute(tx.conn().await?)
    .await?;
    Ok(())
}

async fn disable_all(tx: &mut Tx) -> Result<(), ApiError> {
    let ids: Vec<String> = sqlx::query_scalar("select endpoint_id from configured_endpoints")
        .fetch_all(tx.conn().await?)
        .await?;
    for id in ids {
        if let Some(mut endpoint) = find(tx.conn().await?, &id).await? {
            endpoint.status = Status::Disabled;
            objects::update(tx, &id, &endpoint)?;
        }
    }
    Ok(())
}

/// The endpoint that the command line means by `url`.
async fn named(tx: &mut Tx, url: &str) -> Result<Option<WebhookEndpoint>, ApiError> {
    let id: Option<String> =
        sqlx::query_scalar("select endpoint_id from configured_endpoints where url = $1")
            .bind(url)
            .fetch_optional(tx.conn().await?)
            .await?;
    match id {
        Some(id) => find(tx.conn().await?, &id).await,
        None => Ok(None),
    }
}

async fn introduce(tx: &mut Tx, url: &str, now: i64) -> Result<WebhookEndpoint, ApiError> {
    let endpoint = WebhookEndpoint::new(url, now)?;
    objects::insert(tx, &endpoint)?;
    sqlx::query("insert into configured_endpoints (url, endpoint_id) values ($1, $2)")
        .bind(url)
        .bind(&endpoint.id)
        .execute(tx.conn().await?)
        .await?;
    Ok(endpoint)
}
