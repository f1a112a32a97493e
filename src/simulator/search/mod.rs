//! Search: objects by a query in Stripe's search query language (<https://docs.stripe.com/search>).
//!
//! ```text
//! metadata['order']:'7' AND -status:'canceled' AND amount>1000
//! ```
//!
//! At Stripe a search reads an index that lags behind by a minute or more and now and then forgets what it had
//! found. Here it sees everything at once; a program that searches for what it has just made is wrong there all
//! the same.

mod clause;
mod parse;

use futures_util::TryStreamExt;
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use self::parse::parse;
pub(super) use self::{clause::Kind, parse::Index};
use super::{
    error::ApiError,
    params::{Params, invalid_integer},
};

const DEFAULT_LIMIT: i64 = 10;
const MAX_LIMIT: i64 = 100;

/// Answers a search with what it found, newest first.
pub(super) async fn search(
    tx: &mut SqliteConnection,
    index: &Index,
    mut params: Params,
) -> Result<Value, ApiError> {
    let query = params.required_text("query")?;
    let limit = limit(&mut params)?;
    let page = params.text("page")?.map(|page| parse_page(&page));
    params.finish()?;
    let query = parse(&query, index)
        .map_err(|fault| ApiError::invalid(format!("This search query is not valid: {fault}.")))?;
    let mut objects = sqlx::query_as(
        "select seq, body from objects
         where kind = $1 and deleted = 0 and ($2 is null or seq < $2)
         order by seq desc",
    )
    .bind(index.kind)
    .bind(page.transpose()?)
    .fetch(tx);
    let mut found: Vec<Value> = Vec::new();
    let mut last_seq = 0;
    let mut has_more = false;
    while let Some((seq, body)) = objects.try_next().await? {
        let (seq, body): (i64, String) = (seq, body);
        let object = serde_json::from_str(&body)?;
        if !query.matches(&object) {
            continue;
        }
        if found.len() == limit {
            has_more = true;
            break;
        }
        found.push(object);
        last_seq = seq;
    }
    Ok(json!({
        "object": "search_result",
        "url": format!("/v1/{}/search", index.resource),
        "has_more": has_more,
        "next_page": has_more.then(|| show_page(last_seq)),
        "data": found
    }))
}

fn limit(params: &mut Params) -> Result<usize, ApiError> {
    let limit = params.integer("limit")?.unwrap_or(DEFAULT_LIMIT);
    let within = Some(limit).filter(|limit| (1..=MAX_LIMIT).contains(limit));
    within
        .and_then(|limit| usize::try_from(limit).ok())
        .ok_or_else(|| {
            let message = format!("{limit} is not between 1 and {MAX_LIMIT}");
            invalid_integer("limit", &message)
        })
}

/// A page begins below the last object of the one before.
fn show_page(last_seq: i64) -> String {
    hex::encode(last_seq.to_be_bytes())
}

fn parse_page(page: &str) -> Result<i64, ApiError> {
    hex::decode(page)
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .map(i64::from_be_bytes)
        .ok_or_else(|| {
            let message = "This page is not the next_page of another search.";
            ApiError::invalid(message).param("page")
        })
}
