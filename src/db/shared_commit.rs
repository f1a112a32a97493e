//! Shared commits: who waits for SQLite's one writer waits for the disk together.
//!
//! SQLite has one writer at a time, and a commit is over when the disk has it, which takes longer than most statements. So
//! writers take turns in one transaction, and the last of them commits for all:
//!
//! ```text
//! writer 1   begin ── statements ── waits ──────────────────────────────────────┬── told
//! writer 2            savepoint ── statements ── waits ─────────────────────────┼── told
//! writer 3                         savepoint ── fails: back to its savepoint    │
//! writer 4                                      savepoint ── statements ── commit ── told
//! ```
//!
//! Each turn has a savepoint of its own, so who fails takes nobody along. A turn sees what the ones before it have written,
//! and that may still be lost. So nobody is told how a turn has ended, be it kept or undone, before the commit is on disk;
//! and when the commit fails, all are told, and run again.
//!
//! Nobody waits for others to come: who is alone commits at once. Tell a writer before the commit, and
//! `whoever_finds_an_event_answers_after_it_is_on_disk` fails.

use std::{
    fmt, io, mem,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use sqlx::{Sqlite, SqliteConnection};
use tokio::{
    sync::{Mutex, OwnedMutexGuard, oneshot},
    time::timeout,
};

use super::{
    connect::PATIENCE,
    connections::{Connections, Engine as _, Lent},
};

/// After so many turns it is committed, whoever waits: so long the first of them waits at most. More would save little.
const TURNS_MAX: usize = 16;

/// The writer of a database, for whom others queue. Clones share it.
#[derive(Clone)]
pub(super) struct Writer {
    /// Just one.
    connections: Connections<Sqlite>,
    /// Who has the lock has the turn. It is fair: turns are taken in order of arrival.
    group: Arc<Mutex<Group>>,
    waiting: Arc<AtomicUsize>,
}

/// The turns that share a transaction.
#[derive(Default)]
struct Group {
    /// Between two turns there is none, or somebody waits for its commit.
    open: Option<Open>,
    /// Somebody queues for the lock to commit, behind those who wait for a turn.
    closer_comes: bool,
}

/// A transaction.
struct Open {
    conn: Lent<Sqlite>,
    is_alone: bool,
    /// Who waits to be told: whoever has ended, but for those who have changed nothing and seen nothing that may be lost.
    ended: Vec<oneshot::Sender<sqlx::Result<()>>>,
    /// Whether the last turn is kept. Else it is still to be undone.
    is_kept: bool,
}

impl Writer {
    /// On the only connection that there is.
    pub(super) fn new(connections: Connections<Sqlite>) -> Self {
        Self {
            connections,
            group: Arc::default(),
            waiting: Arc::default(),
        }
    }

    /// Whether nobody writes.
    pub(super) fn is_at_rest(&self) -> bool {
        self.connections.is_at_rest()
    }

    /// Closes the connection.
    pub(super) async fn close(&self) {
        self.connections.close().await;
    }

    /// Waits for a turn. When `is_alone`, it shares its transaction with nobody.
    ///
    /// A caller that goes away stops it nowhere: the turn is taken, and undone.
    pub(super) async fn begin(&self, is_alone: bool) -> sqlx::Result<Turn> {
        tokio::spawn(self.clone().take_turn(is_alone))
            .await
            .unwrap_or(Err(sqlx::Error::WorkerCrashed))
    }

    async fn take_turn(self, is_alone: bool) -> sqlx::Result<Turn> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let group = timeout(PATIENCE, self.lock()).await;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        let mut group = group.map_err(|_| sqlx::Error::PoolTimedOut)?;
        if is_alone {
            group.close().await;
        }
        match &mut group.open {
            None => group.open = Some(Open::begin(&self.connections, is_alone).await?),
            Some(open) => {
                if let Err(error) = open.go_on().await {
                    group.close().await;
                    return Err(lost(&error));
                }
            }
        }
        Ok(Turn {
            writer: self,
            group: Some(group),
        })
    }

    async fn lock(&self) -> OwnedMutexGuard<Group> {
        Arc::clone(&self.group).lock_owned().await
    }
}

/// The right to write, until it is [ended](Turn::end). Dropped, it is undone.
pub(super) struct Turn {
    writer: Writer,
    group: Option<OwnedMutexGuard<Group>>,
}

impl Turn {
    pub(super) fn conn(&mut self) -> &mut SqliteConnection {
        let open = self.group.as_mut().and_then(|group| group.open.as_mut());
        let open = open.expect("a turn has a transaction until it ends");
        open.conn.conn()
    }

    /// Keeps or undoes what was written. Returns once all that the turn has seen is on disk; an error means that all of it
    /// may be lost.
    pub(super) async fn end(mut self, is_kept: bool) -> sqlx::Result<()> {
        match self.leave(is_kept) {
            Some(told) => told.await.unwrap_or_else(|gone| Err(lost(&gone))),
            None => Ok(()),
        }
    }

    /// Lets the next one write. Returns what is to be waited for.
    fn leave(&mut self, is_kept: bool) -> Option<oneshot::Receiver<sqlx::Result<()>>> {
        let mut group = self.group.take()?;
        let open = group.open.as_mut()?;
        open.is_kept = is_kept;
        let told = (is_kept || !open.ended.is_empty()).then(|| {
            let (tell, told) = oneshot::channel();
            open.ended.push(tell);
            told
        });
        // In a task of its own, since a caller that goes away is not to stop the commit of the others.
        if open.is_full() || self.writer.waiting.load(Ordering::Relaxed) == 0 {
            tokio::spawn(async move { group.close().await });
        } else if !mem::replace(&mut group.closer_comes, true) {
            let writer = self.writer.clone();
            tokio::spawn(async move {
                let mut group = writer.lock().await;
                group.closer_comes = false;
                group.close().await;
            });
        }
        told
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.leave(false);
    }
}

impl Group {
    /// Ends the transaction, if one is open, and tells everybody.
    async fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let sql = open.ending();
        let done = open.conn.end(sql).await;
        for tell in open.ended {
            // Whoever has gone away needs to know nothing.
            let _ = tell.send(done.as_ref().map_err(lost).copied());
        }
    }
}

impl Open {
    async fn begin(connections: &Connections<Sqlite>, is_alone: bool) -> sqlx::Result<Self> {
        Ok(Self {
            conn: connections.begin("begin immediate").await?,
            is_alone,
            ended: Vec::new(),
            is_kept: false,
        })
    }

    /// Begins a turn after another one. The first one has no savepoint: there would be nothing to go back to.
    async fn go_on(&mut self) -> sqlx::Result<()> {
        let sql = match (self.ended.len(), self.is_kept) {
            (1, _) => "savepoint turn",
            (_, true) => "release turn; savepoint turn",
            (_, false) => "rollback to turn",
        };
        Sqlite::run(self.conn.conn(), sql).await
    }

    fn ending(&self) -> &'static str {
        match (self.ended.len(), self.is_kept) {
            (0, _) => "rollback",
            (_, true) => "commit",
            (_, false) => "rollback to turn; commit",
        }
    }

    /// Whether nobody else is to have a turn in it.
    fn is_full(&self) -> bool {
        self.is_alone || self.ended.is_empty() || self.ended.len() >= TURNS_MAX
    }
}

/// What those are told whose work is lost, or may be: that another run may succeed.
fn lost(cause: &impl fmt::Display) -> sqlx::Error {
    sqlx::Error::Io(io::Error::other(format!("the commit failed: {cause}")))
}

#[cfg(test)]
mod tests;
