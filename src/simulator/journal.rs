//! What was asked of the simulator: the journal behind `GET /_control/requests`.
//!
//! It is in memory and bounded. A request whose connection was dropped left nothing else behind, and a test
//! that wants to know whether it arrived looks here.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use serde::Serialize;

/// Enough for any test, and ten megabytes at most.
pub(super) const CAPACITY: usize = 10_000;

/// The longest key is this long, and so is no path of the API.
const MAX_TEXT: usize = 255;

/// A path or a key as the journal keeps it: nobody fills the memory with them.
pub(super) fn abridged(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// A request to the API, as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedRequest {
    /// The request's id, as its `Request-Id` header has it.
    pub id: String,
    /// When it arrived: RFC 3339, by the simulator's clock.
    pub at: String,
    /// `GET`, `POST`, `DELETE`.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// What was asked for, such as `payment_intents.create`. `None`: it was refused before that was clear.
    pub operation: Option<&'static str>,
    /// Its `Idempotency-Key`, if it was a POST with one.
    pub idempotency_key: Option<String>,
    /// What was answered, or would have been had the answer not been dropped. `None`: never processed.
    pub status: Option<u16>,
    /// Whether the answer is that of an earlier request with the same key.
    pub replayed: bool,
    /// The fault that struck it, such as `drop_response`.
    pub fault: Option<&'static str>,
}

#[derive(Debug, Default)]
pub(super) struct Journal(Mutex<VecDeque<LoggedRequest>>);

impl Journal {
    pub(super) fn write(&self, entry: LoggedRequest) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.truncate(CAPACITY - 1);
        entries.push_front(entry);
    }

    /// The newest `number` of them, newest first.
    pub(super) fn read(&self, number: usize) -> Vec<LoggedRequest> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .take(number)
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
