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
mod connections;
mod news;
mod query;
mod retry;
mod shared_commit;
mod tx;

use std::{fmt, panic::Location, sync::Arc};

use sqlx::{Postgres, Sqlite};

use self::{
    connections::Connections,
    news::News,
    query::{On, Watch},
    shared_commit::Writer,
    tx::Conn,
};
pub use self::{
    query::{Query, Row, Value},
    retry::{Transient, retrying},
    tx::Tx,
};
use crate::probe::{Boundary, Probe, report};

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
    /// SQLite has one writer at a time. Writers queue for it in order of arrival, rather than collide and fail with
    /// "database is locked".
    Sqlite {
        writer: Writer,
        readers: Connections<Sqlite>,
    },
    Postgres(Connections<Postgres>),
}

impl Db {
    /// Begins a transaction that may write. Wrap the function that does it in [`retrying`], and end it with
    /// [`commit`](Tx::commit), [`end`](Tx::end) or [`rollback`](Tx::rollback).
    ///
    /// On SQLite it is `begin immediate`: the write lock is taken here, where waiting is safe. A plain `begin`
    /// takes it at the first write, after rows were already read; if anybody wrote in between, those rows are
    /// stale and SQLite fails at once instead of waiting. Those who wait for it share a commit.
    pub async fn begin(&self) -> sqlx::Result<Tx> {
        self.begin_writing(false).await
    }

    /// As [`begin`](Self::begin), for a transaction that may take long. It shares its commit with nobody, so that nobody who
    /// is done waits for it.
    pub async fn begin_alone(&self) -> sqlx::Result<Tx> {
        self.begin_writing(true).await
    }

    async fn begin_writing(&self, is_alone: bool) -> sqlx::Result<Tx> {
        report(self.probe(), Boundary::BeforeBegin).await?;
        let conn = match &self.pools {
            Pools::Sqlite { writer, .. } => Conn::Turn(writer.begin(is_alone).await?),
            Pools::Postgres(all) => Conn::Postgres(all.begin("begin").await?),
        };
        tracing::debug!("begin");
        Tx::writing(conn, self, is_alone).await
    }

    /// Begins a read-only transaction over one snapshot of the database.
    pub async fn read(&self) -> sqlx::Result<Tx> {
        report(self.probe(), Boundary::BeforeSnapshot).await?;
        let conn = match &self.pools {
            Pools::Sqlite { readers, .. } => Conn::Snapshot(readers.begin("begin").await?),
            Pools::Postgres(all) => {
                let begin = "begin isolation level repeatable read, read only";
                Conn::Postgres(all.begin(begin).await?)
            }
        };
        Tx::reading(conn, self).await
    }

    /// One statement that only reads, outside any transaction: one round trip.
    #[track_caller]
    pub fn query(&self, sql: &'static str) -> Query<'_> {
        let (place, watch) = (Location::caller(), Watch::alone(self.probe()));
        match &self.pools {
            Pools::Sqlite { readers, .. } => Query::on_sqlite(sql, place, On::Any(readers), watch),
            Pools::Postgres(all) => Query::on_postgres(sql, place, On::Any(all), watch),
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
        match &self.pools {
            Pools::Sqlite { .. } => Ok(()),
            Pools::Postgres(all) => all.open_all().await,
        }
    }

    /// Whether nobody holds a connection.
    pub fn is_at_rest(&self) -> bool {
        match &self.pools {
            Pools::Sqlite { writer, readers } => writer.is_at_rest() && readers.is_at_rest(),
            Pools::Postgres(all) => all.is_at_rest(),
        }
    }

    /// Closes every connection, after the work on it is done.
    pub async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(all) => all.close().await,
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
