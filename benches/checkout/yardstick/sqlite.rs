//! A loop of prepared statements on one connection, with the settings of the shop's own writer. It is a process of its own, so
//! that it can be given the same slow disk as the shop.

use std::{fmt::Write as _, time::Instant};

use boring_checkout::db::Db;
use clap::Args;
use sqlx::{
    AssertSqlSafe, Connection as _, Executor as _, SqlSafeStr as _, SqlStr, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use super::{
    script::{self, Piece, YARDSTICK},
    values::{Value, Values, common, own},
};
use crate::{
    disk::Syncs,
    forms::{Goods, carts},
    processes::{command, said},
};

/// The loop, with its database and its disk.
pub struct Loop {
    pub url: String,
    pub syncs: Syncs,
}

impl Loop {
    /// Purchases a second, when it makes so many.
    pub fn run(&self, purchases: usize) -> f64 {
        let own = std::env::current_exe().unwrap();
        let mut run = command(own, Some(&self.syncs));
        run.args(["yardstick", "--database-url", &self.url])
            .args(["--purchases", &purchases.to_string()]);
        said(&mut run).trim().parse().unwrap()
    }
}

#[derive(Clone, Debug, Args)]
pub struct SqliteArgs {
    /// A database with the shop's tables and a catalog
    #[arg(long)]
    pub database_url: String,
    #[arg(long)]
    pub purchases: usize,
}

/// A statement, and what its `$1` and the following are called.
struct Statement {
    sql: SqlStr,
    names: Vec<String>,
}

/// Commits so many purchases and prints how many a second.
pub async fn run(args: SqliteArgs) {
    let transactions: Vec<Vec<Statement>> = script::read(YARDSTICK)
        .iter()
        .map(|transaction| {
            transaction
                .statements
                .iter()
                .map(|sql| numbered(sql))
                .collect()
        })
        .collect();
    let db = Db::open(&args.database_url).await.unwrap();
    let carts = carts(&db, Goods::All, args.purchases).await;
    db.close().await;
    let options: SqliteConnectOptions = args.database_url.parse().unwrap();
    let options = options
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let mut conn = SqliteConnection::connect_with(&options).await.unwrap();
    let purchases: Vec<Values> = carts.iter().map(own).collect();
    let common = common();
    let began = Instant::now();
    for purchase in purchases {
        let mut values = purchase;
        values.extend(common.iter().cloned());
        for transaction in &transactions {
            commit(&mut conn, transaction, &mut values).await;
        }
    }
    let count = f64::from(u32::try_from(args.purchases).unwrap());
    println!("{}", count / began.elapsed().as_secs_f64());
}

async fn commit(conn: &mut SqliteConnection, transaction: &[Statement], values: &mut Values) {
    conn.execute("begin immediate").await.unwrap();
    for statement in transaction {
        let mut query = sqlx::query(statement.sql.clone());
        for name in &statement.names {
            let value = values.iter().find(|(of, _)| of == name);
            query = match value.map(|(_, value)| value).expect(name) {
                Value::Id(id) => query.bind(*id),
                Value::Text(text) => query.bind(text.clone()),
                Value::Number(number) => query.bind(*number),
                Value::Time(at) => query.bind(*at),
            };
        }
        if statement.sql.as_str().starts_with("insert into outbox") {
            let written = query.execute(&mut *conn).await.unwrap();
            values.push(("outbox", Value::Number(written.last_insert_rowid())));
        } else {
            query.fetch_all(&mut *conn).await.unwrap();
        }
    }
    conn.execute("commit").await.unwrap();
}

fn numbered(statement: &str) -> Statement {
    let (mut sql, mut names) = (String::new(), Vec::new());
    for piece in script::pieces(statement) {
        match piece {
            Piece::Text(text) => sql.push_str(text),
            Piece::Value(name) => {
                let known = names.iter().position(|it| it == name);
                let place = known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                });
                write!(sql, "${}", place + 1).unwrap();
            }
        }
    }
    let sql = AssertSqlSafe(sql).into_sql_str();
    Statement { sql, names }
}
