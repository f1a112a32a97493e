//! The ground that worlds stand on, one after the other: a scratch database, and a provider in memory.
//!
//! A world has to begin with nothing, and cheaply. On SQLite that is a copy of a file that was migrated once, in memory where
//! the system has a file system there: a commit then costs no disk. On PostgreSQL it is a database of its own, which is
//! emptied in between.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use chrono::Utc;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::{
    catalog,
    db::Db,
    lab::{bank::Bank, flow::Failed, naive},
    money::Currency,
    provider::Provider,
    secret::Secret,
    simulator::{Control, Simulator},
};

/// The shop's key at the provider.
pub const PROVIDER_KEY: &str = "sk_test_boring";

/// Signs the provider's webhooks.
pub const WEBHOOK_SECRET: &str = "whsec_boring";

/// Nothing here takes as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// What worlds stand on.
pub struct Ground {
    database: Scratch,
    simulator: Simulator,
    provider: Provider,
    bank: Bank,
}

enum Scratch {
    Sqlite(Folder),
    Postgres(Postgres),
}

impl Ground {
    /// One on SQLite.
    pub async fn sqlite() -> Result<Self, Failed> {
        Self::with(Scratch::Sqlite(Folder::make().await?)).await
    }

    /// One on a PostgreSQL server, in a database that is made there and [removed](Self::remove) at the end.
    pub async fn postgres(server: &Secret) -> Result<Self, Failed> {
        Self::with(Scratch::Postgres(Postgres::make(server).await?)).await
    }

    async fn with(database: Scratch) -> Result<Self, Failed> {
        let simulator = Simulator::start().await?;
        let key = Secret::new(PROVIDER_KEY);
        let provider = Provider::new(&simulator.url(), key, PATIENCE)?;
        Ok(Self {
            bank: Bank::at(simulator.url(), PROVIDER_KEY.into())?,
            provider,
            simulator,
            database,
        })
    }

    /// Clears away what the world before has left, and says where the database is.
    pub(super) async fn clear(&self) -> Result<String, Failed> {
        self.control().reset().await?;
        match &self.database {
            Scratch::Sqlite(folder) => folder.clear(),
            Scratch::Postgres(postgres) => postgres.clear().await,
        }
    }

    /// Removes the database. Nobody stands on it any more.
    pub async fn remove(self) -> Result<(), Failed> {
        self.simulator.stop().await;
        match self.database {
            Scratch::Sqlite(folder) => {
                drop(folder);
                Ok(())
            }
            Scratch::Postgres(postgres) => postgres.remove().await,
        }
    }

    /// Waits until the database has noticed that a process has died, and has rolled back what it was at.
    pub(super) async fn notice_the_dead(&self) -> Result<(), Failed> {
        match &self.database {
            // The system lets go of the locks of the dead, and whoever comes next waits for them.
            Scratch::Sqlite(_) => Ok(()),
            Scratch::Postgres(postgres) => postgres.notice_the_dead().await,
        }
    }

    /// Where the provider is.
    pub fn provider_url(&self) -> String {
        self.simulator.url()
    }

    /// The levers of the provider.
    pub fn control(&self) -> Control {
        self.simulator.control()
    }

    /// All that the provider has to tell, the oldest first.
    pub async fn events(&self) -> Result<Vec<Arc<Value>>, Failed> {
        let page = self.provider.events_since(0).await?;
        Ok(page.events.into_iter().map(Arc::new).collect())
    }

    /// Approves what the bank asks at `page`.
    pub(super) async fn approve(&self, page: &str) -> Result<(), Failed> {
        self.bank.approve(page).await
    }

    /// Confirms the newest payment with `card`.
    pub(super) async fn confirm_newest(&self, card: &str) -> Result<(), Failed> {
        let intents = self.provider.list(0).await?;
        let newest = intents.first().ok_or("there is no payment to confirm")?;
        self.bank.confirm(&newest.id, card).await
    }
}

/// A folder with the SQLite database of one world in it.
struct Folder {
    path: PathBuf,
    /// Each has a name of its own: whoever was killed may not have closed its database yet, and closing it deletes the files
    /// beside it, whose names would be those of the next.
    worlds: AtomicUsize,
    /// The database as it is at first.
    template: Vec<u8>,
}

