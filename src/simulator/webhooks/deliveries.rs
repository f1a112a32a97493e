//! The table of deliveries: what is due, and what became of it.
//!
//! ```text
//!          ┌── any other answer, or none: later, by the schedule ──┐
//! pending ─┤                                                       └─► pending
//!          ├── 2xx ──► delivered
//!          └── the last retry failed, or comes due at a disabled endpoint ──► given_up
//! ```
//!
//! An event comes with its deliveries: a trigger writes them. A deleted endpoint takes its deliveries with it.

use serde_json::json;
use sqlx::SqliteConnection;

use super::journal::{Line, Reception, is_success, write_down};
use crate::simulator::transaction::Tx;

/// When to try again after each failed attempt, in seconds: three times over a few hours, as in a sandbox at Stripe
/// (<https://docs.stripe.com/webhooks#automatic-retries>).
const RETRY_AFTER_SECONDS: [i64; 3] = [5, 5 * 60, 3 * 60 * 60];

/// An event on its way to an endpoint.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Delivery {
    pub(super) id: i64,
    pub(super) event_id: String,
    pub(super) event_type: String,
    pub(super) endpoint_id: String,
    /// Where it goes; changed in the meantime, it goes elsewhere.
    pub(super) url: String,
    pub(super) manual: bool,
    /// The endpoint is enabled.
    pub(super) is_wanted: bool,
    /// Attempts that failed so far.
    pub(super) attempts: i64,
    /// When it is due, in milliseconds of the simulator's clock.
    pub(super) next_attempt_at: i64,
    /// What has made the coming attempt wait. No other fault strikes it then.
    pub(super) fault: Option<String>,
}

/// The endpoints that would get the event if it was made now.
pub(super) async fn wanted_by(
    tx: &mut SqliteConnection,
    event_id: &str,
) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar(
        "select endpoint.id from objects event, objects endpoint
         where event.id = $1
           and endpoint.kind = 'webhook_endpoint' and endpoint.body ->> '$.status' = 'enabled'
           and exists (select 1 from json_each(endpoint.body, '$.enabled_events')
                       where value in ('*', event.body ->> '$.type'))
         order by endpoint.seq",
    )
    .bind(event_id)
    .fetch_all(tx)
    .await
}

/// One more delivery to one endpoint, attempted once.
pub(in crate::simulator) async fn resend(
    tx: &mut SqliteConnection,
    event_id: &str,
    endpoint_id: &str,
    now: i64,
) -> sqlx::Result<()> {
    sqlx::query(
        "insert into deliveries (event_id, endpoint_id, manual, next_attempt_at) values ($1, $2, 1, $3)",
    )
    .bind(event_id)
    .bind(endpoint_id)
    .bind(now * 1000)
    .execute(tx)
    .await?;
    Ok(())
}

/// How many endpoints have not answered 2xx yet.
pub(in crate::simulator) async fn count_pending(
    tx: &mut SqliteConnection,
    event_id: &str,
) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "select count(*) from deliveries where event_id = $1 and manual = 0 and state <> 'delivered'",
    )
    .bind(event_id)
    .fetch_one(tx)
    .await
}

/// Pending deliveries that are not `under_way`, whether their time has come or not: at most `share` for each endpoint, the
/// soonest of each, and first the soonest of all.
///
/// So whoever finds room for all that are due learns as well when the next one will be.
pub(super) async fn pending(
    tx: &mut SqliteConnection,
    under_way: &[i64],
    share: usize,
) -> sqlx::Result<Vec<Delivery>> {
    sqlx::query_as(
        "select d.id, d.event_id, event.body ->> '$.type' as event_type, d.endpoint_id,
                endpoint.body ->> '$.url' as url, endpoint.body ->> '$.status' = 'enabled' as is_wanted,
                d.manual, d.attempts, d.next_attempt_at, d.fault
         from objects endpoint
         cross join deliveries d on d.id in (
           select id from deliveries
           where endpoint_id = endpoint.id and state = 'pending'
             and id not in (select value from json_each($1))
           order by next_attempt_at, id
           limit $2)
         join objects event on event.id = d.event_id
         where endpoint.kind = 'webhook_endpoint'
         order by row_number() over (partition by d.endpoint_id order by d.next_attempt_at, d.id), d.id",
    )
    .bind(json!(under_way).to_string())
    .bind(i64::try_from(share).unwrap_or(i64::MAX))
    .fetch_all(tx)
    .await
}

/// Makes a delivery wait until `until_ms`, on account of a fault.
pub(super) fn postpone(tx: &mut Tx, delivery: &Delivery, fault: &str, until_ms: i64) {
    tx.write(
        "update deliveries set fault = ?, next_attempt_at = ? where id = ? and state = 'pending'",
    )
    .bind(fault)
    .bind(until_ms)
    .bind(delivery.id);
}

/// What came of an attempt of one or several copies.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    pub(super) url: &'a str,
    pub(super) receptions: &'a [Reception],
    pub(super) fault: Option<&'a str>,
}

/// Records an outcome, in the transaction that it begins. One copy that arrived is enough.
///
/// Says whether something is to be delivered on account of it: this one again, or what has waited to be overtaken by it.
pub(super) async fn conclude(
    tx: &mut Tx,
    delivery: &Delivery,
    outcome: &Outcome<'_>,
    now_ms: i64,
) -> sqlx::Result<bool> {
    let is_delivered = outcome.receptions.iter().any(is_success);
    let is_last = is_delivered || delivery.manual || !delivery.is_wanted;
    let next_attempt_at = if is_last {
        None
    } else {
        next_attempt_at(delivery.attempts, now_ms)
    };
    let state = match (is_delivered, next_attempt_at) {
        (true, _) => "delivered",
        (false, Some(_)) => "pending",
        (false, None) => "given_up",
    };
    let has_news: Option<bool> = sqlx::query_scalar(
        "begin immediate;
         update deliveries
         set state = $2, attempts = attempts + 1, fault = null, next_attempt_at = coalesce($3, next_attempt_at)
         where id = $1 and state = 'pending'
         returning state = 'pending' or exists (
           select 1 from deliveries waiting
           where waiting.endpoint_id = deliveries.endpoint_id and fault = 'reorder' and state = 'pending')",
    )
    .bind(delivery.id)
    .bind(state)
    .bind(next_attempt_at)
    .fetch_optional(tx.conn().await?)
    .await?;
    for reception in outcome.receptions {
        let line = Line {
            event_id: &delivery.event_id,
            endpoint_id: &delivery.endpoint_id,
            url: outcome.url,
            reception,
            fault: outcome.fault,
            next_attempt_at,
        };
        write_down(tx, line, now_ms);
    }
    Ok(has_news.unwrap_or(false))
}

/// `None` when it was the last attempt.
fn next_attempt_at(failed_before: i64, now_ms: i64) -> Option<i64> {
    let failed_before = usize::try_from(failed_before).ok()?;
    let seconds = RETRY_AFTER_SECONDS.get(failed_before)?;
    Some(now_ms + seconds * 1000)
}
