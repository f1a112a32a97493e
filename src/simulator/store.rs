//! The simulator's database: one `SQLite` file, or a database in memory.
//!
//! `SQLite` has one writer at a time. All writes share *one* connection and queue for it, and each takes the write
//! lock when it begins: a transaction that reads first and locks later fails at once with "database is locked" when
//! somebody wrote in between. Readers see the last commit and never wait; in memory, where there is no other
//! connection, they queue with the writers.
//!
//! A connection has a thread of its own, and each statement goes there and back. That trip takes longer than most
//! statements, so what is often done is done in few of them. Whatever a pool would do with a connection that comes
//! back, the writer's connection is spared: it goes from hand to hand.

use std::{path::Path, str::FromStr, sync::Arc, time::Duration};

use sqlx::{
    Connection, SqliteConnection, SqlitePool,
    migrate::Migrator,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::{
    sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard},
    time::timeout,
};

use super::{
    lock::Lock,
    transaction::{Conn, Tx},
};

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/simulator");

/// How long to wait for another process's write lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait for a connection when very many ask at once. SDKs wait a little longer for their answer.
const QUEUE_PATIENCE: Duration = Duration::from_mins(1);

const READERS: u32 = 4;

/// Bytes of a page of a database in memory. Whenever `SQLite` has balanced an index, it looks through all pages that are in
/// memory at the next commit (`pcache1TruncateUnsafe`, after `balance_nonroot` gave one a number beyond the last). Here
/// that is the whole database: with pages of 4 KB a third of all time went there after ten thousand payments.
const MEMORY_PAGE: u32 = 32_768;

/// Why the database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another kind of database, or a plain path.
    #[error("its URL must begin with sqlite:")]
    NotSqlite,
    /// The folder of the database file is missing and could not be made.
    #[error("its folder cannot be created: {0}")]
    Folder(std::io::Error),
    /// Another simulator has the database open.
    #[error("another simulator is running on it: stop that one, or use another database")]
    InUse,
    /// The file beside it that says so cannot be used.
    #[error("its lock file cannot be used: {0}")]
    Lock(std::io::Error),
    /// The schema could not be brought up to date: perhaps a newer version wrote the file.
    #[error("its schema cannot be brought up to date: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// What the endpoints of the command line are compared with cannot be read or written.
    #[error("its webhook endpoints cannot be brought up to date: {0}")]
    Endpoints(Box<dyn std::error::Error + Send + Sync>),
    /// The URL is wrong, or `SQLite` cannot open what it names.
    #[error(transparent)]
    Sqlx(#[from] sqlx::Error),
}

/// A handle to the database; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// Whoever has the lock has the turn to write. It is fair. `None`: closed.
    writer: Arc<Mutex<Option<SqliteConnection>>>,
    /// `None` in memory, where the writer's connection is the only one.
    readers: Option<SqlitePool>,
    /// `None` in memory, where nobody else can come.
    lock: Option<Arc<Lock>>,
}

impl Store {
    /// Opens `url` (`sqlite://path/to/file.db` or `sqlite::memory:`), creating what is missing.
    pub(super) async fn open(url: &str) -> Result<Self, StoreError> {
        if !url.starts_with("sqlite:") {
            return Err(StoreError::NotSqlite);
        }
        let options = SqliteConnectOptions::from_str(url)?
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(PATIENCE)
            .journal_mode(SqliteJournalMode::Wal)
            // A charge that was answered for must survive a power cut.
            .synchronous(SqliteSynchronous::Full);
        let in_memory = url.contains(":memory:") || url.contains("mode=memory");
        let options = if in_memory {
            options.page_size(MEMORY_PAGE)
        } else {
            options
        };
        let lock = if in_memory {
            None
        } else {
            let file = options.get_filename();
            file.parent().map_or(Ok(()), create_folder)?;
            Some(Arc::new(Lock::take(file).await?))
        };
        let mut writer = SqliteConnection::connect_with(&options).await?;
        // All of the schema, or none of it.
        let mut tx = writer.begin_with("begin immediate").await?;
        MIGRATIONS.run_direct(None, &mut *tx, false).await?;
        tx.commit().await?;
        let readers = if in_memory {
            None
        } else {
            let pool = SqlitePoolOptions::new()
                .max_connections(READERS)
                .acquire_timeout(QUEUE_PATIENCE)
                .test_before_acquire(false)
                .idle_timeout(None)
                .max_lifetime(None);
            Some(pool.connect_with(options.read_only(true)).await?)
        };
        Ok(Self {
            writer: Arc::new(Mutex::new(Some(writer))),
            readers,
            lock,
        })
    }

    /// The turn to write, for a transaction whose first statement begins it, in the same trip: "begin immediate; …".
    pub(super) async fn turn(&self) -> sqlx::Result<Tx> {
        Ok(Tx::on(Conn::Writer(self.writer().await?)))
    }

    /// Begins a transaction that may write.
    pub(super) async fn begin(&self) -> sqlx::Result<Tx> {
        let mut tx = self.turn().await?;
        tx.write("begin immediate");
        Ok(tx)
    }

