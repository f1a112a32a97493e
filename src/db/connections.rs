//! Connections, at most so many at a time, which go from one caller to the next without a word to the server.
//!
//! sqlx's pool asks the server whether a connection still works ("ping") whenever one comes back to it, and has a task do so:
//! a round trip for each transaction and for each statement by itself, a quarter as many as a purchase has anyway. So what was
//! given back in good order is kept here, and lent again; after [`FRESH`] it is asked first, or goes to sqlx's pool, which asks,
//! and which opens and closes. Whatever is not given back goes there at once: the statement may have failed, or its caller may
//! have gone away.

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use sqlx::{Connection as _, Database, Pool, Postgres, Sqlite, pool::PoolConnection, query::Query};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::connect::PATIENCE;

/// For so long a connection is believed to work. One that was lost and is found out too late is what
/// [`retrying`](super::retrying) is for.
pub(super) const FRESH: Duration = Duration::from_secs(1);

/// An engine, as far as this folder tells one from another.
pub(super) trait Engine: Database {
    /// Runs a statement that is not prepared.
    fn run(
        conn: &mut Self::Connection,
        sql: &'static str,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Runs a statement, and says how many rows it has changed.
    fn execute(
        conn: &mut Self::Connection,
        query: Query<'_, Self, Self::Arguments>,
    ) -> impl Future<Output = sqlx::Result<u64>> + Send;

    /// Runs a statement, and returns its rows.
    fn fetch_all(
        conn: &mut Self::Connection,
        query: Query<'_, Self, Self::Arguments>,
    ) -> impl Future<Output = sqlx::Result<Vec<Self::Row>>> + Send;
}

/// The same words for each: only sqlx's types differ.
macro_rules! engine {
    ($engine:ty) => {
        impl Engine for $engine {
            async fn run(conn: &mut Self::Connection, sql: &'static str) -> sqlx::Result<()> {
                sqlx::raw_sql(sql).execute(conn).await.map(drop)
            }

            async fn execute(
                conn: &mut Self::Connection,
                query: Query<'_, Self, Self::Arguments>,
            ) -> sqlx::Result<u64> {
                Ok(query.execute(conn).await?.rows_affected())
            }

            async fn fetch_all(
                conn: &mut Self::Connection,
                query: Query<'_, Self, Self::Arguments>,
            ) -> sqlx::Result<Vec<Self::Row>> {
                query.fetch_all(conn).await
            }
        }
    };
}

engine!(Sqlite);
engine!(Postgres);

/// The connections of a pool, for whoever asks, in order of arrival. Clones share them.
pub(super) struct Connections<DB: Engine> {
    pool: Pool<DB>,
    /// One for each connection that may be lent.
    places: Arc<Semaphore>,
    /// Those that nobody uses, and that wait for nobody's answer; the one that has waited longest is in front.
    ready: Arc<Ready<DB>>,
}

struct Ready<DB: Engine>(Mutex<VecDeque<Checked<DB>>>);

/// A connection that worked at a moment.
struct Checked<DB: Engine> {
    conn: PoolConnection<DB>,
    at: Instant,
}

impl<DB: Engine> Connections<DB> {
    /// Those of `pool`, which nobody else asks for any.
    pub(super) fn of(pool: Pool<DB>) -> Self {
        let places = pool.options().get_max_connections();
        Self {
            pool,
            places: Arc::new(Semaphore::new(usize::try_from(places).unwrap_or(1))),
            ready: Arc::new(Ready(Mutex::default())),
        }
    }

    /// What they come from.
    pub(super) fn pool(&self) -> &Pool<DB> {
        &self.pool
    }

    /// Waits for one.
    pub(super) async fn lend(&self) -> sqlx::Result<Lent<DB>> {
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned())
            .await
            .map_err(|_| sqlx::Error::PoolTimedOut)?
            .map_err(|_| sqlx::Error::PoolClosed)?;
        let checked = match self.ready.take() {
            Some(fresh) if fresh.is_fresh() => Some(fresh),
            // Boxed, like the next, since it is large, and needed once a second.
            Some(stale) => Box::pin(stale.check()).await,
            None => None,
        };
        let checked = match checked {
            Some(checked) => checked,
            None => Checked {
                conn: Box::pin(self.pool.acquire()).await?,
                at: Instant::now(),
            },
        };
        Ok(Lent {
            checked: Some(checked),
            is_in_transaction: false,
            ready: Arc::clone(&self.ready),
            place: Some(place),
        })
    }

