//! How fast the pruner goes: it has all the time in the world, and a checkout has not.
//!
//! SQLite has one writer, so whoever buys at the wrong moment waits for a batch to end: a batch is short. And whatever the
//! batches take from the disk and the processors, others do not have: between two of them it rests for many times as long
//! as the last one took. On a machine that is busy, or slow, batches take longer, and the rests with them.

use std::time::Duration;

/// How long the rows of one batch may take.
const BATCH: Duration = Duration::from_millis(10);

/// So many times as long as a batch took nothing is done after it: a twenty-fifth of the time is the pruner's.
const REST: u32 = 24;

/// The longest rest: a disk that hung for once does not make it hang for an hour.
const REST_MAX: Duration = Duration::from_secs(5);

/// The first batch.
const ROWS_FIRST: usize = 50;

/// Fewer rows are not worth a commit, which costs the same for many.
const ROWS_MIN: usize = 20;

/// More rows take too much memory and too many locks at a time.
const ROWS_MAX: usize = 1000;

/// The pace of one table.
#[derive(Debug)]
pub struct Pace {
    rows: usize,
}

impl Pace {
    /// Nothing is known yet of how long its rows take.
    pub fn unknown() -> Self {
        Self { rows: ROWS_FIRST }
    }

    /// How many rows the next batch has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Learns from a batch whose rows took `rows` and which took `whole`, commit and all. Returns the rest after it.
    pub fn learn(&mut self, rows: Duration, whole: Duration) -> Duration {
        // By half or to twice as many: one batch that was held up says little about the next.
        self.rows = if rows > BATCH {
            self.rows / 2
        } else if rows < BATCH / 2 {
            self.rows * 2
        } else {
            self.rows
        }
        .clamp(ROWS_MIN, ROWS_MAX);
        whole.saturating_mul(REST).min(REST_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(batches: u32, took: Duration) -> (usize, Duration) {
        let mut pace = Pace::unknown();
        let rest = (0..batches).map(|_| pace.learn(took, took)).last();
        (pace.rows(), rest.unwrap_or_default())
    }

    #[test]
    fn batches_grow_while_they_are_quick_and_shrink_when_they_are_slow() {
        assert_eq!(after(1, BATCH / 3).0, ROWS_FIRST * 2);
        assert_eq!(after(1, BATCH).0, ROWS_FIRST);
        assert_eq!(after(1, BATCH * 2).0, ROWS_FIRST / 2);
        assert_eq!(after(100, Duration::ZERO).0, ROWS_MAX);
        assert_eq!(after(100, BATCH * 2).0, ROWS_MIN);
    }

    #[test]
    fn the_rest_is_many_times_as_long_as_the_batch_up_to_its_bound() {
        assert_eq!(after(1, BATCH).1, BATCH * REST);
        assert_eq!(after(1, Duration::MAX).1, REST_MAX);
    }
}