impl Folder {
    async fn make() -> Result<Self, Failed> {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let path = parent.join(format!("boring-checkout-{}", Uuid::new_v4()));
        fs::create_dir(&path)?;
        let mut folder = Self {
            path,
            worlds: AtomicUsize::new(0),
            template: Vec::new(),
        };
        let file = folder.path.join("template.db");
        prepare(&url_of(&file)).await?;
        folder.template = fs::read(file)?;
        Ok(folder)
    }

    fn clear(&self) -> Result<String, Failed> {
        let number = self.worlds.fetch_add(1, Ordering::Relaxed);
        if let Some(before) = number.checked_sub(1) {
            for beside in ["", "-wal", "-shm"] {
                let file = format!("shop-{before}.db{beside}");
                match fs::remove_file(self.path.join(file)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(error.into());
                    }
                    _ => {}
                }
            }
        }
        let file = self.path.join(format!("shop-{number}.db"));
        fs::write(&file, &self.template)?;
        Ok(url_of(&file))
    }
}

fn url_of(file: &Path) -> String {
    format!("sqlite://{}", file.display())
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(%error, folder = %self.path.display(), "the scratch database is left behind");
        }
    }
}

/// A database on a server.
struct Postgres {
    name: String,
    url: String,
    server: Secret,
    connection: Mutex<PgConnection>,
}

/// How often is looked whether a server has noticed that somebody has died, and for how long.
const NOTICED_WITHIN: Duration = Duration::from_millis(5);
const NOTICES_MAX: usize = 1_000;

/// Where the goods are kept that the shelves are filled with again.
const GOODS: &str = "lab_goods";

impl Postgres {
    async fn make(server: &Secret) -> Result<Self, Failed> {
        let name = format!("boring_checkout_{}", Uuid::new_v4().simple());
        let mut url = url::Url::parse(server.expose())?;
        on_server(server, &format!("create database {name}")).await?;
        url.set_path(&name);
        let url = url.to_string();
        prepare(&url).await?;
        let mut connection = PgConnection::connect(&url).await?;
        let keep = format!("create table {GOODS} as table products");
        connection.execute(AssertSqlSafe(keep)).await?;
        Ok(Self {
            name,
            url,
            server: server.clone(),
            connection: Mutex::new(connection),
        })
    }

    /// Deleting the few rows of a story takes a few milliseconds; `truncate` makes new files for every table and index. All
    /// tables are emptied together, so their order does not matter.
    async fn clear(&self) -> Result<String, Failed> {
        let mut connection = self.connection.lock().await;
        let tables: Vec<String> = sqlx::query_scalar(
            "select format('%I', tablename) from pg_tables
             where schemaname = current_schema() and tablename not in ('_sqlx_migrations', 'secrets', $1)",
        )
        .bind(GOODS)
        .fetch_all(&mut *connection)
        .await?;
        let deletes = tables.iter().map(|table| format!("delete from {table};"));
        let deletes: String = deletes.collect();
        let clear = format!(
            "set session_replication_role = replica; {deletes} insert into products select * from {GOODS};"
        );
        connection.execute(AssertSqlSafe(clear)).await?;
        Ok(self.url.clone())
    }

    /// The server learns of it from the network, in its own time. Until then it keeps the locks, and workers pass by what is
    /// locked: they would look again and again, and no time would pass in the world.
    async fn notice_the_dead(&self) -> Result<(), Failed> {
        let mut connection = self.connection.lock().await;
        for _ in 0..NOTICES_MAX {
            let open: i64 = sqlx::query_scalar(
                "select count(*) from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid()
                   and backend_type = 'client backend' and xact_start is not null",
            )
            .fetch_one(&mut *connection)
            .await?;
            if open == 0 {
                return Ok(());
            }
            tokio::time::sleep(NOTICED_WITHIN).await;
        }
        Ok(())
    }

    async fn remove(self) -> Result<(), Failed> {
        self.connection.into_inner().close().await?;
        let drop = format!("drop database {} with (force)", self.name);
        on_server(&self.server, &drop).await
    }
}

async fn on_server(server: &Secret, statement: &str) -> Result<(), Failed> {
    let mut connection = PgConnection::connect(server.expose()).await?;
    connection
        .execute(AssertSqlSafe(statement.to_owned()))
        .await?;
    Ok(connection.close().await?)
}

/// Brings the schema up to date, and fills the shelves.
async fn prepare(url: &str) -> Result<(), Failed> {
    let db = Db::open(url).await?;
    catalog::demo::seed_when_empty(&db, Currency::Eur, Utc::now()).await?;
    naive::create_tables(&db).await?;
    db.close().await;
    Ok(())
}
