//! The pruner: what is of no more use is deleted, so that the shop does not grow slower with each purchase.
//!
//! Processed events, published messages and the record that they were consumed, sessions, carts that came to nothing:
//! all of them stand in the way of a repeat, or wait for somebody, for a while. [`retention`] says how long, and why.
//! Checkouts, payments, orders and whatever else a customer or a tax office may ask for are kept for ever, and so are
//! the unique rows that every repeat ends at: what was pruned still cannot run twice.
//!
//! ```text
//! look ── nothing old: as nearly always ─────────────────────────────── look again in ten minutes or so
//!      └─ batch ── commit ── rest ── batch ── commit ── rest ── … one line in the log
//! ```
//!
//! Any number of them may run at once: a row is deleted once, whoever does it, and they leave each other's rows alone. One
//! that dies leaves what it has committed, and the rest is old still. In reading order:
//!
//! 1. here: rounds, and their batches.
//! 2. [`retention`]: what is old.
//! 3. [`tables`]: what of it may go.
//! 4. [`pace`]: how fast.

pub mod pace;
pub mod retention;
pub mod tables;

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use chrono::{DateTime, TimeDelta, Utc};
use rand::RngExt as _;
use tokio_util::sync::CancellationToken;

pub use self::retention::{MESSAGES_LEAST, Retention};
use self::{
    pace::Pace,
    tables::{Age, CARTS, EVENTS, INBOX, OUTBOX, SESSIONS, Table},
};
use crate::{
    clock::Clock,
    db::{Db, Row, retrying},
};

/// How often it looks, give or take a half: processes that were started together shall not look together.
pub const LOOK: TimeDelta = TimeDelta::minutes(10);

/// When it looks first, at most: soon, for a process that is restarted often.
const FIRST_LOOK: TimeDelta = TimeDelta::seconds(5);

/// Batches of one table in a round. The next round follows at once while there are more, so that each table gets its turn,
/// and the log tells of it.
const BATCHES_MAX: usize = 200;

/// Deletes what is old.
#[derive(Clone, Debug)]
pub struct Pruner {
    /// The shop's database.
    pub db: Db,
    /// The time.
    pub clock: Clock,
    /// What is old.
    pub keep: Retention,
}

/// How many rows a round has deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each name is a table's")]
pub struct Pruned {
    pub processed_events: usize,
    pub outbox: usize,
    pub inbox: usize,
    pub sessions: usize,
    pub carts: usize,
}

impl Pruned {
    /// Of all tables together.
    pub fn rows(&self) -> usize {
        self.processed_events + self.outbox + self.inbox + self.sessions + self.carts
    }
}

impl Pruner {
    /// Works until `stopping`. The batch that it is at by then it finishes.
    pub async fn run(self, stopping: CancellationToken) {
        let mut wake = self.clock.now() + jitter(TimeDelta::zero()..FIRST_LOOK);
        loop {
            tokio::select! {
                biased;
                () = stopping.cancelled() => return,
                () = self.clock.sleep_until(wake) => {}
            }
            let now = self.clock.now();
            wake = now + jitter(LOOK / 2..LOOK * 3 / 2);
            match self.round(now, &stopping).await {
                Ok(pruned) if pruned.rows() > 0 => {
                    log(&pruned);
                    wake = now; // There may be more.
                }
                Ok(_) => {}
                Err(error) => tracing::error!(%error, "not pruned; it is tried again"),
            }
        }
    }

    /// Deletes what is old at `now`, a bounded number of batches of each table, or less when it is `stopping`.
    pub async fn round(
        &self,
        now: DateTime<Utc>,
        stopping: &CancellationToken,
    ) -> sqlx::Result<Pruned> {
        let Retention {
            keep_events,
            keep_messages,
            keep_carts,
        } = self.keep;
        // Sessions are good until the second in which they expire.
        let expired = now.timestamp() + 1;
        Ok(Pruned {
            processed_events: self.prune(&EVENTS, now - keep_events, stopping).await?,
            // The outbox before the inbox, which waits for it.
            outbox: self.prune(&OUTBOX, now - keep_messages, stopping).await?,
            inbox: self.prune(&INBOX, now - keep_messages, stopping).await?,
            sessions: self.prune(&SESSIONS, expired, stopping).await?,
            carts: self.prune(&CARTS, now - keep_carts, stopping).await?,
        })
    }

    /// Deletes the rows of one table whose age is `before`, oldest first. Returns how many.
    async fn prune<T: Age>(
        &self,
        table: &Table,
        before: T,
        stopping: &CancellationToken,
    ) -> sqlx::Result<usize>
    where
        (T,): Row,
    {
        let oldest = || self.db.query(table.oldest).bind(before).fetch_optional();
        let oldest: Option<(T,)> = retrying(oldest).await?;
        let Some((mut from,)) = oldest else {
            // Which is nearly always, and spares the writers' lock.
            return Ok(0);
        };
        let (mut pace, mut pruned) = (Pace::unknown(), 0);
        for _ in 0..BATCHES_MAX {
            let rows = pace.rows();
            let batch = retrying(|| self.batch(table, from, before, rows)).await?;
            pruned += batch.ages.len();
            match batch.ages.iter().max() {
                Some(&(youngest,)) if batch.ages.len() == rows => from = youngest,
                _ => break,
            }
            let rest = pace.learn(batch.rows_took, batch.took);
            tokio::select! {
                () = stopping.cancelled() => break,
                () = tokio::time::sleep(rest) => {}
            }
        }
        Ok(pruned)
    }

    /// One short transaction.
    async fn batch<T: Age>(
        &self,
        table: &Table,
        from: T,
        before: T,
        rows: usize,
    ) -> sqlx::Result<Batch<T>>
    where
        (T,): Row,
    {
        let mut tx = self.db.begin_alone().await?;
        // From here on: how long others held it up before says nothing about how long it holds them up.
        let began = Instant::now();
        let ages = tx
            .query(table.delete)
            .bind(from)
            .bind(before)
            .bind(i64::try_from(rows).unwrap_or(i64::MAX))
            .fetch_all()
            .await?;
        let rows_took = began.elapsed();
        tx.commit().await?;
        Ok(Batch {
            ages,
            rows_took,
            took: began.elapsed(),
        })
    }
}

fn jitter(between: Range<TimeDelta>) -> TimeDelta {
    let (least, most) = (
        between.start.num_milliseconds(),
        between.end.num_milliseconds(),
    );
    TimeDelta::milliseconds(rand::rng().random_range(least..most))
}

fn log(pruned: &Pruned) {
    let Pruned {
        processed_events,
        outbox,
        inbox,
        sessions,
        carts,
    } = pruned;
    tracing::info!(processed_events, outbox, inbox, sessions, carts, "pruned");
}

/// Rows that are gone.
struct Batch<T> {
    ages: Vec<(T,)>,
    rows_took: Duration,
    /// With the commit.
    took: Duration,
}
