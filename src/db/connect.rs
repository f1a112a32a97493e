//! Opening a database of either engine, and bringing its schema up to date.

use std::{path::Path, str::FromStr, sync::LazyLock, time::Duration};

use sqlx::{
    Connection as _, Executor as _, PgConnection, PgPool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    Db, Pools,
    connections::{Connections, FRESH},
    news::News,
    retrying,
    shared_commit::Writer,
};

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES_MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrations = sqlx::migrate!("migrations/postgres");
    // Its own lock is the whole database's, and is waited for no longer than any other.
    migrations.set_locking(false);
    migrations
});

/// How long to wait for a connection, for SQLite's write lock, or for a lock on a row, before giving up.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Readers of one process on SQLite. They never wait for the writer; more of them than cores gain nothing.
const SQLITE_READERS: u32 = 4;

/// Connections of one process on PostgreSQL. A phase holds one for a few milliseconds and never during a call
/// to the provider, so few serve many; every one costs the server memory.
const POSTGRES_CONNECTIONS: u32 = 16;

impl Db {
    /// Opens the database named by `url` and brings its schema up to date. Safe for several processes at once.
    pub async fn open(url: &str) -> sqlx::Result<Self> {
        Self::open_with(url, POSTGRES_CONNECTIONS).await
    }

    /// As [`open`](Self::open), with `connections` at most on PostgreSQL. SQLite has its one writer.
    pub async fn open_with(url: &str, connections: u32) -> sqlx::Result<Self> {
        open(url, connections, Schema::BringUpToDate).await
    }

    /// As [`open`](Self::open), for somebody who only looks: nothing is created or upgraded.
    pub async fn open_as_it_is(url: &str) -> sqlx::Result<Self> {
        let db = open(url, POSTGRES_CONNECTIONS, Schema::TakeAsItIs).await?;
        // A database without our tables is somebody else's, or a mistyped name: say so before anybody trusts it.
        let _: i64 = db
            .query("select count(*) from products")
            .fetch_scalar()
            .await?;
        Ok(db)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Schema {
    BringUpToDate,
    TakeAsItIs,
}

async fn open(url: &str, connections: u32, schema: Schema) -> sqlx::Result<Db> {
    if is_postgres(url) {
        let options = PgConnectOptions::from_str(url)?;
        return open_postgres(options, connections, schema).await;
    }
    if schema == Schema::BringUpToDate {
        create_folder_of(url)?;
    }
    // Of several processes that open a new file at once, only one can switch it to WAL.
    retrying(|| open_sqlite(url, schema)).await
}

fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres:") || url.starts_with("postgresql:")
}

async fn open_sqlite(url: &str, schema: Schema) -> sqlx::Result<Db> {
    let options = SqliteConnectOptions::from_str(url)?
        .create_if_missing(schema == Schema::BringUpToDate)
        .foreign_keys(true)
        .busy_timeout(PATIENCE)
        // Readers see the last commit while the writer works.
        .journal_mode(SqliteJournalMode::Wal)
        // A committed payment must survive a power cut, not only a crash of this process.
        .synchronous(SqliteSynchronous::Full);
    let pool = SqlitePoolOptions::new()
        .acquire_timeout(PATIENCE)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None);
    let writer = pool
        .clone()
        .max_connections(1)
        .connect_with(options.clone())
        .await?;
    if schema == Schema::BringUpToDate {
        // sqlx locks the database while it migrates PostgreSQL, but not SQLite. Inside one write transaction, a
        // second process that starts now waits, and then finds nothing to do.
        let mut tx = writer.begin_with("begin immediate").await?;
        SQLITE_MIGRATIONS.run_direct(None, &mut *tx, false).await?;
        tx.commit().await?;
    }
    let writer = Connections::of(writer);
    // A database in memory lives and dies with its one connection, which reads must share.
    let readers = if url.contains(":memory:") || url.contains("mode=memory") {
        writer.clone()
    } else {
        let readers = pool.max_connections(SQLITE_READERS);
        Connections::of(readers.connect_with(options.read_only(true)).await?)
    };
    Ok(Db {
        pools: Pools::Sqlite {
            writer: Writer::new(writer),
            readers,
        },
        probe: None,
        news: News::none(),
    })
}

async fn open_postgres(
    options: PgConnectOptions,
    connections: u32,
    schema: Schema,
) -> sqlx::Result<Db> {
    let options = named(options).options([
        ("lock_timeout", format!("{}ms", PATIENCE.as_millis())),
        // Not each start's "relation already exists, skipping".
        ("client_min_messages", "warning".to_owned()),
    ]);
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(PATIENCE)
        .test_before_acquire(false)
        .before_acquire(|conn, meta| {
            Box::pin(async move {
                if meta.idle_for > FRESH {
                    conn.ping().await?;
                }
                Ok(true)
            })
        })
        .connect_with(options.clone())
        .await;
    let pool = match pool {
        // The pool has tried for a while, and does not tell what came of it.
        Err(sqlx::Error::PoolTimedOut) => {
            PgConnection::connect_with(&options).await?;
            return Err(sqlx::Error::PoolTimedOut);
        }
        outcome => outcome?,
    };
    if schema == Schema::BringUpToDate {
        migrate_postgres(&pool).await?;
    }
    Ok(Db {
        pools: Pools::Postgres(Connections::of(pool)),
        probe: None,
        news: News::none(),
    })
}

/// Several processes that start at once take turns. A chapter may take longer than anybody waits for a lock in a transaction, and
/// whoever comes meanwhile waits for it all the same.
async fn migrate_postgres(pool: &PgPool) -> sqlx::Result<()> {
    let mut conn = pool.acquire().await?;
    conn.execute(TAKE_TURN).await?;
    POSTGRES_MIGRATIONS
        .run_direct(None, &mut *conn, false)
        .await?;
    conn.execute(LEAVE_TURN).await?;
    Ok(())
}

/// The lock is that of the schema: others of the same database have migrations of their own.
const TAKE_TURN: &str = "
    set lock_timeout = 0;
    select pg_advisory_lock(hashtext('boring-checkout migrates'), hashtext(current_schema()));
    reset lock_timeout";
const LEAVE_TURN: &str =
    "select pg_advisory_unlock(hashtext('boring-checkout migrates'), hashtext(current_schema()))";

/// How the server's own views call us, unless the URL says otherwise.
fn named(options: PgConnectOptions) -> PgConnectOptions {
    match options.get_application_name() {
        Some(_) => options,
        None => options.application_name("boring-checkout"),
    }
}

/// SQLite creates a missing file, not the folder it is in.
fn create_folder_of(url: &str) -> sqlx::Result<()> {
    let path = url
        .trim_start_matches("sqlite:")
        .trim_start_matches("//")
        .split('?')
        .next()
        .unwrap_or_default();
    match Path::new(path).parent() {
        Some(folder) if !path.contains(":memory:") => Ok(std::fs::create_dir_all(folder)?),
        _ => Ok(()),
    }
}
