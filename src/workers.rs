//! What goes on in the background of every process: loops that look for work, and do it.
//!
//! Each worker is safe to run in many processes at once, since it claims what it does with a guarded update. It looks
//! when a transaction has left work for it, when a place has become free, and once a second anyway: for work that failed
//! before, or whose worker died. Looking takes no lock, so that a shop with nothing to do does nothing; and after a look
//! a worker rests for a moment, so that in a rush it takes up several pieces at once, and does not look for its own work
//! whenever there is some for another.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::{sync::watch, task::JoinSet};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::db::{Db, Row};

/// Nobody has to wake a worker for it to look again.
const NAP: Duration = Duration::from_secs(1);

/// How long a worker that has looked does not look again. What comes in the meantime is claimed together.
const REST: Duration = Duration::from_millis(10);

/// One kind of work.
pub trait Work: Send + Sync + 'static {
    /// What it is called in the log.
    const NAME: &str;
    /// How much of it goes on at a time.
    const PLACES: usize;
    /// A piece of it.
    type Item: Send + 'static;

    /// Whether there is any that nobody is at. One statement that only reads.
    fn is_due(&self) -> impl Future<Output = sqlx::Result<bool>> + Send;

    /// Takes up to `room` pieces that are due, so that nobody else does them.
    fn claim(&self, room: i64) -> impl Future<Output = sqlx::Result<Vec<Self::Item>>> + Send;

    /// Does a piece, within a bounded time. After an error it is somebody's again once its claim has run out.
    fn perform(&self, item: Self::Item) -> impl Future<Output = sqlx::Result<()>> + Send;
}

/// The workers of this process.
#[derive(Debug)]
pub struct Workers {
    db: Db,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl Workers {
    /// None yet. Those of other processes on this database are told from now on of what this one leaves for them.
    pub fn on(db: &Db) -> Self {
        let (tasks, stopping) = (TaskTracker::new(), CancellationToken::new());
        let (own, end) = (db.clone(), stopping.clone());
        tasks.spawn(async move { end.run_until_cancelled(own.exchange_news()).await });
        Self {
            db: db.clone(),
            tasks,
            stopping,
        }
    }

    /// Starts one that does `work`.
    pub fn start(&self, work: impl Work) {
        let (woken, stopping) = (self.db.work(), self.stopping.clone());
        self.tasks.spawn(go_on(Arc::new(work), woken, stopping));
    }

    /// Takes up nothing new, and waits for what is under way.
    pub async fn stop(&self) {
        self.stopping.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

async fn go_on<W: Work>(work: Arc<W>, mut woken: watch::Receiver<()>, stopping: CancellationToken) {
    let mut under_way = JoinSet::new();
    while !stopping.is_cancelled() {
        take_up(&work, &mut under_way).await;
        stopping.run_until_cancelled(tokio::time::sleep(REST)).await;
        tokio::select! {
            () = stopping.cancelled() => {}
            _ = woken.changed() => {}
            Some(_) = under_way.join_next() => {}
            () = tokio::time::sleep(NAP) => {}
        }
        // Whatever else has ended by now makes room in the same go.
        while under_way.try_join_next().is_some() {}
    }
    while under_way.join_next().await.is_some() {}
}

/// Fills the free places.
async fn take_up<W: Work>(work: &Arc<W>, under_way: &mut JoinSet<()>) {
    let room = W::PLACES.saturating_sub(under_way.len());
    if room == 0 {
        return;
    }
    match look(work.as_ref(), room).await {
        Ok(items) => {
            for item in items {
                let work = Arc::clone(work);
                under_way.spawn(async move {
                    if let Err(error) = work.perform(item).await {
                        tracing::error!(worker = W::NAME, %error, "work not done; it is taken up again");
                    }
                });
            }
        }
        Err(error) => tracing::error!(worker = W::NAME, %error, "cannot look for work"),
    }
}

/// Does all that is due, one piece after the other, and says how many pieces there were. For whoever steps the workers by
/// hand instead of starting them.
pub async fn do_what_is_due<W: Work>(work: &W) -> sqlx::Result<usize> {
    let items = look(work, W::PLACES).await?;
    let count = items.len();
    for item in items {
        work.perform(item).await?;
    }
    Ok(count)
}

async fn look<W: Work>(work: &W, room: usize) -> sqlx::Result<Vec<W::Item>> {
    if work.is_due().await? {
        work.claim(i64::try_from(room).unwrap_or(1)).await
    } else {
        Ok(Vec::new())
    }
}

/// Whether `count` counts anything; `$1` of it is the time.
pub async fn counts_any(db: &Db, count: &'static str, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let due: i64 = db.query(count).bind(now).fetch_scalar().await?;
    Ok(due > 0)
}

/// Claims by `update`, which returns the rows that are claimed: up to `$3` of those that are due at `$1`, until `$2`. A
/// claim whose commit was answered by an error may have happened; those rows come back when their lease runs out.
pub async fn claim<R: Row>(
    db: &Db,
    update: &'static str,
    now: DateTime<Utc>,
    until: DateTime<Utc>,
    room: i64,
) -> sqlx::Result<Vec<R>> {
    let mut tx = db.begin().await?;
    let query = tx.query(update).bind(now).bind(until).bind(room);
    let claimed = query.fetch_all().await?;
    tx.commit().await?;
    Ok(claimed)
}

/// How long to wait after so many attempts: one second, then twice as long each time.
pub fn backoff(attempts: i64, longest: TimeDelta) -> TimeDelta {
    let doublings = attempts.clamp(1, 16) - 1;
    TimeDelta::seconds(1 << doublings).min(longest)
}
