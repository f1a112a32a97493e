//! The reconciler: takes forward what nobody comes back for.
//!
//! A customer closes the browser, a process is killed, the provider is down for a day. The checkout is on disk, with
//! the moment at which somebody must look at it. A worker in every server process waits for the earliest of these
//! moments and then does what the customer's next request would do: it [`resume`]s the checkout.
//!
//! ```text
//! process 1   due: A, B ── take A's lease ── drive A ─────────────
//! process 2   due: A, B ── A is taken ────── take B's ── drive B ─
//! ```
//!
//! There is no second way to an outcome here, and nothing that would have to run in one process only.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::{StreamExt as _, stream};
use tokio_util::sync::CancellationToken;

use super::{Till, resume};
use crate::{
    db::{Db, retrying},
    ids::CheckoutId,
};

/// How long it sleeps at most. Another process may have submitted what is due first.
const POLL: TimeDelta = TimeDelta::seconds(5);

/// How long it sleeps at least, so that nothing which cannot be driven makes it spin.
const BREATH: TimeDelta = TimeDelta::milliseconds(50);

/// Checkouts that one process drives at a time. Each may wait for a provider that is slow to fail.
const AT_ONCE: usize = 8;

/// Checkouts of one round. The next round follows at once while there are more.
const BATCH: i64 = 100;

/// Works until `stopping`; what it has begun by then it finishes.
pub async fn run(till: Till, stopping: CancellationToken) {
    while !stopping.is_cancelled() {
        let next = match round(&till, &stopping).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!(%error, "the reconciler cannot read what is due");
                None
            }
        };
        let now = till.clock.now();
        let wake = next.unwrap_or(now + POLL).clamp(now + BREATH, now + POLL);
        tokio::select! {
            () = stopping.cancelled() => {}
            () = till.clock.sleep_until(wake) => {}
        }
    }
}

/// Drives what is due, and returns when there will be more.
pub async fn round(
    till: &Till,
    stopping: &CancellationToken,
) -> sqlx::Result<Option<DateTime<Utc>>> {
    let due = due(&till.db, till.clock.now()).await?;
    stream::iter(due)
        .for_each_concurrent(AT_ONCE, async |(id,)| {
            if stopping.is_cancelled() {
                return;
            }
            if let Err(error) = resume(till, id).await {
                tracing::error!(checkout.id = %id, %error, "checkout left open");
            }
        })
        .await;
    earliest(&till.db).await
}

/// The checkouts that somebody must look at. Whether it is us their leases decide.
async fn due(db: &Db, now: DateTime<Utc>) -> sqlx::Result<Vec<(CheckoutId,)>> {
    retrying(|| {
        db.query(
            "select id from checkouts where status = 'pending' and drive_at <= $1
             order by drive_at limit $2",
        )
        .bind(now)
        .bind(BATCH)
        .fetch_all()
    })
    .await
}

async fn earliest(db: &Db) -> sqlx::Result<Option<DateTime<Utc>>> {
    let next: Option<(DateTime<Utc>,)> = retrying(|| {
        db.query(
            "select drive_at from checkouts where status = 'pending' and drive_at is not null
             order by drive_at limit 1",
        )
        .fetch_optional()
    })
    .await?;
    Ok(next.map(|(at,)| at))
}
