//! The outbox: what the rest of the world must hear, written in the transaction that makes it true.

use chrono::{DateTime, Utc};
use sqlx::types::Json;

use crate::{db::Tx, ids::CheckoutId};

/// Writes one message. It is unique on (aggregate, event type, version): the same news cannot be told twice.
pub async fn write(
    tx: &mut Tx,
    aggregate: CheckoutId,
    event_type: &str,
    version: i64,
    payload: serde_json::Value,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    tx.query(
        "insert into outbox (aggregate_id, event_type, version, payload, created_at)
         values ($1, $2, $3, $4, $5)",
    )
    .bind(aggregate)
    .bind(event_type)
    .bind(version)
    .bind(Json(payload))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}
