//! A query that runs on whichever engine its transaction is open on.

use std::{mem, panic::Location};

use sqlx::{
    AssertSqlSafe, Database, Encode, FromRow, Postgres, SqlSafeStr, SqlStr, Sqlite, Type,
    postgres::PgRow, sqlite::SqliteRow,
};

use super::connections::{Connections, Engine};
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
    Sqlite(SqlxQuery<'t, Sqlite>, On<'t, Sqlite>),
    Postgres(SqlxQuery<'t, Postgres>, On<'t, Postgres>),
}

type SqlxQuery<'t, DB> = sqlx::query::Query<'t, DB, <DB as Database>::Arguments>;

/// What a statement runs on.
pub(super) enum On<'t, DB: Engine> {
    /// That of its transaction.
    This(&'t mut DB::Connection),
    /// Whichever is free.
    Any(&'t Connections<DB>),
}

impl<DB: Engine> On<'_, DB> {
    async fn execute(self, query: SqlxQuery<'_, DB>) -> sqlx::Result<u64> {
        match self {
            Self::This(conn) => DB::execute(conn, query).await,
            Self::Any(all) => {
                let mut lent = all.lend().await?;
                let changed = DB::execute(lent.conn(), query).await?;
                lent.give_back();
                Ok(changed)
            }
        }
    }

    async fn fetch_all(self, query: SqlxQuery<'_, DB>) -> sqlx::Result<Vec<DB::Row>> {
        match self {
            Self::This(conn) => DB::fetch_all(conn, query).await,
            Self::Any(all) => {
                let mut lent = all.lend().await?;
                let rows = DB::fetch_all(lent.conn(), query).await?;
                lent.give_back();
                Ok(rows)
            }
        }
    }
}

impl<'t> Query<'t> {
    /// Binds the next parameter.
    pub fn bind<'v>(mut self, value: impl Value<'v>) -> Self {
        self.statement = match self.statement {
            Statement::Sqlite(query, on) => Statement::Sqlite(query.bind(value), on),
            Statement::Postgres(query, on) => Statement::Postgres(query.bind(value), on),
        };
        self
    }

    /// Runs a statement and returns how many rows it changed.
    pub async fn execute(mut self) -> sqlx::Result<u64> {
        self.watch.before(self.sql).await?;
        let changed = match self.statement {
            Statement::Sqlite(query, on) => on.execute(query).await?,
            Statement::Postgres(query, on) => on.execute(query).await?,
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
            Statement::Sqlite(query, on) => load(&on.fetch_all(query).await?),
            Statement::Postgres(query, on) => load(&on.fetch_all(query).await?),
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
        on: On<'t, Sqlite>,
        watch: Watch<'t>,
    ) -> Self {
        let statement = Statement::Sqlite(sqlx::query(sql), on);
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
        on: On<'t, Postgres>,
        watch: Watch<'t>,
    ) -> Self {
        let statement = Statement::Postgres(sqlx::query(with_postgres_parts(sql)), on);
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
