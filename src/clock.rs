//! The time, asked for in one place.
//!
//! Every instant that is stored or compared comes from here, never from SQL: the engines format and round
//! times differently. Tests move the clock instead of waiting.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use tokio::sync::watch;

/// An instant for people, with its time zone: `29 November 2026, 15:54 UTC`.
pub fn in_words(at: DateTime<Utc>) -> String {
    at.format("%-d %B %Y, %H:%M UTC").to_string()
}

/// The system's clock, and how far it has been moved ahead. Clones share the offset.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset_seconds: Arc<watch::Sender<i64>>,
}

impl Clock {
    /// Now, in UTC, with the microseconds that PostgreSQL keeps: a row reads back as it was written.
    pub fn now(&self) -> DateTime<Utc> {
        let offset = TimeDelta::seconds(*self.offset_seconds.borrow());
        (Utc::now() + offset).trunc_subsecs(6)
    }

    /// Moves the clock ahead, by whole seconds.
    pub fn advance(&self, by: Duration) {
        let seconds = i64::try_from(by.as_secs()).unwrap_or(i64::MAX);
        self.offset_seconds
            .send_modify(|offset| *offset = offset.saturating_add(seconds));
    }

    /// Waits until it is `at`, which comes sooner when the clock is moved.
    pub async fn sleep_until(&self, at: DateTime<Utc>) {
        let mut moves = self.offset_seconds.subscribe();
        while let Ok(wait) = (at - self.now()).to_std()
            && !wait.is_zero()
        {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = moves.changed() => {}
            }
        }
    }
}
