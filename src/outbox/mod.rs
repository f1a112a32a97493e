//! The outbox: what the rest of the world must hear, written in the transaction that makes it true.
//!
//! ```text
//! record ── payment, order, outbox row ── commit
//!                              │
//!                            relay ── bus ──┬── inbox row + shipment ── commit
//!                              │            └── inbox row + mail     ── commit
//!                        published_at
//! ```
//!
//! Each arrow may be followed twice: a relay that dies between the bus and `published_at` leaves a row that the next
//! one publishes again. The [`inbox`] makes that harmless. In reading order:
//!
//! 1. here: how a row is written, and what a message is.
//! 2. [`relay`]: rows that nobody has published yet are published, each order's in their order.
//! 3. [`bus`]: what the relay hands them to.
//! 4. [`inbox`]: a consumer acts on a message once, however often it comes.
//! 5. [`nats`]: the bus between processes.
//! 6. [`comeback`]: what that bus cannot deliver, or lost, comes back.
//! 7. [`operator`]: what is stuck can be seen, and tried again.

pub mod bus;
pub mod comeback;
pub mod inbox;
pub mod nats;
pub mod operator;
pub mod relay;

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sqlx::types::Json;

use crate::{db::Tx, ids::CheckoutId};

/// Writes one message. It is unique on (aggregate, event type, version): the same news cannot be told twice.
pub async fn write(
    tx: &mut Tx,
    aggregate: CheckoutId,
    event_type: &str,
    version: i64,
    payload: impl Serialize + Send + Sync,
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
    tx.leaves_work();
    Ok(())
}

/// A row of the outbox on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, sqlx::FromRow)]
pub struct Message {
    /// What it is about. Messages about the same purchase arrive in the order in which they were written.
    pub aggregate_id: CheckoutId,
    /// What happened to it, such as `order.placed`.
    pub event_type: String,
    /// For the how-manieth time.
    pub version: i64,
    /// The rest, in a form that the event type defines.
    #[sqlx(json)]
    pub payload: serde_json::Value,
}

impl Message {
    /// What it says, when its type is `event_type`, in the one format that this version of the shop knows: the first. Rows
    /// that do not say theirs are older than the number.
    pub fn read<T: DeserializeOwned>(&self, event_type: &str) -> Result<Option<T>, Unreadable> {
        if self.event_type != event_type {
            return Ok(None);
        }
        let format = self.payload.get("format").map(serde_json::Value::as_i64);
        if !matches!(format, None | Some(Some(1))) {
            return Err(Unreadable);
        }
        let news = serde_json::from_value(self.payload.clone()).map_err(|_| Unreadable)?;
        Ok(Some(news))
    }

    /// The same for each copy of the message, and for no other message, of this shop or of any.
    pub fn id(&self) -> MessageId {
        MessageId(format!(
            "{}/{}/{}",
            self.aggregate_id, self.event_type, self.version
        ))
    }
}

/// Names a message.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct MessageId(String);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The payload is not what its event type says, or of a format that this version of the shop does not know.
#[derive(Debug, thiserror::Error)]
#[error("the payload cannot be read")]
pub struct Unreadable;
