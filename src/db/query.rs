//! A query that runs on whichever engine its transaction is open on.

use std::{mem, panic::Location};

use sqlx::{
    AssertSqlSafe, Encode, FromRow, PgConnection, Postgres, SqlSafeStr, SqlStr, Sqlite,
    SqliteConnection, Type,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use super::connections::Connections;
use crate::probe::{self, Boundary, Failure, Probe};

/// Where a statement stands in the source.
pub(super) type Place = &'static Location<'static>;

/// A query under construction: bind its parameters in order, then run it.
#[must_use = "a query does nothing until it is run"]
pub struct Query<'t> {
    sql: &'static str,
    place: Place,
    statement: Statement<'t>,
    watch: Watch<'t>,
}

enum Statement<'t> {
    Sqlite(SqliteQuery<'t>, &'t mut SqliteConnection),
    AnySqlite(SqliteQuery<'t>, &'t Connections<Sqlite>),
    Postgres(PostgresQuery<'t>, &'t mut PgConnection),
    AnyPostgres(PostgresQuery<'t>, &'t Connections<Postgres>),
}

type SqliteQuery<'t> = sqlx::query::Query<'t, Sqlite, SqliteArguments>;
type PostgresQuery<'t> = sqlx::query::Query<'t, Postgres, PgArguments>;

impl<'t> Query<'t> {
    /// Binds the next parameter.
    pub fn bind<'v>(mut self, value: impl Value<'v>) -> Self {
        self.statement = match self.statement {
            Statement::Sqlite(query, conn) => Statement::Sqlite(query.bind(value), conn),
            Statement::AnySqlite(query, all) => Statement::AnySqlite(query.bind(value), all),
            Statement::Postgres(query, conn) => Statement::Postgres(query.bind(value), conn),
            Statement::AnyPostgres(query, all) => Statement::AnyPostgres(query.bind(value), all),
        };
        self
    }

    /// Runs a statement and returns how many rows it changed.
    pub async fn execute(mut self) -> sqlx::Result<u64> {
        self.watch.before(self.sql).await?;
        let changed = match self.statement {
            Statement::Sqlite(query, conn) => query.execute(conn).await?.rows_affected(),
            Statement::AnySqlite(query, all) => {
                let mut conn = all.lend().await?;
                let done = query.execute(conn.conn()).await?;
                conn.give_back();
                done.rows_affected()
            }
            Statement::Postgres(query, conn) => query.execute(conn).await?.rows_affected(),
            Statement::AnyPostgres(query, all) => {
                let mut conn = all.lend().await?;
                let done = query.execute(conn.conn()).await?;
                conn.give_back();
                done.rows_affected()
            }
        };
        log(self.sql, self.place, changed);
        self.watch.after(self.sql).await?;
        self.watch.ends_well();
        Ok(changed)
    }

    /// All rows.
    pub async fn fetch_all<R: Row>(self) -> sqlx::Result<Vec<R>> {
        let (rows, watch) = self.run().await?;
        watch.ends_well();
        Ok(rows)
    }

    /// The first row, if there is one. For statements that find or change at most one.
    pub async fn fetch_optional<R: Row>(self) -> sqlx::Result<Option<R>> {
        Ok(self.fetch_all().await?.into_iter().next())
    }

    /// The first row, or [`sqlx::Error::RowNotFound`].
    pub async fn fetch_one<R: Row>(self) -> sqlx::Result<R> {
        let (rows, watch) = self.run().await?;
        let row = rows.into_iter().next().ok_or(sqlx::Error::RowNotFound)?;
        watch.ends_well();
        Ok(row)
    }

    /// The first column of the first row.
    pub async fn fetch_scalar<T>(self) -> sqlx::Result<T>
    where
        (T,): Row,
    {
        Ok(self.fetch_one::<(T,)>().await?.0)
    }

    async fn run<R: Row>(mut self) -> sqlx::Result<(Vec<R>, Watch<'t>)> {
        self.watch.before(self.sql).await?;
        let rows = match self.statement {
            Statement::Sqlite(query, conn) => load(&query.fetch_all(conn).await?),
            Statement::AnySqlite(query, all) => {
                let mut conn = all.lend().await?;
                let rows = query.fetch_all(conn.conn()).await?;
                conn.give_back();
                load(&rows)
            }
            Statement::Postgres(query, conn) => load(&query.fetch_all(conn).await?),
            Statement::AnyPostgres(query, all) => {
                let mut conn = all.lend().await?;
                let rows = query.fetch_all(conn.conn()).await?;
                conn.give_back();
                load(&rows)
            }
        }?;
        log(
            self.sql,
            self.place,
            rows.len().try_into().unwrap_or(u64::MAX),
        );
        self.watch.after(self.sql).await?;
        Ok((rows, self.watch))
    }

    pub(super) fn on_sqlite(
        sql: &'static str,
        place: Place,
        conn: &'t mut SqliteConnection,
        watch: Watch<'t>,
    ) -> Self {
        let statement = Statement::Sqlite(sqlx::query(sql), conn);
        Self {
            sql,
            place,
            statement,
            watch,
        }
    }

    pub(super) fn on_any_sqlite(
        sql: &'static str,
        place: Place,
        all: &'t Connections<Sqlite>,
        watch: Watch<'t>,
    ) -> Self {
        let statement = Statement::AnySqlite(sqlx::query(sql), all);
        Self {
            sql,
            place,
            statement,
            watch,
        }
    }

    pub(super) fn on_postgres(
        sql: &'static str,
        place: Place,
        conn: &'t mut PgConnection,
        watch: Watch<'t>,
    ) -> Self {
        let statement = Statement::Postgres(sqlx::query(with_postgres_parts(sql)), conn);
        Self {
            sql,
            place,
            statement,
            watch,
        }
    }

    pub(super) fn on_any_postgres(
        sql: &'static str,
        place: Place,
        all: &'t Connections<Postgres>,
        watch: Watch<'t>,
    ) -> Self {
        let statement = Statement::AnyPostgres(sqlx::query(with_postgres_parts(sql)), all);
        Self {
            sql,
            place,
            statement,
            watch,
        }
    }
}

