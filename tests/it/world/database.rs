//! A database that no other test sees.

use boring_checkout::db::Db;
use tempfile::TempDir;
use uuid::Uuid;

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

    pub fn is_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    /// A handle of the test's own.
    pub async fn open(&self) -> Db {
        Db::open_with(&self.url(), 2)
            .await
            .expect("the database opens")
    }
}

async fn fresh_schema(server: &str) -> String {
    use sqlx::{Connection as _, Executor as _};
    let schema = format!("t_{}", Uuid::new_v4().simple());
    let mut admin = sqlx::PgConnection::connect(server)
        .await
        .expect("TEST_DATABASE_URL answers");
    let create = sqlx::AssertSqlSafe(format!("create schema {schema}"));
    admin.execute(create).await.expect("a schema of our own");
    format!("{server}?options[search_path]={schema}")
}
