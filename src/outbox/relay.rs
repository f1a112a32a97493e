//! The relay: rows of the outbox that nobody has published are published, and marked.
//!
//! It asks for what is unpublished, and remembers no last id: ids are handed out before the commit, so a lower one can
//! become visible after a higher one, and a cursor would have passed it by. Any number of relays may run, in any
//! number of processes. A guarded update claims a row for one of them, for the time of a lease; when it dies, the lease
//! runs out and another takes over.
//!
//! ```text
//! unpublished ──┬──> published
//!      ^        └──> parked      refused, again and again: a person has to look
//!      └─────────────────┘       `boring-checkout outbox retry`
//! ```
//!
//! What failed before comes after what did not, and waits longer each time, so it stands in nobody's way. The one
//! exception is intended: a later row of the same order waits for the earlier one, parked or not. What a bus between processes
//! could not deliver after all comes back ([`comeback`](super::comeback)), as what is not published, or parked.
//! Take `order by attempts` or `not exists` out of the claim, and a test named for it fails.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Message,
    bus::{Bus, PublishError},
};
use crate::{
    batches::{Batches, own},
    clock::Clock,
    db::{Db, retrying},
    probe::{Boundary, report},
    workers::{self, Work, backoff},
};

/// How long a relay has a row to itself. Far longer than [`PATIENCE`], so that a row is not published by two at once.
const LEASE: TimeDelta = TimeDelta::minutes(1);

/// How long the bus may take over one message.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest wait before a row is tried again: a bus that is back is used within this time.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(1);

/// A row that was refused is parked after so many attempts, five minutes or so after the first.
const ATTEMPTS_MAX: i64 = 10;

/// Publishes what is in the outbox.
#[derive(Debug)]
pub struct Relay {
    db: Db,
    clock: Clock,
    bus: Arc<dyn Bus>,
    marks: Batches<Mark, sqlx::Error>,
}

/// That a row is published.
#[derive(Clone, Copy, Debug)]
struct Mark {
    row: i64,
    /// As which of its publications.
    returns: i64,
}

/// A row that is ours until `not_before`.
#[derive(Debug, sqlx::FromRow)]
pub struct Claimed {
    id: i64,
    attempts: i64,
    not_before: DateTime<Utc>,
    returns: i64,
    #[sqlx(flatten)]
    message: Message,
}

/// The rows that are due, each the first unpublished one of its order; `$1` is the time.
macro_rules! due {
    ($limit:literal) => {
        concat!(
            "select id from outbox o
             where published_at is null and parked_at is null
               and (not_before is null or not_before <= $1)
               and not exists (select 1 from outbox earlier
                               where earlier.aggregate_id = o.aggregate_id
                                 and earlier.id < o.id and earlier.published_at is null)
             order by attempts, id
             limit ",
            $limit,
            " "
        )
    };
}

impl Work for Relay {
    const NAME: &str = "relay";
    const PLACES: usize = 32;
    type Item = Claimed;

    async fn is_due(&self) -> sqlx::Result<bool> {
        if !self.bus.is_there() {
            return Ok(false);
        }
        let due = concat!("with due as (", due!("1"), ") select count(*) from due");
        workers::counts_any(&self.db, due, self.clock.now()).await
    }

    async fn claim(&self, room: i64) -> sqlx::Result<Vec<Claimed>> {
        let claim = concat!(
            "with due as (",
            due!("$3"),
            "/*pg for update skip locked */)
             update outbox set not_before = $2, attempts = attempts + 1
             where id in (select id from due)
             returning *"
        );
        let now = self.clock.now();
        workers::claim(&self.db, claim, now, now + LEASE, room).await
    }

    #[tracing::instrument("message", skip_all, fields(checkout.id = %row.message.aggregate_id))]
    async fn perform(&self, row: Claimed) -> sqlx::Result<()> {
        let published = tokio::time::timeout(PATIENCE, self.publish(&row)).await;
        let error = match published {
            Ok(Ok(())) => {
                tracing::debug!(kind = row.message.event_type, "message published");
                return self.mark_published(&row).await;
            }
            Ok(Err(error)) => error,
            Err(_) => PublishError::Unavailable("no answer in time".to_owned()),
        };
        let now = self.clock.now();
        let parked = matches!(error, PublishError::Refused(_)) && row.attempts >= ATTEMPTS_MAX;
        let message = row.message.id();
        if parked {
            tracing::error!(%message, attempt = row.attempts, %error, "message parked");
        } else {
            tracing::warn!(%message, attempt = row.attempts, %error, "message not published");
        }
        let until = now + backoff(row.attempts, LONGEST_WAIT);
        let parked_at = parked.then_some(now);
        retrying(|| postpone(&self.db, &row, until, parked_at, &error)).await
    }
}

impl Relay {
    /// One that publishes what is in the outbox of `db`.
    pub fn to(bus: Arc<dyn Bus>, db: &Db, clock: &Clock) -> Self {
        Self {
            db: db.clone(),
            clock: clock.clone(),
            bus,
            marks: Batches::default(),
        }
    }

    async fn publish(&self, row: &Claimed) -> Result<(), PublishError> {
        report(self.db.probe(), Boundary::BeforePublish).await?;
        self.bus.publish(&row.message, row.returns).await?;
        report(self.db.probe(), Boundary::AfterPublish).await?;
        Ok(())
    }

    async fn mark_published(&self, row: &Claimed) -> sqlx::Result<()> {
        let mark = Mark {
            row: row.id,
            returns: row.returns,
        };
        let mark_all = |mut marks: Vec<Mark>| async move {
            marks.sort_by_key(|mark| mark.row);
            retrying(|| mark_published(&self.db, &marks, self.clock.now())).await
        };
        self.marks.go(mark, mark_all).await.map_err(own)
    }
}

/// Whoever published them, they are published: no lease is asked for. Unless one has come back since.
async fn mark_published(db: &Db, marks: &[Mark], now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    for mark in marks {
        tx.query(
            "update outbox set published_at = $2, parked_at = null, last_error = null
             where id = $1 and published_at is null and returns = $3",
        )
        .bind(mark.row)
        .bind(now)
        .bind(mark.returns)
        .execute()
        .await?;
    }
    tx.commit().await
}

/// Lets a row wait, if the lease is still ours: else somebody else knows better.
async fn postpone(
    db: &Db,
    row: &Claimed,
    until: DateTime<Utc>,
    parked_at: Option<DateTime<Utc>>,
    error: &PublishError,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "update outbox set not_before = $3, parked_at = $4, last_error = $5
         where id = $1 and not_before = $2 and published_at is null",
    )
    .bind(row.id)
    .bind(row.not_before)
    .bind(until)
    .bind(parked_at)
    .bind(error.to_string())
    .execute()
    .await?;
    tx.commit().await
}