/// Who is told of a query's boundaries.
pub(super) struct Watch<'t> {
    probe: Option<&'t Probe>,
    /// Whether the transaction around it, if there is one, is whole.
    is_whole: Option<&'t mut bool>,
}

impl<'t> Watch<'t> {
    /// Of a query by itself.
    pub(super) fn alone(probe: Option<&'t Probe>) -> Self {
        let is_whole = None;
        Self { probe, is_whole }
    }

    /// Of a query in a transaction. Once one has failed, or the probe has taken the connection away, nothing gets through any
    /// more, whatever is tried.
    pub(super) fn within(probe: Option<&'t Probe>, is_whole: &'t mut bool) -> Self {
        let is_whole = Some(is_whole);
        Self { probe, is_whole }
    }

    async fn before(&mut self, sql: &'static str) -> Result<(), Failure> {
        let Some(is_whole) = &mut self.is_whole else {
            return probe::report(self.probe, Boundary::BeforeQuery(sql)).await;
        };
        if !mem::replace(*is_whole, false) {
            return Err(Failure::Lost);
        }
        probe::report(self.probe, Boundary::BeforeStatement(sql)).await
    }

    async fn after(&self, sql: &'static str) -> Result<(), Failure> {
        let boundary = match self.is_whole {
            Some(_) => Boundary::AfterStatement(sql),
            None => Boundary::AfterQuery(sql),
        };
        probe::report(self.probe, boundary).await
    }

    fn ends_well(self) {
        if let Some(is_whole) = self.is_whole {
            *is_whole = true;
        }
    }
}

/// What was executed, for whoever turns the log up: the statement as it stands in the source, never a value.
fn log(sql: &'static str, place: Place, rows: u64) {
    tracing::debug!(
        sql,
        rows,
        at.file = place.file(),
        at.line = place.line(),
        "statement"
    );
}

/// Uncomments `/*pg … */`.
fn with_postgres_parts(sql: &'static str) -> SqlStr {
    if sql.contains("/*pg") {
        // Safe: the result still holds nothing but what the source file says.
        AssertSqlSafe(sql.replace("/*pg", "").replace("*/", "")).into_sql_str()
    } else {
        sql.into_sql_str()
    }
}

fn load<'r, R, E>(rows: &'r [E]) -> sqlx::Result<Vec<R>>
where
    R: FromRow<'r, E>,
    E: sqlx::Row,
{
    rows.iter().map(R::from_row).collect()
}

/// A value both engines can store: `i64`, `bool`, `&str`, `Uuid`, `DateTime<Utc>`, `Json<T>`, …
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in both engines",
    note = "use a type that both engines know, or derive `sqlx::Type`"
)]
pub trait Value<'v>:
    Encode<'v, Sqlite> + Type<Sqlite> + Encode<'v, Postgres> + Type<Postgres>
{
}
impl<'v, T> Value<'v> for T where
    T: Encode<'v, Sqlite> + Type<Sqlite> + Encode<'v, Postgres> + Type<Postgres>
{
}

/// A type that a row of either engine loads into.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be loaded from both engines",
    note = "derive `sqlx::FromRow`, with fields that both engines know"
)]
pub trait Row: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> {}
impl<T> Row for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> {}
