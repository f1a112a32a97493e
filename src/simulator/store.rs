//! The simulator's database: one `SQLite` file, or a database in memory.
//!
//! `SQLite` has one writer at a time. All writes share a pool of *one* connection and queue for it, and each
//! takes the write lock when it begins: a transaction that reads first and locks later fails at once with
//! "database is locked" when somebody wrote in between. Readers see the last commit and never wait.

use std::{path::Path, str::FromStr, sync::Arc, time::Duration};

use sqlx::{
    Sqlite, SqlitePool, Transaction,
    migrate::Migrator,
    pool::PoolConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::lock::Lock;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/simulator");

/// How long to wait for another process's write lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait for a connection when very many ask at once. SDKs wait a little longer for their answer.
const QUEUE_PATIENCE: Duration = Duration::from_mins(1);

const READERS: u32 = 4;

pub(super) type Tx = Transaction<'static, Sqlite>;

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
    writer: SqlitePool,
    readers: SqlitePool,
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
        let lock = if in_memory {
            None
        } else {
            let file = options.get_filename();
            file.parent().map_or(Ok(()), create_folder)?;
            Some(Arc::new(Lock::take(file).await?))
        };
        // A database in memory lives and dies with its one connection, so that one must not be recycled.
        let pool = SqlitePoolOptions::new()
            .acquire_timeout(QUEUE_PATIENCE)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None);
        let writer = pool
            .clone()
            .max_connections(1)
            .connect_with(options.clone())
            .await?;
        // All of the schema, or none of it.
        let mut tx = writer.begin_with("begin immediate").await?;
        MIGRATIONS.run_direct(None, &mut *tx, false).await?;
        tx.commit().await?;
        let readers = if in_memory {
            writer.clone()
        } else {
            pool.max_connections(READERS)
                .connect_with(options.read_only(true))
                .await?
        };
        Ok(Self {
            writer,
            readers,
            lock,
        })
    }

    /// Begins a transaction that may write.
    pub(super) async fn begin(&self) -> sqlx::Result<Tx> {
        self.writer.begin_with("begin immediate").await
    }

    /// Begins a transaction that reads one snapshot.
    pub(super) async fn read(&self) -> sqlx::Result<Tx> {
        self.readers.begin().await
    }

    /// A connection for one statement, which is a snapshot by itself.
    pub(super) async fn reader(&self) -> sqlx::Result<PoolConnection<Sqlite>> {
        self.readers.acquire().await
    }

    pub(super) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
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
    use super::Store;

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

    #[tokio::test]
    async fn after_a_full_disk_it_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}/provider.db", folder.path().display());
        let store = Store::open(&url).await.expect("it opens");
        let fill =
            "insert into idempotency_keys (key, path, digest, request_id, status, body, created)
                    values ('k', '/', '-', 'r', 200, zeroblob(10000000), 0)";
        let mut tx = store.begin().await.expect("a transaction");
        sqlx::raw_sql("pragma max_page_count = 1")
            .execute(&mut *tx)
            .await
            .expect("no room is left");
        let error = sqlx::query(fill)
            .execute(&mut *tx)
            .await
            .expect_err("it is full");
        assert!(error.to_string().contains("full"), "{error}");
        drop(tx);
        let mut tx = store.begin().await.expect("a transaction");
        sqlx::raw_sql("pragma max_page_count = 100000")
            .execute(&mut *tx)
            .await
            .expect("there is room");
        sqlx::query(fill)
            .execute(&mut *tx)
            .await
            .expect("it is written");
        tx.commit().await.expect("committed");
    }
}
