//! How far it is, for whoever looks on.

use std::{
    cell::Cell,
    io::{self, Write as _},
    time::{Duration, Instant},
};

/// Whether progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// On standard error, which is a terminal.
    Yes,
    /// Not at all.
    No,
}

/// The line is not written again before so much time has passed.
const PAUSE: Duration = Duration::from_millis(100);

const WIDTH: usize = 30;

/// Runs that are made, of those that are known so far.
pub(super) struct Progress {
    shown: Shown,
    began: Instant,
    written: Cell<Option<Instant>>,
    done: Cell<usize>,
    of: Cell<usize>,
}

impl Progress {
    pub(super) fn new(shown: Shown) -> Self {
        Self {
            shown,
            began: Instant::now(),
            written: Cell::new(None),
            done: Cell::new(0),
            of: Cell::new(0),
        }
    }

    /// So many more are to be made.
    pub(super) fn expect(&self, more: usize) {
        self.of.set(self.of.get() + more);
    }

    pub(super) fn one_is_done(&self) {
        self.done.set(self.done.get() + 1);
        let is_due = (self.written.get()).is_none_or(|written| written.elapsed() >= PAUSE);
        if self.shown == Shown::Yes && is_due {
            self.written.set(Some(Instant::now()));
            let line = line(self.done.get(), self.of.get(), self.began.elapsed());
            let _ = write!(io::stderr(), "\r\x1b[K{line}");
        }
    }
}

/// Nothing of it stays.
impl Drop for Progress {
    fn drop(&mut self) {
        if self.written.get().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(done: usize, of: usize, elapsed: Duration) -> String {
    let filled = (done * WIDTH).checked_div(of).unwrap_or(0);
    let bar = format!("{:<WIDTH$}", "█".repeat(filled));
    let per_run = elapsed.checked_div(u32::try_from(done).unwrap_or(u32::MAX));
    let left = per_run.and_then(|it| it.checked_mul(u32::try_from(of - done).ok()?));
    let left = left.map_or_else(String::new, |left| format!(", {} left", in_words(left)));
    format!("{bar} {done} of {of} runs, {}{left}", in_words(elapsed))
}

fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_and_how_long_it_will_take() {
        let told = line(25, 100, Duration::from_secs(30));
        assert!(told.starts_with("███████ "), "{told}");
        assert!(told.ends_with("25 of 100 runs, 0:30, 1:30 left"), "{told}");
        assert!(line(0, 0, Duration::ZERO).ends_with("0 of 0 runs, 0:00"));
    }
}
