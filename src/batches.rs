//! Batches: who waits to do the same thing has it done together.
//!
//! A transaction around a small thing costs more than the thing. So while one batch is under way, whoever comes waits, and
//! the next batch is all of them:
//!
//! ```text
//! 1 ── alone ──┬── told
//!   2 ─ waits ─┼── the next batch ──┬── told
//!    3 ─ waits ┼── is taken along ──┼── told
//!          4 ──┼────── waits ───────┼── alone ── told
//! ```
//!
//! Nobody waits for others to come: who is alone goes alone. So a batch is as large as the rush, and no larger than there are
//! callers at a time, which their places bound.

use std::{
    fmt, io, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{
    Mutex as Turn,
    oneshot::{self, error::TryRecvError},
};

use crate::db::Transient;

/// What is told to each of a batch. It may be the same error for all of them.
pub type Outcome<E> = Result<(), Arc<E>>;

/// Who waits to have a `T` done, which fails with an `E`.
pub struct Batches<T, E> {
    waiting: Mutex<Vec<Waiting<T, E>>>,
    turn: Turn<()>,
}

struct Waiting<T, E> {
    item: T,
    tell: oneshot::Sender<Outcome<E>>,
}

impl<T, E> Default for Batches<T, E> {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            turn: Turn::default(),
        }
    }
}

impl<T: Clone, E: Transient> Batches<T, E> {
    /// Has `item` done, alone or with others, by `act`, which does all that it is given or nothing. All callers bring the same
    /// one: it is that of any of them which runs.
    ///
    /// When a batch fails and would fail again, each is tried by itself, so that one of them which cannot be done is in nobody's
    /// way. A caller that goes away may have it done nevertheless; and when it was at work for others, one of them goes on. So
    /// `act` must be safe to run twice.
    pub async fn go<F>(&self, item: T, act: impl Fn(Vec<T>) -> F) -> Outcome<E>
    where
        F: Future<Output = Result<(), E>>,
    {
        loop {
            let (tell, mut told) = oneshot::channel();
            let item = item.clone();
            self.waiting().push(Waiting { item, tell });
            let _turn = self.turn.lock().await;
            let outcome = match told.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.take_along(&act).await;
                    told.try_recv()
                }
                outcome => outcome,
            };
            // Else whoever had taken it along has gone away.
            if let Ok(outcome) = outcome {
                return outcome;
            }
        }
    }

    /// Does what all who wait are waiting for.
    async fn take_along<F>(&self, act: impl Fn(Vec<T>) -> F)
    where
        F: Future<Output = Result<(), E>>,
    {
        let batch = mem::take(&mut *self.waiting());
        let items: Vec<T> = batch.iter().map(|it| it.item.clone()).collect();
        let together = act(items).await.map_err(Arc::new);
        let is_one_of_them =
            batch.len() > 1 && together.as_ref().is_err_and(|error| !error.is_transient());
        for Waiting { item, tell } in batch {
            let outcome = if is_one_of_them {
                act(vec![item]).await.map_err(Arc::new)
            } else {
                together.clone()
            };
            // Whoever has gone away needs to know nothing.
            let _ = tell.send(outcome);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting<T, E>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error that was told to one of a batch, or to all of them, as one that belongs to nobody else.
pub fn own(told: Arc<sqlx::Error>) -> sqlx::Error {
    Arc::try_unwrap(told).unwrap_or_else(|shared| sqlx::Error::Io(io::Error::other(shared)))
}

impl<T, E> fmt::Debug for Batches<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Batches")
    }
}

#[cfg(test)]
mod tests;
