//! What became of each attempt: the journal behind `GET /_control/deliveries`.

use serde::Serialize;
use sqlx::SqliteConnection;

use crate::simulator::{clock, transaction::Tx};

/// The newest attempts that the control call shows.
pub(in crate::simulator) const SHOWN: i64 = 1000;

/// What a receiver made of an attempt: its status, or why there is none.
pub(super) type Reception = Result<u16, String>;

/// Only 2xx counts: a redirect is not followed, and not a success either.
pub(super) fn is_success(reception: &Reception) -> bool {
    matches!(reception, Ok(200..=299))
}

/// An attempt, as it goes into the journal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) event_id: &'a str,
    pub(super) endpoint_id: &'a str,
    pub(super) url: &'a str,
    pub(super) reception: &'a Reception,
    pub(super) fault: Option<&'a str>,
    pub(super) next_attempt_at: Option<i64>,
}

/// Writes one line. A reset in the meantime has forgotten the event, and then there is nothing to write.
pub(super) fn write_down(tx: &mut Tx, line: Line<'_>, now_ms: i64) {
    let (status, error) = match line.reception {
        Ok(status) => (Some(i64::from(*status)), None),
        Err(error) => (None, Some(error.as_str())),
    };
    tx.write(
        "insert into delivery_attempts (event_id, endpoint_id, url, attempt, at, status, error, fault, next_attempt_at)
         select event.id, endpoint.id, ?,
                (select count(*) + 1 from delivery_attempts where event_id = event.id and endpoint_id = endpoint.id),
                ?, ?, ?, ?, ?
         from (select id from objects where id = ?) event, (select ? as id) endpoint",
    )
    .bind(line.url)
    .bind(now_ms)
    .bind(status)
    .bind(error)
    .bind(line.fault)
    .bind(line.next_attempt_at)
    .bind(line.event_id)
    .bind(line.endpoint_id);
}

/// An attempt to deliver an event, as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedDelivery {
    /// The event's id.
    pub event: String,
    /// The event's type, such as `payment_intent.succeeded`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The endpoint's id. `None`: it was tried by an earlier version, which did not write that down.
    pub endpoint: Option<String>,
    /// The endpoint's URL at the time.
    pub url: String,
    /// 1 for the first attempt to deliver this event there.
    pub attempt: i64,
    /// When it ended: RFC 3339, by the simulator's clock.
    pub at: String,
    /// What the endpoint answered.
    pub status: Option<i64>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// The fault that struck it, such as `duplicate`.
    pub fault: Option<String>,
    /// When it will be tried again, if it will: RFC 3339, by the simulator's clock.
    pub next_attempt_at: Option<String>,
}

#[derive(sqlx::FromRow)]
struct Written {
    event_id: String,
    kind: String,
    endpoint_id: Option<String>,
    url: String,
    number: i64,
    at: i64,
    status: Option<i64>,
    error: Option<String>,
    fault: Option<String>,
    next_attempt_at: Option<i64>,
}

/// The newest `number` of attempts, newest first.
pub(in crate::simulator) async fn journal(
    tx: &mut SqliteConnection,
    number: i64,
) -> sqlx::Result<Vec<LoggedDelivery>> {
    let lines: Vec<Written> = sqlx::query_as(
        "select a.event_id, o.body ->> '$.type' as kind, a.endpoint_id, a.url, a.attempt as number, a.at,
                a.status, a.error, a.fault, a.next_attempt_at
         from delivery_attempts a join objects o on o.id = a.event_id
         order by a.id desc
         limit $1",
    )
    .bind(number)
    .fetch_all(tx)
    .await?;
    Ok(lines.into_iter().map(Written::show).collect())
}

impl Written {
    fn show(self) -> LoggedDelivery {
        LoggedDelivery {
            event: self.event_id,
            kind: self.kind,
            endpoint: self.endpoint_id,
            url: self.url,
            attempt: self.number,
            at: clock::rfc3339(self.at),
            status: self.status,
            error: self.error,
            fault: self.fault,
            next_attempt_at: self.next_attempt_at.map(clock::rfc3339),
        }
    }
}
