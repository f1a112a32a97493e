//! One database interface over two engines.
//!
//! The shop runs on SQLite (a file, nothing to install) or on PostgreSQL, chosen at run time by the scheme of
//! the URL. Every statement of the shop stands once in the source, as plain SQL with `$1` parameters:
//!
//! ```ignore
//! let order: Option<Order> = tx
//!     .query("select * from orders where number = $1")
//!     .bind(number)
//!     .fetch_optional()
//!     .await?;
//! ```
//!
//! This works because the engines share far more SQL than they differ in: `$1` parameters, `on conflict … do
//! nothing`, `returning`, partial unique indexes. What they do not share lives in this folder and in
//! `migrations/`, and nowhere else.
//!
//! There are three ways in. [`Db::begin`] is for a phase that writes; wrap the function that does it in
//! [`retrying`]. [`Db::read`] gives one consistent snapshot to render a page from. [`Db::query`] is one reading
//! statement by itself, for which a transaction would only add round trips.

mod connect;
mod news;
mod query;
mod retry;

use std::{fmt, io, panic::Location, sync::Arc};

use sqlx::{Database, PgPool, Pool, SqlitePool, Transaction};

use self::news::News;
use self::query::Watch;
pub use self::{
    query::{Query, Row, Value},
    retry::{Transient, retrying},
};
use crate::probe::{Boundary, Failure, Probe, report};

/// A handle to the database; cheap to clone.
#[derive(Clone)]
pub struct Db {
    pools: Pools,
    probe: Option<Probe>,
    /// All clones share them.
    news: Arc<News>,
}

#[derive(Clone)]
enum Pools {
    /// SQLite has one writer at a time. Writers share a pool of *one* connection and queue for it in order of
    /// arrival, rather than collide and fail with "database is locked".
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
    },
    Postgres(PgPool),
}

impl Db {
    /// Begins a transaction that may write. Wrap the function that does it in [`retrying`].
    ///
    /// On SQLite it is `begin immediate`: the write lock is taken here, where waiting is safe. A plain `begin`
    /// takes it at the first write, after rows were already read; if anybody wrote in between, those rows are
    /// stale and SQLite fails at once instead of waiting.
    pub async fn begin(&self) -> sqlx::Result<Tx> {
        report(self.probe(), Boundary::BeforeBegin).await?;
        let mut tx = self.start("begin immediate", "begin").await?;
        tracing::debug!("begin");
        tx.ending.may_lose = true;
        report(self.probe(), Boundary::AfterBegin).await?;
        Ok(tx)
    }

    /// Begins a read-only transaction over one snapshot of the database.
    pub async fn read(&self) -> sqlx::Result<Tx> {
        report(self.probe(), Boundary::BeforeSnapshot).await?;
        let postgres = "begin isolation level repeatable read, read only";
        let tx = self.start("begin", postgres).await?;
        report(self.probe(), Boundary::AfterSnapshot).await?;
        Ok(tx)
    }

    async fn start(&self, sqlite: &'static str, postgres: &'static str) -> sqlx::Result<Tx> {
        let conn = match &self.pools {
            Pools::Sqlite { writer, readers } => {
                let pool = if sqlite == "begin" { readers } else { writer };
                Conn::Sqlite(uncancelled(pool, sqlite).await?)
            }
            Pools::Postgres(pool) => Conn::Postgres(uncancelled(pool, postgres).await?),
        };
        Ok(Tx {
            conn,
            probe: self.probe.clone(),
            is_lost: false,
            news: Arc::clone(&self.news),
            leaves_work: false,
            ending: Ending::default(),
        })
    }

