//! A database that no other test sees.

use std::path::Path;

use boring_checkout::db::Db;
use sqlx::{Connection as _, Executor as _};
use tempfile::TempDir;
use uuid::Uuid;

use super::{Relay, eventually};

/// Under which name the one test with a slow wire is known to PostgreSQL.
const BEHIND_THE_WIRE: &str = "behind the wire";

/// A database that no other test sees. It outlives the shops on it, which may be killed.
pub struct Database {
    folder: TempDir,
    postgres: Option<String>,
}

impl Database {
    pub async fn fresh() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let postgres = match std::env::var("TEST_DATABASE_URL") {
            Ok(server) => Some(fresh_schema(&server).await),
            Err(_) => None,
        };
        Self { folder, postgres }
    }

    /// One that lives in a time zone. SQLite knows of none.
    pub async fn fresh_in(zone: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let postgres = match std::env::var("TEST_DATABASE_URL") {
            Ok(server) => Some(fresh_database(&server, zone).await),
            Err(_) => None,
        };
        Self { folder, postgres }
    }

    pub fn url(&self) -> String {
        match &self.postgres {
            Some(url) => url.clone(),
            None => self.file("shop.db"),
        }
    }

    /// A SQLite database beside it, for the provider.
    pub fn file(&self, name: &str) -> String {
        format!("sqlite://{}", self.folder.path().join(name).display())
    }

    /// Where the shops on it write their mails, while they have no mail server.
    pub fn mail_folder(&self) -> String {
        self.folder.path().join("mail").display().to_string()
    }

    /// The folder of all that.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves everything where it is, for somebody to look at, and says where.
    pub fn stays(mut self) -> String {
        self.folder.disable_cleanup(true);
        let folder = self.folder.path().display();
        match &self.postgres {
            Some(url) => format!("{url} and {folder}"),
            None => folder.to_string(),
        }
    }

    pub fn is_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    /// The same database, reached through a wire. SQLite has none.
    pub fn behind(mut self, wire: &Relay) -> Self {
        if let Some(url) = &self.postgres {
            let mut url = url::Url::parse(url).expect("a URL");
            let port = url.port().unwrap_or(5432);
            let server = format!("{}:{port}", url.host_str().expect("a host"));
            wire.leads_to(server.parse().expect("TEST_DATABASE_URL has an IP address"));
            url.set_port(Some(wire.address.port())).expect("a port");
            url.query_pairs_mut()
                .append_pair("application_name", BEHIND_THE_WIRE);
            self.postgres = Some(url.to_string());
        }
        self
    }

    /// Waits until no session behind the wire is at work or in a transaction. SQLite has no sessions.
    pub async fn has_no_open_transaction(&self) {
        if !self.is_postgres() {
            return;
        }
        let url = std::env::var("TEST_DATABASE_URL").expect("the server");
        let mut watch = sqlx::PgConnection::connect(&url).await.expect("it answers");
        let watch = tokio::sync::Mutex::new(&mut watch);
        eventually("no session is left in a transaction", || async {
            let open: i64 = sqlx::query_scalar(
                "select count(*) from pg_stat_activity where application_name = $1 and state <> 'idle'",
            )
            .bind(BEHIND_THE_WIRE)
            .fetch_one(&mut **watch.lock().await)
            .await
            .expect("a count");
            open == 0
        })
        .await;
    }

    /// Waits until somebody waits for a lock on a row of this shop. On SQLite there is one lock, and everybody who wants
    /// to write waits for it in a queue of the shop's own.
    pub async fn has_somebody_waiting(&self) {
        if !self.is_postgres() {
            return;
        }
        let db = self.open().await;
        eventually("somebody waits", || async {
            let waiting: i64 = db
                .query(
                    "select count(*) from pg_locks w where not w.granted and w.pid in
                         (select pid from pg_locks where relation = 'carts'::regclass)",
                )
                .fetch_scalar()
                .await
                .expect("a count");
            waiting > 0
        })
        .await;
    }

    /// A handle of the test's own.
    pub async fn open(&self) -> Db {
        Db::open_with(&self.url(), 2)
            .await
            .expect("the database opens")
    }
}

async fn fresh_schema(server: &str) -> String {
    let schema = format!("t_{}", Uuid::new_v4().simple());
    let mut admin = sqlx::PgConnection::connect(server)
        .await
        .expect("TEST_DATABASE_URL answers");
    let create = sqlx::AssertSqlSafe(format!("create schema {schema}"));
    admin.execute(create).await.expect("a schema of our own");
    format!("{server}?options[search_path]={schema}")
}

async fn fresh_database(server: &str, zone: &str) -> String {
    let name = format!("t_{}", Uuid::new_v4().simple());
    let mut admin = sqlx::PgConnection::connect(server)
        .await
        .expect("TEST_DATABASE_URL answers");
    for sql in [
        format!("create database {name}"),
        format!("alter database {name} set timezone = '{zone}'"),
    ] {
        let sql = sqlx::AssertSqlSafe(sql);
        admin.execute(sql).await.expect("a database of our own");
    }
    let mut url = url::Url::parse(server).expect("a URL");
    url.set_path(&name);
    url.to_string()
}
