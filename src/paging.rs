//! Pages of long lists, by key and not by number.
//!
//! A page begins behind the last row of the one before, which an index finds at once, however far one has come. What is
//! written while somebody turns pages stands on the pages before theirs: no row comes twice, and none is passed by, as
//! they are when pages are counted.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::db::{Db, Query, Row, retrying};

/// Rows of a page: some screens, and a millisecond or so of the database's time.
pub const SIZE: u8 = 50;

/// Where a row stands in its list: unique, and in the list's order.
pub trait Key: FromStr + fmt::Display + Clone + Send + Sync {
    /// Behind the newest of all.
    fn beyond() -> Self;

    /// Binds its parts, which are the first parameters of a statement of `turns!`.
    fn bind<'q>(&self, query: Query<'q>) -> Query<'q>;
}

/// A row that knows its place.
pub trait Keyed: Row + Send + Sync {
    /// How it is told.
    type Key: Key;
    /// Its place.
    fn key(&self) -> Self::Key;
}

/// Which page of a list.
#[derive(Clone, Debug)]
pub enum Turn<K> {
    /// The first one.
    Newest,
    /// The one that follows this row.
    Older(K),
    /// The one that this row follows.
    Newer(K),
}

/// A page, newest row first.
#[derive(Debug)]
pub struct Page<R: Keyed> {
    /// Its rows.
    pub rows: Vec<R>,
    /// Whether there are newer ones than its first.
    pub has_newer: bool,
    /// Whether there are older ones than its last.
    pub has_older: bool,
}

/// The two statements of a list, as `turns!` makes them.
#[derive(Debug)]
pub struct Turns {
    /// In the list's order, from a key on.
    pub older: &'static str,
    /// Against it.
    pub newer: &'static str,
}

/// The statements for a list: a select that ends in a condition, the parameter of the limit, and the columns of the key, each
/// with its parameter.
macro_rules! turns {
    ($select:expr, limit $limit:literal, $first:literal = $bound:literal $(, $column:literal = $parameter:literal)*) => {
        $crate::paging::Turns {
            older: concat!(
                $select,
                " and (", $first, $(", ", $column,)* ") < (", $bound, $(", ", $parameter,)* ")",
                " order by ", $first, " desc", $(", ", $column, " desc",)*
                " limit ", $limit
            ),
            newer: concat!(
                $select,
                " and (", $first, $(", ", $column,)* ") > (", $bound, $(", ", $parameter,)* ")",
                " order by ", $first, $(", ", $column,)*
                " limit ", $limit
            ),
        }
    };
}
pub(crate) use turns;

/// Reads a page. `bind` binds what the select itself asks for.
pub async fn page<R: Keyed>(
    db: &Db,
    turns: &Turns,
    turn: &Turn<R::Key>,
    bind: impl for<'q> Fn(Query<'q>) -> Query<'q> + Send + Sync,
) -> sqlx::Result<Page<R>> {
    if let Turn::Newer(from) = turn {
        let (mut rows, has_newer) = read::<R>(db, turns.newer, from, &bind).await?;
        if rows.len() == usize::from(SIZE) {
            rows.reverse();
            return Ok(Page {
                rows,
                has_newer,
                has_older: true,
            });
        }
        // The beginning of the list is read from its beginning.
    }
    let (from, has_newer) = match turn {
        Turn::Older(from) => (from.clone(), true),
        Turn::Newest | Turn::Newer(_) => (R::Key::beyond(), false),
    };
    let (rows, has_older) = read(db, turns.older, &from, &bind).await?;
    Ok(Page {
        rows,
        has_newer,
        has_older,
    })
}

/// The rows from a key on, and whether there are more.
async fn read<R: Keyed>(
    db: &Db,
    sql: &'static str,
    from: &R::Key,
    bind: &(impl for<'q> Fn(Query<'q>) -> Query<'q> + Send + Sync),
) -> sqlx::Result<(Vec<R>, bool)> {
    // One more than is shown tells.
    let limit = i64::from(SIZE) + 1;
    let mut rows = retrying(|| bind(from.bind(db.query(sql)).bind(limit)).fetch_all()).await?;
    let has_more = rows.len() > SIZE.into();
    rows.truncate(SIZE.into());
    Ok((rows, has_more))
}

impl Key for i64 {
    fn beyond() -> Self {
        Self::MAX
    }

    fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        query.bind(*self)
    }
}

/// Ids of version 7 are in the order of time.
impl Key for Uuid {
    fn beyond() -> Self {
        Self::max()
    }

    fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        query.bind(*self)
    }
}

/// A time, and what tells apart what has happened at the same one. In an address: `1764466205123456~7K3M-9QXT-2P`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// When.
    pub time: DateTime<Utc>,
    /// What.
    pub id: String,
}

/// The last moment that both engines compare as it should be.
const END_OF_TIME: i64 = 253_402_300_799_999_999;

impl Key for At {
    fn beyond() -> Self {
        let time = DateTime::from_timestamp_micros(END_OF_TIME).unwrap_or_default();
        Self {
            time,
            id: String::new(),
        }
    }

    fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        query.bind(self.time).bind(self.id.as_str())
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}", self.time.timestamp_micros(), self.id)
    }
}

impl FromStr for At {
    type Err = NoKey;
    fn from_str(text: &str) -> Result<Self, NoKey> {
        let (micros, id) = text.split_once('~').ok_or(NoKey)?;
        let micros: i64 = micros.parse().map_err(|_| NoKey)?;
        let micros = Some(micros).filter(|it| (0..=END_OF_TIME).contains(it));
        let time = micros
            .and_then(DateTime::from_timestamp_micros)
            .ok_or(NoKey)?;
        // PostgreSQL takes no NUL.
        let id = Some(id).filter(|it| !it.contains('\0')).ok_or(NoKey)?;
        Ok(Self {
            time,
            id: id.to_owned(),
        })
    }
}

/// The text is no place in a list.
#[derive(Debug, thiserror::Error)]
#[error("not a place in this list")]
pub struct NoKey;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_and_what_is_none_is_refused() {
        let at = At {
            time: DateTime::from_timestamp_micros(1_764_466_205_123_456).expect("a time"),
            id: "7K3M~9QXT".to_owned(),
        };
        assert_eq!(at.to_string().parse::<At>().expect("reads back"), at);
        assert!(At::beyond().to_string().parse::<At>().is_ok());
        for text in [
            "",
            "~",
            "1",
            "x~y",
            "-1~y",
            "253402300800000000~y",
            "9223372036854775807~y",
            "1~\0",
        ] {
            assert!(text.parse::<At>().is_err(), "{text:?}");
        }
    }
}
