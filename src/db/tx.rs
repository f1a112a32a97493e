//! A transaction, and how it ends.

use std::{fmt, io, mem, panic::Location, sync::Arc, thread};

use sqlx::{Postgres, Sqlite};

use super::{
    Db, News, Query,
    connections::Lent,
    query::{On, Watch},
    shared_commit::Turn,
};
use crate::probe::{Boundary, Failure, Probe, report};

/// A transaction on either engine. Dropped without [`commit`](Tx::commit), it rolls back.
///
/// On SQLite it may have seen what others have written and not committed yet. So whoever tells anybody what it has found
/// [ends](Tx::end) it first, which waits for them. Only a failure of the database's may drop it: that tells nothing.
pub struct Tx {
    conn: Conn,
    probe: Option<Probe>,
    news: Arc<News>,
    leaves_work: bool,
    state: State,
}

/// What it is a transaction of.
pub(super) enum Conn {
    Turn(Turn),
    Snapshot(Lent<Sqlite>),
    Postgres(Lent<Postgres>),
}

impl Tx {
    /// Of one that writes. Has it a transaction of its own (`is_alone`), then it has seen nothing but what is on disk.
    pub(super) async fn writing(conn: Conn, db: &Db, is_alone: bool) -> sqlx::Result<Self> {
        let state = State {
            may_lose: true,
            may_be_dropped: is_alone,
            is_whole: false,
        };
        Self::begun(conn, db, state, Boundary::AfterBegin).await
    }

    /// Of a snapshot.
    pub(super) async fn reading(conn: Conn, db: &Db) -> sqlx::Result<Self> {
        let state = State {
            may_lose: false,
            may_be_dropped: true,
            is_whole: false,
        };
        Self::begun(conn, db, state, Boundary::AfterSnapshot).await
    }

    async fn begun(conn: Conn, db: &Db, state: State, boundary: Boundary) -> sqlx::Result<Self> {
        let mut tx = Self {
            conn,
            probe: db.probe.clone(),
            news: Arc::clone(&db.news),
            leaves_work: false,
            state,
        };
        report(tx.probe.as_ref(), boundary).await?;
        tx.state.is_whole = true;
        Ok(tx)
    }

    /// Starts a query. `sql` is a literal, so what users type can reach it through `bind` only.
    ///
    /// Text inside `/*pg … */` runs on PostgreSQL only; to SQLite it is a comment.
    #[track_caller]
    pub fn query(&mut self, sql: &'static str) -> Query<'_> {
        let place = Location::caller();
        let watch = Watch::within(self.probe.as_ref(), &mut self.state.is_whole);
        match &mut self.conn {
            Conn::Turn(turn) => Query::on_sqlite(sql, place, On::This(turn.conn()), watch),
            Conn::Snapshot(tx) => Query::on_sqlite(sql, place, On::This(tx.conn()), watch),
            Conn::Postgres(tx) => Query::on_postgres(sql, place, On::This(tx.conn()), watch),
        }
    }

    /// Says that it writes what a worker waits for: workers are woken once it is committed, and not before, since they
    /// would find nothing.
    pub fn leaves_work(&mut self) {
        self.leaves_work = true;
    }

    /// Makes the work last. An error means that the outcome is unknown: run the phase again, it must find its
    /// own work (see [`retrying`](super::retrying)).
    pub async fn commit(mut self) -> sqlx::Result<()> {
        if !mem::replace(&mut self.state.is_whole, false) {
            return Err(Failure::Lost.into());
        }
        report(self.probe.as_ref(), Boundary::BeforeCommit).await?;
        match self.conn {
            Conn::Turn(turn) => turn.end(true).await?,
            Conn::Snapshot(tx) => tx.end("commit").await?,
            Conn::Postgres(tx) => tx.end("commit").await?,
        }
        self.state.may_lose = false;
        tracing::debug!("commit");
        if self.leaves_work {
            self.news.work_is_left();
        }
        Ok(report(self.probe.as_ref(), Boundary::AfterCommit).await?)
    }

    /// Undoes the work. Afterwards what was found may be told: it is on disk. An error means that it may be lost, and that
    /// another run may find something else.
    pub async fn rollback(mut self) -> sqlx::Result<()> {
        self.state.is_whole = false;
        match self.conn {
            Conn::Turn(turn) => turn.end(false).await,
            Conn::Snapshot(tx) => tx.end("rollback").await,
            Conn::Postgres(tx) => tx.end("rollback").await,
        }
    }

    /// Ends a phase as its `outcome` says: what went well is [committed](Self::commit), what did not is
    /// [undone](Self::rollback). Either may be told afterwards.
    pub async fn end<T, E: From<sqlx::Error>>(self, outcome: Result<T, E>) -> Result<T, E> {
        match outcome {
            Ok(_) => self.commit().await?,
            Err(_) => self.rollback().await?,
        }
        outcome
    }
}

/// What is known of a transaction when it goes.
struct State {
    /// There would be something to roll back: it may write, and was not committed.
    may_lose: bool,
    may_be_dropped: bool,
    /// No statement of it has failed, none is on its way, and it was not ended.
    is_whole: bool,
}

impl Drop for State {
    fn drop(&mut self) {
        if self.may_lose {
            // For whoever turns the log up.
            tracing::debug!("rollback");
        }
        // A caller that goes away does so while a statement or the commit is on its way: nothing else is waited for within
        // a phase. So here is one that goes on, and may tell somebody what it has found.
        debug_assert!(
            self.may_be_dropped || !self.is_whole || thread::panicking(),
            "a transaction is ended before anybody is told what it has found"
        );
    }
}

impl From<Failure> for sqlx::Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Lost => Self::Io(io::ErrorKind::ConnectionReset.into()),
            Failure::Database(error) => error,
        }
    }
}

impl fmt::Debug for Tx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tx")
    }
}
