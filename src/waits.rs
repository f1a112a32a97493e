//! How long to wait before another try, decided in one place.

use std::{cell::Cell, time::Duration};

use rand::RngExt as _;

thread_local! {
    static ARE_REAL: Cell<bool> = const { Cell::new(true) };
}

/// From now on what runs on this thread tries again at once. For whoever moves the clock by hand and has the thread to
/// itself, since a wait would only cost it time.
pub fn none_on_this_thread() {
    ARE_REAL.set(false);
}

/// How long to wait before the next try: as long as was `asked` for, and up to `longest` more. Full jitter: many who failed
/// together should not come back together.
pub fn before_next_try(longest: Duration, asked: Duration) -> Duration {
    if ARE_REAL.get() {
        asked + rand::rng().random_range(Duration::ZERO..=longest)
    } else {
        Duration::ZERO
    }
}
