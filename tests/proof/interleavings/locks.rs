//! Who waits for whom, as PostgreSQL tells it.

use sqlx::{Connection as _, PgConnection};

/// A connection of its own, which looks at all others of the database.
pub struct Locks(PgConnection);

/// The sessions of the database.
pub struct Sessions {
    /// They wait for a lock.
    pub waiting: usize,
    /// They are in a transaction, at work or not.
    pub in_transaction: usize,
}

impl Locks {
    pub async fn of(database_url: &str) -> Self {
        let connection = PgConnection::connect(database_url).await;
        Self(connection.expect("the server answers"))
    }

    pub async fn sessions(&mut self) -> Sessions {
        // Whether a session waits is asked of the locks. What it says of itself it corrects when it is awake again.
        let (waiting, in_transaction): (i64, i64) = sqlx::query_as(
            "with sessions as (
                 select pid, xact_start from pg_stat_activity
                 where datname = current_database() and backend_type = 'client backend'
                   and pid <> pg_backend_pid()
             )
             select (select count(distinct pid) from pg_locks
                     where not granted and pid in (select pid from sessions)),
                    (select count(*) from sessions where xact_start is not null)",
        )
        .fetch_one(&mut self.0)
        .await
        .expect("counts");
        let count = |number: i64| usize::try_from(number).expect("a count");
        Sessions {
            waiting: count(waiting),
            in_transaction: count(in_transaction),
        }
    }
}
