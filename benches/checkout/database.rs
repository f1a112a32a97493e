//! The database that a shop, or a yardstick, has to itself.

use std::path::{Path, PathBuf};

use boring_checkout::db::Db;
use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use super::{
    processes::{PROGRAM, command, parent_of, said},
    window::number,
};

/// SKUs in the catalog.
pub const PRODUCTS: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// Where databases are made.
#[derive(Clone, Debug)]
pub struct Ground {
    pub folder: PathBuf,
    /// Of PostgreSQL, as its superuser `postgres`, without the name of a database.
    pub server: Option<String>,
}

/// A database with a catalog.
pub struct Database {
    pub engine: Engine,
    /// For the shop.
    pub url: String,
    /// For whoever watches it; another user of PostgreSQL, whose statements are not counted.
    pub db: Db,
    /// The process whose children are PostgreSQL.
    pub postmaster: Option<u32>,
}

impl Ground {
    /// An empty one with the shop's tables, and [`PRODUCTS`] in its catalog.
    pub async fn database(&self, engine: Engine, name: &str) -> Database {
        let url = match engine {
            Engine::Sqlite => format!("sqlite://{}/{name}.db", self.folder.display()),
            Engine::Postgres => self.create_on_server(name).await,
        };
        let shops_url = url.replace("postgres://postgres@", "postgres://shop@");
        import_catalog(&self.folder, &shops_url);
        let db = Db::open_with(&url, 1).await.unwrap();
        let postmaster = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => {
                let backend: i64 = scalar(&db, "select cast(pg_backend_pid() as bigint)").await;
                parent_of(backend.try_into().unwrap())
            }
        };
        Database {
            engine,
            url: shops_url,
            db,
            postmaster,
        }
    }

    async fn create_on_server(&self, name: &str) -> String {
        let server = self.server.as_ref().expect("--postgres-url");
        let mut admin = PgConnection::connect(&format!("{server}/postgres"))
            .await
            .expect("the PostgreSQL server answers");
        let user = "do $$ begin
                        if not exists (select from pg_roles where rolname = 'shop') then
                            create role shop superuser login;
                        end if;
                    end $$";
        admin.execute(user).await.unwrap();
        let create = AssertSqlSafe(format!("create database {name}"));
        admin.execute(create).await.unwrap();
        let url = format!("{server}/{name}");
        let mut own = PgConnection::connect(&url).await.unwrap();
        let statistics = "create extension if not exists pg_stat_statements";
        own.execute(statistics)
            .await
            .expect("shared_preload_libraries has pg_stat_statements");
        url
    }
}

fn import_catalog(folder: &Path, url: &str) {
    let path = folder.join("catalog.csv");
    let rows = (0..PRODUCTS)
        .map(|place| format!("{},Thing {place},24.90,1000000000,A thing.\n", sku(place)));
    let header = "sku,name,price,stock,description\n".to_owned();
    std::fs::write(&path, header + &rows.collect::<String>()).unwrap();
    let mut import = command(PROGRAM, None);
    import
        .args(["catalog", "import"])
        .arg(&path)
        .args(["--database-url", url]);
    said(&mut import);
}

pub fn sku(place: usize) -> String {
    format!("THING-{:04}", place % PRODUCTS)
}

pub async fn scalar(db: &Db, sql: &'static str) -> i64 {
    db.query(sql).fetch_scalar().await.expect(sql)
}

impl Database {
    pub async fn count(&self, sql: &'static str) -> i64 {
        scalar(&self.db, sql).await
    }

    /// Bytes of the write-ahead log so far, and transactions that have written. Only PostgreSQL tells.
    pub async fn written(&self) -> Option<(i64, i64)> {
        if self.engine == Engine::Sqlite {
            return None;
        }
        let written = self
            .db
            .query(
                "select cast(pg_current_wal_insert_lsn() - '0/0' as bigint),
                        cast(cast(pg_snapshot_xmax(pg_current_snapshot()) as text) as bigint)",
            )
            .fetch_one()
            .await;
        Some(written.unwrap())
    }

    /// Milliseconds that PostgreSQL has been at work on statements so far, waiting for locks included.
    pub async fn busy_milliseconds(&self) -> Option<f64> {
        if self.engine == Engine::Sqlite {
            return None;
        }
        let microseconds = self
            .count(
                "select cast(coalesce(sum(s.total_exec_time), 0) * 1000 as bigint)
                 from pg_stat_statements s
                 join pg_database d on d.oid = s.dbid join pg_roles r on r.oid = s.userid
                 where d.datname = current_database() and r.rolname = 'shop'",
            )
            .await;
        Some(number(microseconds) / 1000.0)
    }
}
