//! The table of deliveries: what is due, and what became of it.

use serde::Serialize;
use sqlx::SqliteConnection;

use crate::simulator::clock;

/// When to try again after each failed attempt, in seconds: soon at first, then ever more rarely, for three days.
const RETRY_AFTER_SECONDS: [i64; 12] = [
    2,
    5,
    15,
    60,
    300,
    1800,
    2 * 3600,
    5 * 3600,
    10 * 3600,
    12 * 3600,
    18 * 3600,
    24 * 3600,
];

/// How long a delivery waits to be overtaken (`reorder`) before it is sent anyway.
const MAX_HOLD_MS: i64 = 60_000;

/// The newest attempts that `GET /_control/deliveries` shows.
const JOURNAL_LIMIT: i64 = 1000;

/// An event on its way to an endpoint.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Delivery {
    pub(super) id: i64,
    pub(super) event_id: String,
    pub(super) event_type: String,
    pub(super) endpoint_id: String,
    pub(super) url: String,
    /// Attempts that failed so far.
    pub(super) attempts: i64,
}

/// What a receiver made of an attempt: its status, or why there is none.
pub(super) type Reception = Result<u16, String>;

/// Only 2xx counts: a redirect is not followed, and not a success either.
pub(super) fn is_success(reception: &Reception) -> bool {
    matches!(reception, Ok(200..=299))
}

/// Deliveries whose time has come, the longest-waiting first.
pub(super) async fn due(
    tx: &mut SqliteConnection,
    now_ms: i64,
    limit: i64,
) -> sqlx::Result<Vec<Delivery>> {
    sqlx::query_as(
        "select d.id, d.event_id, o.body ->> '$.type' as event_type, d.endpoint_id, e.url, d.attempts
         from deliveries d
         join webhook_endpoints e on e.id = d.endpoint_id and e.enabled = 1
         join objects o on o.id = d.event_id
         where d.state = 'pending' and d.next_attempt_at <= $1
         order by d.next_attempt_at, d.id
         limit $2",
    )
    .bind(now_ms)
    .bind(limit)
    .fetch_all(tx)
    .await
}

/// When the next delivery will be due.
pub(super) async fn next_due_at(
    tx: &mut SqliteConnection,
    now_ms: i64,
) -> sqlx::Result<Option<i64>> {
    sqlx::query_scalar(
        "select min(d.next_attempt_at)
         from deliveries d join webhook_endpoints e on e.id = d.endpoint_id and e.enabled = 1
         where d.state = 'pending' and d.next_attempt_at > $1",
    )
    .bind(now_ms)
    .fetch_one(tx)
    .await
}

/// Holds a delivery back until a later event to the same endpoint has arrived.
pub(super) async fn hold(
    tx: &mut SqliteConnection,
    delivery: &Delivery,
    now_ms: i64,
) -> sqlx::Result<()> {
    sqlx::query(
        "update deliveries set held = 1, next_attempt_at = $2 where id = $1 and state = 'pending'",
    )
    .bind(delivery.id)
    .bind(now_ms + MAX_HOLD_MS)
    .execute(tx)
    .await?;
    Ok(())
}

/// Records what came of an attempt of one or several copies; one that arrived is enough.
pub(super) async fn conclude(
    tx: &mut SqliteConnection,
    delivery: &Delivery,
    receptions: &[Reception],
    now_ms: i64,
) -> sqlx::Result<()> {
    let delivered = receptions.iter().any(is_success);
    let retry_after = usize::try_from(delivery.attempts)
        .ok()
        .and_then(|tried| RETRY_AFTER_SECONDS.get(tried));
    let next_attempt_at = if delivered {
        None
    } else {
        retry_after.map(|seconds| now_ms + seconds * 1000)
    };
    let state = match (delivered, next_attempt_at) {
        (true, _) => "delivered",
        (false, Some(_)) => "pending",
        (false, None) => "given_up",
    };
    sqlx::query(
        "update deliveries
         set state = $2, attempts = attempts + 1, held = 0, next_attempt_at = coalesce($3, next_attempt_at)
         where id = $1 and state = 'pending'",
    )
    .bind(delivery.id)
    .bind(state)
    .bind(next_attempt_at)
    .execute(&mut *tx)
    .await?;
    for reception in receptions {
        write_down(
            tx,
            &delivery.event_id,
            &delivery.url,
            reception,
            now_ms,
            next_attempt_at,
        )
        .await?;
    }
    if delivered {
        release_overtaken(tx, delivery).await?;
    }
    Ok(())
}

