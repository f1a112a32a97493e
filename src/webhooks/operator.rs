//! What was heard can be listed and found, and an event asked for again.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};

use super::{Event, Received, receive};
use crate::{
    checkout::Verdict,
    db::Db,
    paging::{At, Keyed, Turns, turns},
    provider::{Doubt, Provider},
    search::{self, Searchable, Way},
};

/// An event that was processed.
#[derive(Debug, sqlx::FromRow)]
pub struct Processed {
    /// The provider's id of it.
    pub event_id: String,
    /// Such as `payment_intent.succeeded`.
    #[sqlx(rename = "type")]
    pub kind: String,
    /// The provider's object that it is about.
    pub object_id: Option<String>,
    /// What it came to.
    pub verdict: String,
    /// When it took effect.
    pub received_at: DateTime<Utc>,
}

impl Keyed for Processed {
    type Key = At;
    fn key(&self) -> At {
        At {
            time: self.received_at,
            id: self.event_id.clone(),
        }
    }
}

/// For people: a line for each event.
impl fmt::Display for Processed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.received_at.to_rfc3339_opts(SecondsFormat::Secs, true);
        let object = self.object_id.as_deref().unwrap_or("-");
        let (id, kind, verdict) = (&self.event_id, &self.kind, &self.verdict);
        write!(f, "{at}  {id}  {kind}  {object}  {verdict}")
    }
}

macro_rules! listed {
    ($condition:literal) => {
        turns!(
            concat!("select * from processed_events where ", $condition),
            limit "$3",
            "received_at" = "$1",
            "event_id" = "$2"
        )
    };
}

impl Searchable for Processed {
    const ALL: Turns = listed!("true");
    const WAYS: &'static [Way] = &[
        Way {
            form: search::event,
            turns: listed!("event_id = $4"),
        },
        Way {
            form: search::object,
            turns: listed!("object_id = $4"),
        },
        Way {
            form: search::word,
            turns: listed!("type = $4"),
        },
    ];
}

/// The last `limit` events, newest first.
pub async fn processed(db: &Db, limit: i64) -> sqlx::Result<Vec<Processed>> {
    db.query("select * from processed_events order by received_at desc, event_id desc limit $1")
        .bind(limit)
        .fetch_all()
        .await
}

/// Asks the provider for the event `id`, and processes it as if it had been delivered once more.
pub async fn redeliver(
    db: &Db,
    provider: &Provider,
    id: &str,
    now: DateTime<Utc>,
) -> Result<Redelivered, RedeliverError> {
    let event = provider.event(id).await?.ok_or(RedeliverError::Unknown)?;
    let event = Event::read(&event, provider.is_live()).map_err(|_| RedeliverError::Unknown)?;
    let received = receive(db, &event, now).await?;
    Ok(Redelivered { event, received })
}

/// What became of it.
#[derive(Debug)]
pub struct Redelivered {
    event: Event,
    received: Received,
}

/// For people: one line.
impl fmt::Display for Redelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let became = match self.received {
            Received::Duplicate => "had been processed before: nothing was changed",
            Received::Processed(Verdict::Nothing) => "was new, and changes nothing",
            Received::Processed(Verdict::Discrepancy) => {
                "was new, and contradicts what the shop knows: see the audit"
            }
            Received::Processed(Verdict::Concluded | Verdict::Waiting) => {
                "was new, and took effect"
            }
        };
        write!(f, "{}  {}  {became}", self.event.id, self.event.kind)
    }
}

/// Why it could not be asked for.
#[derive(Debug, thiserror::Error)]
pub enum RedeliverError {
    /// It is mistyped, or forgotten.
    #[error(
        "the provider knows no such event, or has forgotten it: it shows those of the last 30 days"
    )]
    Unknown,
    /// The provider was of no help.
    #[error("the event cannot be asked for: {0}")]
    Provider(#[from] Doubt),
    /// The database did not do its part.
    #[error("the database failed: {0}")]
    Db(#[from] sqlx::Error),
}
