//! The simulator's clock: the wall's, moved forward on request.
//!
//! Idempotency keys live for a day and webhooks are retried for hours. A test that cannot wait moves the clock
//! (`POST /_control/clock`); the offset is stored, so a restart does not go back in time. Only the timestamp in
//! a webhook's signature is the wall's, because receivers compare it with their own clock.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, SecondsFormat, Utc};

/// One move of the clock is ten years at most: enough for any test, and far from overflowing a timestamp.
pub(super) const MAX_ADVANCE_SECONDS: i64 = 10 * 366 * 24 * 60 * 60;

/// All moves together: a century.
pub(super) const MAX_OFFSET_SECONDS: i64 = 10 * MAX_ADVANCE_SECONDS;

#[derive(Debug)]
pub(super) struct Clock {
    offset_seconds: AtomicI64,
}

impl Clock {
    pub(super) fn new(offset_seconds: i64) -> Self {
        Self {
            offset_seconds: AtomicI64::new(offset_seconds),
        }
    }

    /// Unix seconds, as the API shows time.
    pub(super) fn now(&self) -> i64 {
        Utc::now().timestamp() + self.offset()
    }

    /// Unix milliseconds, for schedules.
    pub(super) fn now_ms(&self) -> i64 {
        Utc::now().timestamp_millis() + self.offset() * 1000
    }

    pub(super) fn offset(&self) -> i64 {
        self.offset_seconds.load(Ordering::Relaxed)
    }

    /// Takes over an offset that has been stored.
    pub(super) fn set_offset(&self, seconds: i64) {
        self.offset_seconds.store(seconds, Ordering::Relaxed);
    }
}

/// Reads the stored offset.
pub(super) async fn load(tx: &mut sqlx::SqliteConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar("select offset_seconds from clock")
        .fetch_one(tx)
        .await
}

/// Stores a move forward and returns the new offset; `None` when it would be too much, and then nothing moves.
pub(super) async fn advance(
    tx: &mut sqlx::SqliteConnection,
    seconds: i64,
) -> sqlx::Result<Option<i64>> {
    sqlx::query_scalar(
        "update clock set offset_seconds = offset_seconds + $1
         where offset_seconds + $1 <= $2
         returning offset_seconds",
    )
    .bind(seconds)
    .bind(MAX_OFFSET_SECONDS)
    .fetch_optional(tx)
    .await
}

/// Milliseconds of the clock as RFC 3339, the way `/_control` shows time.
pub(super) fn rfc3339(at_ms: i64) -> String {
    // Empty beyond the year 262,000, which no clock here reaches.
    DateTime::from_timestamp_millis(at_ms)
        .map(|at| at.to_rfc3339_opts(SecondsFormat::Millis, true))
        .unwrap_or_default()
}
