//! What is stuck in the outbox can be seen, and tried again.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};

use super::Message;
use crate::db::{Db, retrying};

/// A row that is not published yet.
#[derive(Debug, sqlx::FromRow)]
pub struct Unpublished {
    id: i64,
    attempts: i64,
    not_before: Option<DateTime<Utc>>,
    parked_at: Option<DateTime<Utc>>,
    last_error: Option<String>,
    created_at: DateTime<Utc>,
    #[sqlx(flatten)]
    message: Message,
}

/// For people: a line for each row.
impl fmt::Display for Unpublished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, since) = match (self.parked_at, self.not_before) {
            (Some(at), _) => ("parked since", at),
            (None, Some(at)) => ("waits until", at),
            (None, None) => ("new since", self.created_at),
        };
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
pub async fn unpublished(db: &Db) -> sqlx::Result<Vec<Unpublished>> {
    db.query("select * from outbox where published_at is null order by id")
        .fetch_all()
        .await
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
