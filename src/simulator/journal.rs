//! What was asked of the simulator: the journal behind `GET /_control/requests`.
//!
//! It is in memory and bounded. A request whose connection was dropped left nothing else behind, and a test
//! that wants to know whether it arrived looks here.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use serde::Serialize;

/// Enough for any test, and a few megabytes at most.
const CAPACITY: usize = 10_000;

#[derive(Clone, Debug, Serialize)]
pub(super) struct Entry {
    /// The request's id, as its `Request-Id` header has it.
    pub(super) id: String,
    /// RFC 3339, by the simulator's clock.
    pub(super) at: Option<String>,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) operation: Option<&'static str>,
    pub(super) idempotency_key: Option<String>,
    /// What was answered, or would have been had the answer not been dropped. `None`: never processed.
    pub(super) status: Option<u16>,
    pub(super) replayed: bool,
    pub(super) fault: Option<&'static str>,
}

#[derive(Debug, Default)]
pub(super) struct Journal(Mutex<VecDeque<Entry>>);

impl Journal {
    pub(super) fn write(&self, entry: Entry) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.truncate(CAPACITY - 1);
        entries.push_front(entry);
    }

    /// Newest first.
    pub(super) fn read(&self) -> Vec<Entry> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }

    pub(super) fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}