    /// Waits for one, and begins a transaction with `sql`.
    pub(super) async fn begin(&self, sql: &'static str) -> sqlx::Result<Lent<DB>> {
        let mut lent = self.lend().await?;
        lent.is_in_transaction = true;
        lent.run(sql).await?;
        Ok(lent)
    }

    /// Opens as many as there may be.
    pub(super) async fn open_all(&self) -> sqlx::Result<()> {
        let mut lent = Vec::new();
        while self.pool.size() < self.pool.options().get_max_connections() {
            lent.push(self.lend().await?);
        }
        lent.into_iter().for_each(Lent::give_back);
        Ok(())
    }

    /// Whether nobody holds one.
    pub(super) fn is_at_rest(&self) -> bool {
        let here = self.ready.len() + self.pool.num_idle();
        usize::try_from(self.pool.size()).is_ok_and(|size| size == here)
    }

    /// Closes each after the work on it is done, and lends none any more.
    pub(super) async fn close(&self) {
        self.places.close();
        while let Some(Checked { conn, .. }) = self.ready.take() {
            // What it says at its end is nobody's business any more.
            let _ = conn.close().await;
        }
        self.pool.close().await;
    }
}

impl<DB: Engine> Clone for Connections<DB> {
    fn clone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            places: Arc::clone(&self.places),
            ready: Arc::clone(&self.ready),
        }
    }
}

impl<DB: Engine> Ready<DB> {
    fn take(&self) -> Option<Checked<DB>> {
        self.locked().pop_front()
    }

    fn len(&self) -> usize {
        self.locked().len()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, VecDeque<Checked<DB>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// With the last handle they are closed without a goodbye: there may be no runtime any more to say it.
impl<DB: Engine> Drop for Ready<DB> {
    fn drop(&mut self) {
        for Checked { conn, .. } in mem::take(&mut *self.locked()) {
            drop(conn.leak());
        }
    }
}

impl<DB: Engine> Checked<DB> {
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < FRESH
    }

    /// Asks the server whether it still works. One that has no answer makes way for another.
    async fn check(mut self) -> Option<Self> {
        let answer = timeout(PATIENCE, self.conn.ping()).await;
        if matches!(answer, Ok(Ok(()))) {
            self.at = Instant::now();
            return Some(self);
        }
        // A goodbye could wait as long.
        drop(self.conn.detach());
        None
    }
}

/// A connection in somebody's hands. Dropped, a transaction on it is rolled back, and it is looked at before anybody else
/// gets it.
pub(super) struct Lent<DB: Engine> {
    checked: Option<Checked<DB>>,
    is_in_transaction: bool,
    ready: Arc<Ready<DB>>,
    place: Option<OwnedSemaphorePermit>,
}

impl<DB: Engine> Lent<DB> {
    pub(super) fn conn(&mut self) -> &mut DB::Connection {
        let checked = self.checked.as_mut();
        &mut checked
            .expect("a connection is there until it is given back")
            .conn
    }

    /// It is in good order: no statement is on its way on it.
    pub(super) fn give_back(mut self) {
        let ready = Arc::clone(&self.ready);
        let mut ready = ready.locked();
        // Whoever closes them waits for this one at sqlx's pool.
        let is_closing = self
            .place
            .as_ref()
            .is_none_or(|it| it.semaphore().is_closed());
        let is_fresh = self.checked.as_ref().is_some_and(Checked::is_fresh);
        if is_fresh && !is_closing && !self.is_in_transaction {
            ready.extend(self.checked.take());
        }
    }

    /// Ends its transaction.
    pub(super) async fn end(mut self, sql: &'static str) -> sqlx::Result<()> {
        self.run(sql).await?;
        self.is_in_transaction = false;
        self.give_back();
        Ok(())
    }

    async fn run(&mut self, sql: &'static str) -> sqlx::Result<()> {
        DB::run(self.conn(), sql).await
    }
}

impl<DB: Engine> Drop for Lent<DB> {
    fn drop(&mut self) {
        let (checked, place) = (self.checked.take(), self.place.take());
        if let Some(Checked { mut conn, .. }) = checked
            && self.is_in_transaction
        {
            tokio::spawn(async move {
                // A statement that was left on its way may have failed since, and PostgreSQL tells the next one so, in the
                // place of its own answer: then the rollback has not been sent. Should it fail again, the connection is
                // broken, or SQLite had rolled back by itself, and sqlx's pool finds out which.
                if DB::run(&mut conn, "rollback").await.is_err() {
                    let _ = DB::run(&mut conn, "rollback").await;
                }
                drop(conn);
                drop(place);
            });
        }
    }
}

#[cfg(test)]
mod tests;
