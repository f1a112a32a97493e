//! A crowd: the copies of one form that come at the same moment.
//!
//! The first of them is inserted, and until it is committed the others would wait for it in the database, each with a
//! connection that somebody else could use. So two are let in at a time, the one that inserts and one that finds out by the
//! insert; the rest wait here, and look again. One of them looks at a time, and what it finds is found for all who had come
//! before it began:
//!
//! ```text
//! 1 ── looks ────────┬── found
//!   2 ─ waits ───────┼── looks ────────┬── found
//!     3 ─ waits ─────┼── waits ────────┼── found as well
//!           4 ───────┼── waits ────────┼── found as well
//!                    │    5 ─ waits ───┼── looks
//! ```
//!
//! That spares the database, and no guarantee rests on it: another process has a crowd of its own.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex as Turn, Semaphore, SemaphorePermit},
    time::timeout,
};

use super::{Checkout, IdempotencyKey};

/// How many copies of a form are at the database at a time, of each process.
const AT_A_TIME: usize = 2;

/// How long a copy waits for what another one finds. Its connection may be dead, and a look takes less than a millisecond.
const PATIENCE: Duration = Duration::from_millis(250);

/// The crowds of a process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Crowds(Arc<Mutex<HashMap<IdempotencyKey, Doorway>>>);

#[derive(Debug)]
struct Doorway {
    of: Arc<Shared>,
    /// How many there are, inside and outside.
    copies: usize,
}

/// What the copies of a form have in common.
#[derive(Debug)]
struct Shared {
    door: Semaphore,
    /// How many looks have begun.
    looks: AtomicU64,
    /// The last of them. Whoever has the lock looks.
    last: Turn<Option<Look>>,
}

#[derive(Debug)]
struct Look {
    number: u64,
    found: Option<Checkout>,
}

/// One of a crowd, until it is dropped.
pub(super) struct Crowd {
    crowds: Crowds,
    key: IdempotencyKey,
    of: Arc<Shared>,
}

impl Crowds {
    /// Joins those who have come with the same form.
    pub(super) fn join(&self, key: IdempotencyKey) -> Crowd {
        let mut doorways = self.doorways();
        let doorway = doorways.entry(key).or_insert_with(|| Doorway {
            of: Arc::new(Shared {
                door: Semaphore::new(AT_A_TIME),
                looks: AtomicU64::new(0),
                last: Turn::default(),
            }),
            copies: 0,
        });
        doorway.copies += 1;
        Crowd {
            crowds: self.clone(),
            key,
            of: Arc::clone(&doorway.of),
        }
    }

    fn doorways(&self) -> MutexGuard<'_, HashMap<IdempotencyKey, Doorway>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Crowd {
    /// Has `look` made, unless another copy makes one that begins later than this call and finds what is the key's own.
    pub(super) async fn looks<F, E>(&self, look: impl Fn() -> F) -> Result<Option<Checkout>, E>
    where
        F: Future<Output = Result<Option<Checkout>, E>>,
    {
        let begun = self.of.looks.load(SeqCst);
        let Ok(mut last) = timeout(PATIENCE, self.of.last.lock()).await else {
            return look().await;
        };
        match last.as_ref().filter(|other| other.number > begun) {
            None => {
                let number = self.of.looks.fetch_add(1, SeqCst) + 1;
                let found = look().await;
                let own = found.as_ref().ok().and_then(Option::as_ref);
                let own = own.filter(|found| found.idempotency_key == self.key);
                *last = Some(Look {
                    number,
                    found: own.cloned(),
                });
                found
            }
            Some(Look {
                found: Some(found), ..
            }) => Ok(Some(found.clone())),
            // It has failed, or what it has found depends on more than the key. All look for themselves then, at once.
            Some(Look { found: None, .. }) => {
                drop(last);
                look().await
            }
        }
    }

    /// `None` while as many are in as may be.
    pub(super) fn lets_in(&self) -> Option<SemaphorePermit<'_>> {
        self.of.door.try_acquire().ok()
    }

    /// Waits until one of them has come out. By then there is something to find.
    pub(super) async fn waits(&self) {
        // A door is never closed for good.
        let _ = self.of.door.acquire().await;
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        let mut doorways = self.crowds.doorways();
        if let Entry::Occupied(mut doorway) = doorways.entry(self.key) {
            doorway.get_mut().copies -= 1;
            if doorway.get().copies == 0 {
                doorway.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::{Crowds, IdempotencyKey};

    #[test]
    fn two_are_let_in_and_the_next_when_one_has_come_out() {
        let (crowds, key) = (Crowds::default(), IdempotencyKey::fresh());
        let [first, second, third] = [(); 3].map(|()| crowds.join(key));
        let inside = first.lets_in().expect("the first");
        let _also_inside = second.lets_in().expect("the second");
        assert!(third.lets_in().is_none());
        assert!(third.waits().now_or_never().is_none());
        let another = crowds.join(IdempotencyKey::fresh());
        assert!(another.lets_in().is_some(), "of another form");
        drop(inside);
        assert!(third.waits().now_or_never().is_some());
        assert!(third.lets_in().is_some());
    }

    #[test]
    fn nothing_is_left_of_a_crowd_that_has_gone() {
        let (crowds, key) = (Crowds::default(), IdempotencyKey::fresh());
        let [first, second] = [(); 2].map(|()| crowds.join(key));
        let inside = first.lets_in();
        drop(second);
        assert_eq!(crowds.doorways().len(), 1, "one is there still");
        drop(inside);
        drop(first);
        assert_eq!(crowds.doorways().len(), 0);
    }
}
