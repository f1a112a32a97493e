//! Missed webhooks: the provider gives up on a delivery after some days, or we were unreachable, or misconfigured.
//!
//! A slow worker reads the provider's own list of events, of the [`KINDS`] that tell something, from the last one it has
//! seen, and hands each that is not here yet to [`receive`], as if it had been delivered. An event that comes both ways takes
//! effect once.
//!
//! ```text
//! the provider's list   e1 ── e2 ── e3 ── e4 ── e5 (now)
//! delivered             e1          e3
//! position                    ▲ ──────────────▲  reads e3, e4, e5; takes e4 and e5
//! ```
//!
//! One process reads for all, and several may well read at once. The position only saves calls, so it may be behind.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Event, KINDS, receive};
use crate::{
    checkout::Till,
    db::{Db, retrying},
    provider::{Doubt, Events},
};

/// How often the list is read. News usually come by webhook, and the reconciler asks after what is undecided.
pub const BEAT: TimeDelta = TimeDelta::minutes(1);

/// Who has read the list has read it for all, for so long. Less than a beat, so that a process alone never waits for itself.
const TURN: TimeDelta = TimeDelta::seconds(30);

/// How far back the provider shows events.
const SHOWN: TimeDelta = TimeDelta::days(30);

/// How far the provider's clock may be behind ours.
const MARGIN: TimeDelta = TimeDelta::days(1);

/// The position stays so far behind: a list may show an event a little after younger ones.
const LATE: TimeDelta = TimeDelta::minutes(5);

/// Works until `stopping`.
pub async fn run(till: Till, stopping: CancellationToken) {
    while !stopping.is_cancelled() {
        let wake = till.clock.now() + BEAT;
        if let Err(error) = beat(&till, &stopping).await {
            tracing::warn!(%error, "cannot read the provider's events");
        }
        tokio::select! {
            () = stopping.cancelled() => {}
            () = till.clock.sleep_until(wake) => {}
        }
    }
}

/// Reads the list, unless somebody has read it a moment ago.
async fn beat(till: &Till, stopping: &CancellationToken) -> Result<(), CatchUpError> {
    let now = till.clock.now();
    if retrying(|| takes_turn(&till.db, now)).await? {
        catch_up(till, stopping).await?;
    }
    Ok(())
}

/// Whether it is this process's turn: nobody has read lately. A time far ahead is that of a clock that is wrong, for which
/// nobody is to wait; our own is that of a run whose commit went through with its answer lost. As long as there is no
/// position, there is nothing to take turns with, and everybody reads.
async fn takes_turn(db: &Db, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let taken = tx
        .query(
            "update events_read set read_at = $1
             where read_at <= $2 or read_at = $1 or read_at > $3",
        )
        .bind(now)
        .bind(now - TURN)
        .bind(now + TURN)
        .execute()
        .await?;
    let positions: i64 = tx
        .query("select count(*) from events_read")
        .fetch_scalar()
        .await?;
    tx.commit().await?;
    Ok(taken == 1 || positions == 0)
}

/// Reads the list from the position to its end.
pub async fn catch_up(till: &Till, stopping: &CancellationToken) -> Result<(), CatchUpError> {
    let mut seen = position(&till.db).await?;
    loop {
        let page = tokio::select! {
            () = stopping.cancelled() => return Ok(()),
            page = read_on(till, seen.as_deref()) => page?,
        };
        let Some(page) = page else {
            return Ok(());
        };
        take(till, &page).await?;
        settle(till, &page).await?;
        match page.newest() {
            Some(newest) if page.has_more => seen = Some(newest.to_owned()),
            _ => return Ok(()),
        }
    }
}

/// The events after `seen`. Without it, or when the provider has forgotten it, all that can be about our purchases;
/// `None` when there was none yet.
async fn read_on(till: &Till, seen: Option<&str>) -> Result<Option<Events>, CatchUpError> {
    if let Some(seen) = seen
        && let Some(page) = till.provider.events_after(seen, &KINDS).await?
    {
        return Ok(Some(page));
    }
    let Some(first) = first_purchase(&till.db).await? else {
        return Ok(None);
    };
    let since = (first - MARGIN).max(till.clock.now() - SHOWN);
    let page = till.provider.events_since(since.timestamp(), &KINDS);
    Ok(Some(page.await?))
}

/// Lets each event of `page` take effect, unless it has. Most have been delivered, and asking first spares the writers' lock;
/// what decides is the insert in [`receive`].
async fn take(till: &Till, page: &Events) -> Result<(), CatchUpError> {
    let events: Vec<Event> = page.events.iter().filter_map(|it| read(till, it)).collect();
    let here = here(&till.db, &events).await?;
    for event in events.iter().filter(|event| !here.contains(&event.id)) {
        tracing::info!(event.id, event.kind, "event was not delivered yet");
        receive(&till.db, event, till.clock.now()).await?;
    }
    Ok(())
}

fn read(till: &Till, event: &Value) -> Option<Event> {
    let read = Event::read(event, till.provider.is_live());
    if read.is_err() {
        tracing::warn!("the provider's list has an event without an id or a type");
    }
    read.ok()
}

/// The ids of those that are here.
async fn here(db: &Db, events: &[Event]) -> sqlx::Result<HashSet<String>> {
    let ids = events.iter().map(|event| (event.id.clone(), Value::Null));
    let ids = Value::Object(ids.collect()).to_string();
    let here: Vec<(String,)> = retrying(|| {
        db.query(
            "select event_id from processed_events
             where event_id in (select key from json_each($1 /*pg ::json */))",
        )
        .bind(&ids)
        .fetch_all()
    })
    .await?;
    Ok(here.into_iter().map(|(id,)| id).collect())
}

async fn position(db: &Db) -> sqlx::Result<Option<String>> {
    let read: Option<(String,)> = retrying(|| {
        db.query("select event_id from events_read")
            .fetch_optional()
    })
    .await?;
    Ok(read.map(|(id,)| id))
}

async fn first_purchase(db: &Db) -> sqlx::Result<Option<DateTime<Utc>>> {
    let first: Option<(DateTime<Utc>,)> = retrying(|| {
        db.query("select created_at from checkouts order by id limit 1")
            .fetch_optional()
    })
    .await?;
    Ok(first.map(|(at,)| at))
}

/// Moves the position behind the last event of `page` that nothing older can join any more.
async fn settle(till: &Till, page: &Events) -> sqlx::Result<()> {
    let now = till.clock.now();
    let settled = (now - LATE).timestamp();
    let last = page.events.iter().rev().find_map(|event| {
        let created = event.get("created")?.as_i64()?;
        let id = event.get("id")?.as_str()?;
        (created <= settled).then_some((id, created))
    });
    match last {
        Some((id, created)) => retrying(|| advance(&till.db, id, created, now)).await,
        None => Ok(()),
    }
}

async fn advance(db: &Db, event: &str, created: i64, now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "insert into events_read (id, event_id, created, read_at) values (1, $1, $2, $3)
         on conflict (id) do update set event_id = excluded.event_id, created = excluded.created,
             read_at = excluded.read_at
         where events_read.created <= excluded.created",
    )
    .bind(event)
    .bind(created)
    .bind(now)
    .execute()
    .await?;
    tx.commit().await
}

/// Why the list was not read to its end. The next beat goes on.
#[derive(Debug, thiserror::Error)]
pub enum CatchUpError {
    /// Ours.
    #[error("the database failed: {0}")]
    Db(#[from] sqlx::Error),
    /// The list could not be had.
    #[error(transparent)]
    Provider(#[from] Doubt),
}
