//! News of work, for those who wait for it: the workers of this process, and of the others on the same database.
//!
//! On PostgreSQL it travels by `notify`, yet not inside the transactions that leave the work: a commit that notifies
//! holds a lock of the whole server until it is on disk, so that every checkout's commit would wait for every other's
//! (`PreCommit_Notify` in PostgreSQL's async.c). A task tells the others afterwards, once for all that has come
//! together. On SQLite there is no such wire. News that get lost cost a second: workers also look by themselves.

use std::{sync::Arc, time::Duration};

use sqlx::{PgPool, Postgres, pool::PoolOptions, postgres::PgListener};
use tokio::sync::watch;
use uuid::Uuid;

use super::{Db, Pools, connections::Connections};

/// Every process listens here; which database they mean, and who they are, stands in the message.
const CHANNEL: &str = "boring_checkout_work";

/// Whoever tells the others rests so long, while more may come together.
const REST: Duration = Duration::from_millis(20);

/// After an error it is tried again so much later.
const PAUSE: Duration = Duration::from_secs(5);

/// What a database handle and its transactions tell.
#[derive(Debug)]
pub(super) struct News {
    /// Work that this process has left.
    own: watch::Sender<()>,
    /// Work that anybody has left.
    any: watch::Sender<()>,
}

impl News {
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self {
            own: watch::Sender::new(()),
            any: watch::Sender::new(()),
        })
    }

    pub(super) fn work_is_left(&self) {
        self.own.send_replace(());
        self.any.send_replace(());
    }
}

impl Db {
    /// Changes whenever a transaction that [left work](super::Tx::leaves_work) has been committed by this process, or
    /// by another one that is [heard](Self::exchange_news).
    pub fn work(&self) -> watch::Receiver<()> {
        self.news.any.subscribe()
    }

    /// Tells the other processes on this database of work that this one leaves, and hears of theirs, until it is
    /// dropped. On SQLite it has nothing to do.
    pub async fn exchange_news(&self) {
        if let Pools::Postgres(all) = &self.pools {
            let me = Uuid::new_v4().to_string();
            tokio::join!(self.tell(all, &me), self.hear(all.pool(), &me));
        }
    }

    async fn tell(&self, all: &Connections<Postgres>, me: &str) {
        let mut left = self.news.own.subscribe();
        while left.changed().await.is_ok() {
            if let Err(error) = notify(all, me).await {
                tracing::debug!(%error, "the other processes are not told of new work");
            }
            tokio::time::sleep(REST).await;
        }
    }

    async fn hear(&self, pool: &PgPool, me: &str) {
        loop {
            let Err(error) = self.listen(pool, me).await;
            tracing::debug!(%error, "not listening to the other processes");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// On a connection of its own: the pool's are few, and none may be kept.
    async fn listen(&self, pool: &PgPool, me: &str) -> sqlx::Result<std::convert::Infallible> {
        let own = PoolOptions::new().max_connections(1);
        let own = own.connect_lazy_with(pool.connect_options().as_ref().clone());
        let here: String = sqlx::query_scalar("select current_schema()::text")
            .fetch_one(&own)
            .await?;
        let mut listener = PgListener::connect_with(&own).await?;
        listener.listen(CHANNEL).await?;
        loop {
            // What was told before we listened, or while the connection was lost, nobody repeats.
            self.news.any.send_replace(());
            while let Some(told) = listener.try_recv().await? {
                let told = told.payload().rsplit_once('/');
                if told.is_some_and(|(database, who)| database == here && who != me) {
                    self.news.any.send_replace(());
                }
            }
        }
    }
}

async fn notify(all: &Connections<Postgres>, me: &str) -> sqlx::Result<()> {
    let mut conn = all.lend().await?;
    sqlx::query("select pg_notify($1, current_schema() || '/' || $2)")
        .bind(CHANNEL)
        .bind(me)
        .execute(conn.conn())
        .await?;
    conn.give_back();
    Ok(())
}
