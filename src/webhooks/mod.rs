//! News from the provider, at least once and in any order.
//!
//! ```text
//! POST /webhooks/provider ── signature over the raw bytes ── one transaction: ── 200
//!                                                            insert the event's id
//!                                                            apply what it says
//! ```
//!
//! The event's id and its effect are committed together. Mark first, and a crash in between loses the effect;
//! act first, and a crash in between repeats it. A 200 is given after the commit and never before.
//!
//! What is never delivered, [`missed`] reads from the provider's list, and brings it to the same transaction; so does an
//! [`operator`] with a single event.

mod event;
pub mod missed;
pub mod operator;
pub mod signature;

use std::fmt;

use chrono::{DateTime, Utc};

pub use self::event::{Event, KINDS, NotAnEvent};
use crate::{
    checkout::{Verdict, record},
    db::{Db, Tx, retrying},
    refunds,
};

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It was here before. Nothing was done.
    Duplicate,
    /// It was new, and came to this.
    Processed(Verdict),
}

/// For the log.
impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate => f.write_str("here before"),
            Self::Processed(verdict) => verdict.fmt(f),
        }
    }
}

/// Processes `event`, once however often it is delivered, also by several processes at once.
pub async fn receive(db: &Db, event: &Event, now: DateTime<Utc>) -> sqlx::Result<Received> {
    let received = retrying(|| receive_once(db, event, now)).await?;
    let checkout = event.checkout.map(tracing::field::display);
    tracing::info!(
        checkout.id = checkout,
        event.id,
        event.kind,
        %received,
        "event received"
    );
    Ok(received)
}

async fn receive_once(db: &Db, event: &Event, now: DateTime<Utc>) -> sqlx::Result<Received> {
    let mut tx = db.begin().await?;
    if !is_new(&mut tx, event, now).await? {
        // The first delivery may not be on disk yet, and 200 would end the deliveries.
        tx.rollback().await?;
        return Ok(Received::Duplicate);
    }
    let verdict = match (event.checkout, &event.outcome, &event.refund) {
        (Some(checkout), Some(outcome), _) => {
            record::apply(&mut tx, checkout, outcome, now).await?
        }
        (_, _, Some(refund)) => refunds::apply(&mut tx, refund, now).await?,
        // Not ours, or of a kind that tells nothing about a payment's end.
        _ => Verdict::Nothing,
    };
    note_verdict(&mut tx, event, verdict).await?;
    tx.commit().await?;
    Ok(Received::Processed(verdict))
}

/// Inserts the event's id. Of twenty deliveries at once one inserts; the others wait for its commit, and then
/// find it there. Most events come to nothing, since the answer to the request has told the same.
async fn is_new(tx: &mut Tx, event: &Event, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let inserted = tx
        .query(
            "insert into processed_events (event_id, type, object_id, verdict, received_at)
             values ($1, $2, $3, 'ignored', $4)
             on conflict do nothing",
        )
        .bind(&event.id)
        .bind(&event.kind)
        .bind(&event.object)
        .bind(now)
        .execute()
        .await?;
    Ok(inserted == 1)
}

/// Says for the operator what the event came to, where that is something.
async fn note_verdict(tx: &mut Tx, event: &Event, verdict: Verdict) -> sqlx::Result<()> {
    let word = match verdict {
        Verdict::Nothing => return Ok(()),
        Verdict::Concluded | Verdict::Waiting => "applied",
        Verdict::Discrepancy => "discrepancy",
    };
    tx.query("update processed_events set verdict = $2 where event_id = $1")
        .bind(&event.id)
        .bind(word)
        .execute()
        .await?;
    Ok(())
}