/// What waited to be overtaken by this delivery is due now.
async fn release_overtaken(tx: &mut SqliteConnection, delivered: &Delivery) -> sqlx::Result<()> {
    sqlx::query(
        "update deliveries set held = 0, next_attempt_at = 0
         where endpoint_id = $1 and held = 1 and state = 'pending' and id < $2",
    )
    .bind(&delivered.endpoint_id)
    .bind(delivered.id)
    .execute(tx)
    .await?;
    Ok(())
}

/// One line of the journal. A reset in the meantime has forgotten the event, and then there is nothing to write.
pub(super) async fn write_down(
    tx: &mut SqliteConnection,
    event_id: &str,
    url: &str,
    reception: &Reception,
    now_ms: i64,
    next_attempt_at: Option<i64>,
) -> sqlx::Result<()> {
    let (status, error) = match reception {
        Ok(status) => (Some(i64::from(*status)), None),
        Err(error) => (None, Some(error.as_str())),
    };
    sqlx::query(
        "insert into delivery_attempts (event_id, url, attempt, at, status, error, next_attempt_at)
         select $1, $2, (select count(*) + 1 from delivery_attempts where event_id = $1 and url = $2), $3, $4, $5, $6
         where exists (select 1 from objects where id = $1)",
    )
    .bind(event_id)
    .bind(url)
    .bind(now_ms)
    .bind(status)
    .bind(error)
    .bind(next_attempt_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// An attempt to deliver an event, as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedDelivery {
    /// The event's id.
    pub event: String,
    /// The event's type, such as `payment_intent.succeeded`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The endpoint.
    pub url: String,
    /// 1 for the first attempt to deliver this event there.
    pub attempt: i64,
    /// When it ended: RFC 3339, by the simulator's clock.
    pub at: String,
    /// What the endpoint answered.
    pub status: Option<i64>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// When it will be tried again, if it will: RFC 3339, by the simulator's clock.
    pub next_attempt_at: Option<String>,
}

#[derive(sqlx::FromRow)]
struct Line {
    event_id: String,
    kind: String,
    url: String,
    number: i64,
    at: i64,
    status: Option<i64>,
    error: Option<String>,
    next_attempt_at: Option<i64>,
}

/// Every attempt, newest first, as `/_control/deliveries` shows them.
pub(in crate::simulator) async fn journal(
    tx: &mut SqliteConnection,
) -> sqlx::Result<Vec<LoggedDelivery>> {
    let lines: Vec<Line> = sqlx::query_as(
        "select a.event_id, o.body ->> '$.type' as kind, a.url, a.attempt as number, a.at, a.status, a.error, a.next_attempt_at
         from delivery_attempts a join objects o on o.id = a.event_id
         order by a.id desc
         limit $1",
    )
    .bind(JOURNAL_LIMIT)
    .fetch_all(tx)
    .await?;
    let shown = lines.into_iter().map(|line| LoggedDelivery {
        event: line.event_id,
        kind: line.kind,
        url: line.url,
        attempt: line.number,
        at: clock::rfc3339(line.at),
        status: line.status,
        error: line.error,
        next_attempt_at: line.next_attempt_at.map(clock::rfc3339),
    });
    Ok(shown.collect())
}
