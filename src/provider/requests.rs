//! How requests to the provider were answered, counted.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use super::outcome::Doubt;

/// How a request can be answered, in the order of the counters.
const OUTCOMES: [&str; 5] = ["ok", "refused", "busy", "error", "no_answer"];

/// So many of each. Clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests(Arc<[AtomicU64; OUTCOMES.len()]>);

impl Requests {
    /// Counts one that was answered with this status, or not at all.
    pub(super) fn count(&self, answered: Result<u16, Doubt>) {
        let outcome = match answered {
            Ok(200..=299) => 0,
            Ok(409 | 429) => 2,
            Ok(500..) => 3,
            Ok(_) => 1,
            Err(_) => 4,
        };
        if let Some(counter) = self.0.get(outcome) {
            counter.fetch_add(1, Relaxed);
        }
    }

    /// All of them.
    pub(super) fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.iter().map(|counter| counter.load(Relaxed));
        OUTCOMES.into_iter().zip(counts).collect()
    }
}
