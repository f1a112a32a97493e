//! What comes back: a row that was published is unpublished again, because its message did not arrive.
//!
//! A bus that keeps messages itself has taken them over for good; the relay is done with them. Two things can go wrong
//! after that, and both end where an operator looks anyway, in the outbox:
//!
//! ```text
//! published ──┬──> parked          a consumer can never act on it, and hands it back
//!             └──> unpublished     the bus no longer has it, and a consumer never had it
//! ```
//!
//! Each return is counted in `returns`, which all guards here compare: of two who want to bring back the same
//! publication one does, and the relay that made it cannot mark it afterwards. Those consumers that had acted on the
//! message find it in their inboxes when it comes again.

use chrono::{DateTime, Utc};
use sqlx::types::Json;

use super::{Message, inbox::Consumer};
use crate::db::{Db, retrying};

/// A message as one of its publications.
#[derive(Clone, Debug)]
pub struct Published {
    /// What was published.
    pub message: Message,
    /// How often it had come back before.
    pub returns: i64,
}

/// Parks the row of a message on which a consumer cannot act after so many `attempts`. When nobody has its row any
/// more, it is written anew. `false`: its row is not marked as published yet, so it is too early.
pub async fn park(
    db: &Db,
    it: &Published,
    attempts: i64,
    error: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    retrying(|| park_once(db, it, attempts, error, now)).await
}

async fn park_once(
    db: &Db,
    it: &Published,
    attempts: i64,
    error: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let message = &it.message;
    let mut tx = db.begin().await?;
    tx.query(
        "insert into outbox (aggregate_id, event_type, version, payload, created_at,
                             parked_at, attempts, last_error, returns)
         values ($1, $2, $3, $4, $5, $5, $6, $7, $8)
         on conflict (aggregate_id, event_type, version) do update
         set published_at = null, not_before = null, parked_at = excluded.parked_at,
             attempts = excluded.attempts, last_error = excluded.last_error, returns = excluded.returns
         where outbox.published_at is not null and outbox.returns < excluded.returns",
    )
    .bind(message.aggregate_id)
    .bind(&message.event_type)
    .bind(message.version)
    .bind(Json(&message.payload))
    .bind(now)
    .bind(attempts)
    .bind(error)
    .bind(it.returns + 1)
    .execute()
    .await?;
    // This return of it, or one of another consumer.
    let returns: i64 = tx
        .query(
            "select returns from outbox where aggregate_id = $1 and event_type = $2 and version = $3",
        )
        .bind(message.aggregate_id)
        .bind(&message.event_type)
        .bind(message.version)
        .fetch_scalar()
        .await?;
    tx.commit().await?;
    Ok(returns > it.returns)
}

/// A row that is published, and that a consumer has not consumed.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub struct Unconsumed {
    id: i64,
    returns: i64,
}

/// What is published, and not consumed by `consumer`: it is on its way, or lost.
pub async fn unconsumed(db: &Db, consumer: Consumer) -> sqlx::Result<Vec<Unconsumed>> {
    db.query(
        "select m.id, m.returns from outbox_messages m
         where m.published_at is not null
           and not exists (select 1 from inbox i where i.consumer = $1 and i.message = m.message)
         order by m.id",
    )
    .bind(consumer.name())
    .fetch_all()
    .await
}

/// Lets those of `lost` be published again that `consumer` has not consumed in the meantime. Returns how many.
pub async fn give_back(db: &Db, consumer: Consumer, lost: &[Unconsumed]) -> sqlx::Result<u64> {
    retrying(|| give_back_once(db, consumer, lost)).await
}

async fn give_back_once(db: &Db, consumer: Consumer, lost: &[Unconsumed]) -> sqlx::Result<u64> {
    let mut tx = db.begin().await?;
    let mut given_back = 0;
    for row in lost {
        given_back += tx
            .query(
                "update outbox set published_at = null, not_before = null, attempts = 0, returns = returns + 1
                 where returns = $2 and id in
                     (select m.id from outbox_messages m
                      where m.id = $1 and m.published_at is not null
                        and not exists (select 1 from inbox i where i.consumer = $3 and i.message = m.message))",
            )
            .bind(row.id)
            .bind(row.returns)
            .bind(consumer.name())
            .execute()
            .await?;
    }
    tx.leaves_work();
    tx.commit().await?;
    Ok(given_back)
}