    /// One statement that only reads, outside any transaction: one round trip.
    #[track_caller]
    pub fn query(&self, sql: &'static str) -> Query<'_> {
        let (place, watch) = (Location::caller(), Watch::alone(self.probe()));
        match &self.pools {
            Pools::Sqlite { readers, .. } => Query::on_sqlite_pool(sql, place, readers, watch),
            Pools::Postgres(pool) => Query::on_postgres_pool(sql, place, pool, watch),
        }
    }

    /// The same database, with every boundary reported to `probe`.
    #[must_use = "the probe is on the returned handle"]
    pub fn with_probe(&self, probe: Probe) -> Self {
        Self {
            probe: Some(probe),
            ..self.clone()
        }
    }

    /// Who is told of the boundaries of whatever works on this handle.
    pub fn probe(&self) -> Option<&Probe> {
        self.probe.as_ref()
    }

    /// Whether the engine is PostgreSQL; else it is SQLite.
    pub fn is_postgres(&self) -> bool {
        matches!(self.pools, Pools::Postgres(_))
    }

    /// The connections of this handle for a process that shares nothing else with its owner: neither probe nor news.
    #[must_use = "the handle is the other's"]
    pub fn of_another_process(&self) -> Self {
        Self {
            pools: self.pools.clone(),
            probe: None,
            news: News::none(),
        }
    }

    /// Opens as many connections as there may be, within the runtime of whoever asks; those of SQLite are opened when they
    /// are needed.
    pub async fn open_all(&self) -> sqlx::Result<()> {
        let Pools::Postgres(pool) = &self.pools else {
            return Ok(());
        };
        let mut held = Vec::new();
        while pool.size() < pool.options().get_max_connections() {
            held.push(pool.acquire().await?);
        }
        Ok(())
    }

    /// Whether nobody holds a connection.
    pub fn is_at_rest(&self) -> bool {
        fn is_at_rest<DB: Database>(pool: &Pool<DB>) -> bool {
            usize::try_from(pool.size()).is_ok_and(|size| size == pool.num_idle())
        }
        match &self.pools {
            Pools::Sqlite { writer, readers } => is_at_rest(writer) && is_at_rest(readers),
            Pools::Postgres(pool) => is_at_rest(pool),
        }
    }

    /// Closes every connection, after the work on it is done.
    pub async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_postgres() {
            "Db(postgres)"
        } else {
            "Db(sqlite)"
        })
    }
}

/// A transaction on either engine. Dropped without [`commit`](Tx::commit), it rolls back.
pub struct Tx {
    conn: Conn,
    probe: Option<Probe>,
    /// The probe took its connection away.
    is_lost: bool,
    news: Arc<News>,
    leaves_work: bool,
    ending: Ending,
}

/// Tells whoever turns the log up that a transaction was not committed. One that only reads has nothing to lose.
#[derive(Default)]
struct Ending {
    may_lose: bool,
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.may_lose {
            tracing::debug!("rollback");
        }
    }
}

enum Conn {
    Sqlite(Transaction<'static, sqlx::Sqlite>),
    Postgres(Transaction<'static, sqlx::Postgres>),
}

impl Tx {
    /// Starts a query. `sql` is a literal, so what users type can reach it through `bind` only.
    ///
    /// Text inside `/*pg … */` runs on PostgreSQL only; to SQLite it is a comment.
    #[track_caller]
    pub fn query(&mut self, sql: &'static str) -> Query<'_> {
        let place = Location::caller();
        let watch = Watch::within(self.probe.as_ref(), &mut self.is_lost);
        match &mut self.conn {
            Conn::Sqlite(tx) => Query::on_sqlite(sql, place, tx, watch),
            Conn::Postgres(tx) => Query::on_postgres(sql, place, tx, watch),
        }
    }

    /// Says that it writes what a worker waits for: workers are woken once it is committed, and not before, since they
    /// would find nothing.
    pub fn leaves_work(&mut self) {
        self.leaves_work = true;
    }

    /// Makes the work last. An error means that the outcome is unknown: run the phase again, it must find its
    /// own work (see [`retrying`]).
    pub async fn commit(mut self) -> sqlx::Result<()> {
        Watch::within(self.probe.as_ref(), &mut self.is_lost)
            .report(Boundary::BeforeCommit)
            .await?;
        match self.conn {
            Conn::Sqlite(tx) => tx.commit().await?,
            Conn::Postgres(tx) => tx.commit().await?,
        }
        self.ending.may_lose = false;
        tracing::debug!("commit");
        if self.leaves_work {
            self.news.work_is_left();
        }
        Ok(report(self.probe.as_ref(), Boundary::AfterCommit).await?)
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

/// Begins in a task of its own, which a caller that goes away does not cancel.
///
/// With sqlx 0.9.0 a `begin` cancelled half-way can hand a PostgreSQL connection back to the pool inside a
/// transaction (its issues 4385 and 4393). Here the task finishes, and dropping its transaction rolls it back.
async fn uncancelled<DB: Database>(
    pool: &Pool<DB>,
    begin: &'static str,
) -> sqlx::Result<Transaction<'static, DB>> {
    let pool = pool.clone();
    tokio::spawn(async move { pool.begin_with(begin).await })
        .await
        .unwrap_or(Err(sqlx::Error::WorkerCrashed))
}
