//! A transaction: begun, and ended by a commit or by being dropped.
//!
//! A connection has a thread of its own, and the way there and back takes longer than most statements. So what is only
//! written waits for what is asked next, or for the commit, and goes there with it:
//!
//! ```text
//! begin, ask ────────────────► the thread ──► an answer
//! write, write, write             (nobody goes)
//! ask ── what was written ───► the thread
//!     ── the question ───────► the thread ──► an answer, which has seen what was written
//! write, write, commit ──────► the thread ──► committed
//! ```
//!
//! The order stays. What cannot be written is heard of at the next question or at the commit, and ends the transaction
//! either way: nothing here goes on after a failure of the database.
//!
//! sqlx has transactions of its own, which count how deep they are nested. When the disk is full, `SQLite` rolls back by
//! itself; the count stays where it was, and nothing can be begun on that connection from then on. Here begin, commit
//! and rollback are statements like all others, and nobody counts.

use std::{
    mem,
    ops::{Deref, DerefMut},
};

use sqlx::{
    Arguments as _, AssertSqlSafe, Encode, Sqlite, SqliteConnection, Type, pool::PoolConnection,
    sqlite::SqliteArguments,
};
use tokio::sync::OwnedMappedMutexGuard;

/// A connection, until it is dropped.
#[derive(Debug)]
pub(super) enum Conn {
    /// The only one that may write.
    Writer(OwnedMappedMutexGuard<Option<SqliteConnection>, SqliteConnection>),
    Reader(PoolConnection<Sqlite>),
}

/// Dropped before it was committed, it has never happened.
#[derive(Debug)]
pub(super) struct Tx {
    /// `None`: it has ended.
    conn: Option<Conn>,
    /// Whether the thread has heard of it.
    has_begun: bool,
    /// Statements that wait, each with a `;` at its end.
    waiting: String,
    /// Their arguments, in order.
    arguments: SqliteArguments,
}

/// Takes the arguments of a statement that waits.
pub(super) struct Written<'t>(&'t mut SqliteArguments);

impl Tx {
    /// One that its first statement begins.
    pub(super) fn on(conn: Conn) -> Self {
        Self {
            conn: Some(conn),
            has_begun: false,
            waiting: String::new(),
            arguments: SqliteArguments::default(),
        }
    }

    /// Writes, before anything is asked. The statement has a `?` for each argument.
    pub(super) fn write(&mut self, statement: &'static str) -> Written<'_> {
        self.waiting.push_str(statement);
        self.waiting.push(';');
        Written(&mut self.arguments)
    }

    /// To ask for something: it sees all that was written.
    pub(super) async fn conn(&mut self) -> sqlx::Result<&mut SqliteConnection> {
        if !self.waiting.is_empty() {
            self.send().await?;
        }
        Ok(self.sent())
    }

    pub(super) async fn commit(mut self) -> sqlx::Result<()> {
        self.write("commit");
        self.send().await?;
        self.conn = None;
        Ok(())
    }

    async fn send(&mut self) -> sqlx::Result<()> {
        let statements = AssertSqlSafe(mem::take(&mut self.waiting));
        let arguments = mem::take(&mut self.arguments);
        sqlx::query_with(statements, arguments)
            .execute(self.sent())
            .await
            .map(drop)
    }

    fn sent(&mut self) -> &mut SqliteConnection {
        self.has_begun = true;
        self.conn
            .as_mut()
            .expect("it has a connection until it ends")
    }
}

impl Written<'_> {
    pub(super) fn bind<'v>(self, value: impl Encode<'v, Sqlite> + Type<Sqlite>) -> Self {
        self.0.add(value).expect("texts and numbers can be written");
        self
    }
}

/// Rolls back in a task of its own, which has the connection until then.
impl Drop for Tx {
    fn drop(&mut self) {
        if let Some(mut conn) = self.conn.take().filter(|_| self.has_begun) {
            tokio::spawn(async move {
                // Which fails when nothing was begun, or when `SQLite` has rolled back by itself.
                let _ = sqlx::query("rollback").execute(&mut *conn).await;
            });
        }
    }
}

impl Deref for Conn {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        match self {
            Conn::Writer(conn) => conn,
            Conn::Reader(conn) => conn,
        }
    }
}

impl DerefMut for Conn {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        match self {
            Conn::Writer(conn) => conn,
            Conn::Reader(conn) => conn,
        }
    }
}
