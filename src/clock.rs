//! The time, asked for in one place.
//!
//! Every instant that is stored or compared comes from here, never from SQL: the engines format and round
//! times differently. Tests move the clock instead of waiting.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};

/// The system's clock, and how far it has been moved ahead. Clones share the offset.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset_seconds: Arc<AtomicI64>,
}

impl Clock {
    /// Now, in UTC, with the microseconds that PostgreSQL keeps: a row reads back as it was written.
    pub fn now(&self) -> DateTime<Utc> {
        let offset = TimeDelta::seconds(self.offset_seconds.load(Ordering::Relaxed));
        (Utc::now() + offset).trunc_subsecs(6)
    }

    /// Moves the clock ahead, by whole seconds.
    pub fn advance(&self, by: Duration) {
        let seconds = i64::try_from(by.as_secs()).unwrap_or(i64::MAX);
        self.offset_seconds.fetch_add(seconds, Ordering::Relaxed);
    }
}
