//! Lists: newest first, paged by the ids of objects.
//!
//! ```text
//! newest ┌───────────────┐ ◄── ending_before=X: the page just above X
//!        │       X       │
//! oldest └───────────────┘ ◄── starting_after=X: the page just below X
//! ```
//!
//! `has_more` looks in the direction of travel. Either way a page shows newest first.

use serde_json::{Value, json};
use sqlx::SqliteConnection;

use super::{
    error::ApiError,
    params::{Params, invalid_integer},
};

const DEFAULT_LIMIT: i64 = 10;
const MAX_LIMIT: i64 = 100;

/// What every list accepts.
#[derive(Debug)]
pub(super) struct Page {
    limit: i64,
    starting_after: Option<String>,
    ending_before: Option<String>,
    created: Created,
    delivered: Option<bool>,
}

/// The statement behind a list. `asc` reads upwards from `ending_before`.
macro_rules! page_sql {
    ($order:literal) => {
        concat!(
            "select body from objects
             where kind = $1
               and deleted = 0
               and ($2 is null or seq < $2)
               and ($3 is null or seq > $3)
               and created between $4 and $5
               and ($8 is null or $8 = not exists (
                 select 1 from deliveries
                 where event_id = objects.id and manual = 0 and state <> 'delivered'))
               and not exists (
                 select 1 from json_each($6) filter
                 where body ->> (filter.value ->> 0) is null
                    or body ->> (filter.value ->> 0) not in (select value from json_each(filter.value -> 1)))
             order by seq ",
            $order,
            " limit $7"
        )
    };
}

/// Bounds on `created`, both inclusive.
#[derive(Debug)]
struct Created {
    from: i64,
    to: i64,
}

/// Only objects whose `field` has one of `values`.
#[derive(Debug)]
pub(super) struct Filter<'f> {
    pub(super) field: &'f str,
    pub(super) values: Vec<String>,
}

impl<'f> Filter<'f> {
    /// One filter for each of these parameters that is given; the fields have the same names.
    pub(super) fn parse(params: &mut Params, fields: &[&'f str]) -> Result<Vec<Self>, ApiError> {
        let mut filters = Vec::new();
        for field in fields {
            filters.extend(params.text(field)?.map(|value| Self::new(field, value)));
        }
        Ok(filters)
    }

    pub(super) fn new(field: &'f str, value: String) -> Self {
        Self {
            field,
            values: vec![value],
        }
    }
}

impl Default for Page {
    /// The first one.
    fn default() -> Self {
        Self {
            limit: DEFAULT_LIMIT,
            starting_after: None,
            ending_before: None,
            created: Created::default(),
            delivered: None,
        }
    }
}

impl Default for Created {
    /// At any time.
    fn default() -> Self {
        Self {
            from: i64::MIN,
            to: i64::MAX,
        }
    }
}

impl Page {
    pub(super) fn parse(params: &mut Params) -> Result<Self, ApiError> {
        let limit = params.integer("limit")?.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(invalid_integer(
                "limit",
                &format!("{limit} is not between 1 and {MAX_LIMIT}"),
            ));
        }
        let page = Self {
            limit,
            starting_after: params.text("starting_after")?,
            ending_before: params.text("ending_before")?,
            created: Created::parse(params)?,
            delivered: None,
        };
        if page.starting_after.is_some() && page.ending_before.is_some() {
            let message = "You cannot give both starting_after and ending_before.";
            return Err(ApiError::invalid(message)
                .code("parameters_exclusive")
                .param("ending_before"));
        }
        Ok(page)
    }

    /// Only what was created at `time` or later.
    pub(super) fn since(mut self, time: i64) -> Self {
        self.created.from = self.created.from.max(time);
        self
    }

    /// Only events that have reached every endpoint they go to, or only the others.
    pub(super) fn delivered(mut self, wanted: Option<bool>) -> Self {
        self.delivered = wanted;
        self
    }

    /// The page of `kind` as the API's list object.
    pub(super) async fn fetch(
        &self,
        tx: &mut SqliteConnection,
        kind: &str,
        url: &str,
        filters: &[Filter<'_>],
    ) -> Result<Value, ApiError> {
        let below = self
            .cursor(tx, kind, self.starting_after.as_deref(), "starting_after")
            .await?;
        let above = self
            .cursor(tx, kind, self.ending_before.as_deref(), "ending_before")
            .await?;
        let filters: Value = filters
            .iter()
            .map(|filter| json!([filter.field, filter.values]))
            .collect();
        let backwards = above.is_some();
        let sql = if backwards {
            page_sql!("asc")
        } else {
            page_sql!("desc")
        };
        let mut bodies: Vec<String> = sqlx::query_scalar(sql)
            .bind(kind)
            .bind(below)
            .bind(above)
            .bind(self.created.from)
            .bind(self.created.to)
            .bind(filters.to_string())
            .bind(self.limit + 1)
            .bind(self.delivered)
            .fetch_all(tx)
            .await?;
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let has_more = bodies.len() > limit;
        bodies.truncate(limit);
        if backwards {
            bodies.reverse();
        }
        let objects: Vec<Value> = bodies
            .iter()
            .map(|body| serde_json::from_str(body))
            .collect::<Result<_, _>>()?;
        Ok(json!({ "object": "list", "url": url, "has_more": has_more, "data": objects }))
    }

    /// The place in the order of creation that a cursor names.
    async fn cursor(
        &self,
        tx: &mut SqliteConnection,
        kind: &str,
        id: Option<&str>,
        param: &str,
    ) -> Result<Option<i64>, ApiError> {
        let Some(id) = id else {
            return Ok(None);
        };
        let seq = sqlx::query_scalar("select seq from objects where id = $1 and kind = $2")
            .bind(id)
            .bind(kind)
            .fetch_optional(tx)
            .await?;
        seq.map(Some)
            .ok_or_else(|| ApiError::missing(kind, id, param))
    }
}

impl Created {
    /// `created=5` or any of `created[gt]`, `[gte]`, `[lt]`, `[lte]`.
    fn parse(params: &mut Params) -> Result<Self, ApiError> {
        let mut created = Self::default();
        if params.is_hash("created") {
            let Some(mut bounds) = params.hash("created")? else {
                return Ok(created);
            };
            for (name, beyond) in [("gte", 0), ("gt", 1)] {
                if let Some(bound) = bounds.integer(name)? {
                    created.from = created.from.max(bound.saturating_add(beyond));
                }
            }
            for (name, beyond) in [("lte", 0), ("lt", 1)] {
                if let Some(bound) = bounds.integer(name)? {
                    created.to = created.to.min(bound.saturating_sub(beyond));
                }
            }
            bounds.finish()?;
        } else if let Some(exactly) = params.integer("created")? {
            created = Self {
                from: exactly,
                to: exactly,
            };
        }
        Ok(created)
    }
}