    /// Begins a transaction that reads one snapshot.
    pub(super) async fn read(&self) -> sqlx::Result<Tx> {
        let mut tx = Tx::on(self.reader().await?);
        tx.write("begin");
        Ok(tx)
    }

    /// A connection for one statement, which is a snapshot by itself.
    pub(super) async fn reader(&self) -> sqlx::Result<Conn> {
        match &self.readers {
            Some(pool) => Ok(Conn::Reader(pool.acquire().await?)),
            None => Ok(Conn::Writer(self.writer().await?)),
        }
    }

    async fn writer(
        &self,
    ) -> sqlx::Result<OwnedMappedMutexGuard<Option<SqliteConnection>, SqliteConnection>> {
        let turn = timeout(QUEUE_PATIENCE, Arc::clone(&self.writer).lock_owned()).await;
        let turn = turn.map_err(|_| sqlx::Error::PoolTimedOut)?;
        OwnedMutexGuard::try_map(turn, Option::as_mut).map_err(|_| sqlx::Error::PoolClosed)
    }

    /// Waits for whoever has a connection.
    pub(super) async fn close(&self) {
        if let Some(readers) = &self.readers {
            readers.close().await;
        }
        if let Some(writer) = self.writer.lock().await.take() {
            // The last one to leave writes the log back into the file. If it cannot, the next one to come does.
            let _ = writer.close().await;
        }
        if let Some(lock) = &self.lock {
            lock.release();
        }
    }
}

fn create_folder(folder: &Path) -> Result<(), StoreError> {
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(StoreError::Folder)
}

#[cfg(test)]
mod tests {
    use super::{Store, Tx};

    /// Else each change of an object would read all deliveries that there ever were.
    #[tokio::test]
    async fn whoever_refers_to_an_object_is_found_by_an_index_of_all_rows() {
        let store = Store::open("sqlite::memory:").await.expect("it opens");
        let mut reader = store.reader().await.expect("a connection");
        let without: Vec<(String, String)> = sqlx::query_as(
            r#"select t.name, key."from"
               from sqlite_schema t, pragma_foreign_key_list(t.name) key
               where t.type = 'table' and not exists (
                   select 1 from pragma_index_list(t.name) i, pragma_index_info(i.name) c
                   where i.partial = 0 and c.seqno = 0 and c.name = key."from")"#,
        )
        .fetch_all(&mut *reader)
        .await
        .expect("the schema");
        assert_eq!(without, []);
    }

    async fn count(tx: &mut Tx) -> i64 {
        let conn = tx.conn().await.expect("a connection");
        sqlx::query_scalar("select count(*) from scheduled")
            .fetch_one(conn)
            .await
            .expect("a number")
    }

    fn schedule(tx: &mut Tx, effect: &str) {
        tx.write("insert into scheduled (due_at, effect, object_id) values (?, ?, ?)")
            .bind(0)
            .bind(effect)
            .bind("pi_1");
    }

    #[tokio::test]
    async fn whoever_asks_sees_what_was_written_and_nobody_sees_what_was_not_committed() {
        let store = Store::open("sqlite::memory:").await.expect("it opens");
        let mut tx = store.begin().await.expect("a transaction");
        schedule(&mut tx, "make_available");
        schedule(&mut tx, "settle_debit");
        assert_eq!(count(&mut tx).await, 2);
        schedule(&mut tx, "open_dispute");
        tx.commit().await.expect("committed");

        let mut tx = store.begin().await.expect("another one");
        schedule(&mut tx, "fail_refund");
        assert_eq!(count(&mut tx).await, 4);
        drop(tx);
        let mut tx = store.begin().await.expect("another one");
        schedule(&mut tx, "fail_refund");
        drop(tx);
        let mut tx = store.read().await.expect("another one");
        assert_eq!(count(&mut tx).await, 3);
    }

    #[tokio::test]
    async fn what_cannot_be_written_takes_all_of_its_transaction_along() {
        let store = Store::open("sqlite::memory:").await.expect("it opens");
        let mut tx = store.begin().await.expect("a transaction");
        schedule(&mut tx, "make_available");
        tx.write("insert into scheduled (due_at) values (?)")
            .bind(0);
        schedule(&mut tx, "make_available");
        tx.commit().await.expect_err("an effect is missing");
        let mut tx = store.read().await.expect("another one");
        assert_eq!(count(&mut tx).await, 0);
    }

    /// `SQLite` rolls back by itself then, and the next one has to be able to begin.
    #[tokio::test]
    async fn a_disk_that_was_full_is_written_again_once_there_is_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("provider.db").display());
        let store = Store::open(&url).await.expect("it opens");
        let run = async |sql: &'static str| {
            let mut tx = store.begin().await?;
            tx.write(sql);
            tx.commit().await
        };
        let write = "insert into scheduled (due_at, effect, object_id)
                     values (0, 'make_available', hex(zeroblob(100000)))";
        run("pragma max_page_count = 1").await.expect("begun");
        run(write).await.expect_err("there is no room");
        run("pragma max_page_count = 1000000").await.expect("begun");
        run(write).await.expect("there is room again");
    }
}
