//! What is in the outbox can be listed and found, and what is stuck tried again.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};

use super::Message;
use crate::{
    db::{Db, retrying},
    paging::{Keyed, Turns, turns},
    search::{self, Searchable, Term, Way},
};

/// A row of the outbox.
#[derive(Debug, sqlx::FromRow)]
pub struct OutboxRow {
    /// Its number.
    pub id: i64,
    /// How often it was handed to the bus, since it was last retried.
    pub attempts: i64,
    not_before: Option<DateTime<Utc>>,
    parked_at: Option<DateTime<Utc>>,
    published_at: Option<DateTime<Utc>>,
    /// What the bus, or a consumer, said last.
    pub last_error: Option<String>,
    /// When it became true.
    pub created_at: DateTime<Utc>,
    /// What it says.
    #[sqlx(flatten)]
    pub message: Message,
}

impl OutboxRow {
    /// What is to be said of it, and of which moment.
    pub fn state(&self) -> (&'static str, DateTime<Utc>) {
        match (self.published_at, self.parked_at, self.not_before) {
            (Some(at), _, _) => ("published", at),
            (None, Some(at), _) => ("parked since", at),
            (None, None, Some(at)) => ("waits until", at),
            (None, None, None) => ("new since", self.created_at),
        }
    }
}

impl Keyed for OutboxRow {
    type Key = i64;
    fn key(&self) -> i64 {
        self.id
    }
}

/// For people: a line for each row.
impl fmt::Display for OutboxRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, since) = self.state();
        let since = since.to_rfc3339_opts(SecondsFormat::Secs, true);
        let (id, message, attempts) = (self.id, self.message.id(), self.attempts);
        write!(f, "{id}  {message}  {state} {since}, {attempts} attempts")?;
        match &self.last_error {
            Some(error) => write!(f, ": {error}"),
            None => Ok(()),
        }
    }
}

/// Everything that is not published, oldest first.
pub async fn unpublished(db: &Db) -> sqlx::Result<Vec<OutboxRow>> {
    db.query("select * from outbox where published_at is null order by id")
        .fetch_all()
        .await
}

/// The parked rows, oldest first: `limit` of them at most.
pub async fn parked(db: &Db, limit: i64) -> sqlx::Result<Vec<OutboxRow>> {
    retrying(|| {
        db.query("select * from outbox where parked_at is not null order by id limit $1")
            .bind(limit)
            .fetch_all()
    })
    .await
}

macro_rules! listed {
    ($condition:literal) => {
        turns!(concat!("select * from outbox where ", $condition), limit "$2", "id" = "$1")
    };
}

impl Searchable for OutboxRow {
    const ALL: Turns = listed!("true");
    const WAYS: &'static [Way] = &[
        Way {
            form: |text| text.eq_ignore_ascii_case("parked").then_some(Term::State),
            turns: listed!("parked_at is not null"),
        },
        Way {
            form: search::id,
            turns: listed!("aggregate_id = $3"),
        },
        Way {
            form: search::order_number,
            turns: listed!("aggregate_id = (select checkout_id from orders where number = $3)"),
        },
        Way {
            form: search::word,
            turns: listed!("event_type = $3"),
        },
    ];
}

/// Lets the parked row `id`, or all that are parked, be tried again, as if for the first time. Returns how many.
pub async fn retry(db: &Db, id: Option<i64>) -> sqlx::Result<u64> {
    retrying(|| retry_once(db, id)).await
}

async fn retry_once(db: &Db, id: Option<i64>) -> sqlx::Result<u64> {
    let mut tx = db.begin().await?;
    let retried = tx
        .query(
            "update outbox set parked_at = null, not_before = null, attempts = 0
             where parked_at is not null and id = coalesce($1, id)",
        )
        .bind(id)
        .execute()
        .await?;
    tx.leaves_work();
    tx.commit().await?;
    Ok(retried)
}
