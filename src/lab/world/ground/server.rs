//! A scratch database on a PostgreSQL server, which one world after the other stands on.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::prepare;
use crate::{db::Db, lab::flow::Failed, secret::Secret};

/// A database on a server.
pub(super) struct Postgres {
    name: String,
    url: String,
    server: Secret,
    /// Our own, which looks at all others.
    connection: Mutex<PgConnection>,
    /// Those of the processes.
    db: Db,
}

/// More than all processes of a world ever use at once. One that is opened beyond them would be tied to the runtime of the
/// process that opened it, and die with it.
const CONNECTIONS: u32 = 8;

/// More than the shop has statements, so that each is planned once on each connection.
const STATEMENTS: &str = "1000";

/// How often is looked whether a server has noticed that somebody has died, and for how long.
const NOTICED_WITHIN: Duration = Duration::from_millis(5);
const NOTICES_MAX: usize = 1_000;

/// How often is looked whether the last answers are read.
const RESTS_WITHIN: Duration = Duration::from_millis(1);

/// Where the goods are kept that the shelves are filled with again.
const GOODS: &str = "lab_goods";

impl Postgres {
    pub(super) async fn make(server: &Secret) -> Result<Self, Failed> {
        let name = format!("boring_checkout_{}", Uuid::new_v4().simple());
        let mut url = url::Url::parse(server.expose())?;
        on_server(server, &format!("create database {name}")).await?;
        url.set_path(&name);
        url.query_pairs_mut()
            .append_pair("statement-cache-capacity", STATEMENTS);
        let url = url.to_string();
        prepare(&url).await?;
        let mut connection = PgConnection::connect(&url).await?;
        let keep = format!("create table {GOODS} as table products");
        connection.execute(AssertSqlSafe(keep)).await?;
        Ok(Self {
            db: Db::open_with(&url, CONNECTIONS).await?,
            name,
            url,
            server: server.clone(),
            connection: Mutex::new(connection),
        })
    }

    /// Deleting the few rows of a story takes a few milliseconds; `truncate` makes new files for every table and index. All
    /// tables are emptied together, so their order does not matter.
    pub(super) async fn clear(&self) -> Result<String, Failed> {
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
    pub(super) async fn notice_the_dead(&self) -> Result<(), Failed> {
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

    /// To begin a process takes the server three hundredths of a second for each connection, most of them for plans that it
    /// had made for the process before. So a connection on which nobody is at work is handed on. One on which somebody is when
    /// their process dies is closed, as the system closes it then, and another one is opened in its place: here, since it
    /// lives as long as the runtime in which it was opened.
    pub(super) async fn connections(&self) -> Result<Db, Failed> {
        self.db.open_all().await?;
        Ok(self.db.of_another_process())
    }

    pub(super) async fn rest(&self) {
        for _ in 0..NOTICES_MAX {
            if self.db.is_at_rest() {
                return;
            }
            tokio::time::sleep(RESTS_WITHIN).await;
        }
    }

    pub(super) async fn remove(self) -> Result<(), Failed> {
        self.db.close().await;
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
