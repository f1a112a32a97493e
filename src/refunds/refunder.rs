//! Making refunds: the provider is asked, with no transaction open, as often as it takes.
//!
//! The key was on disk before the first call, so a repeat makes no second refund. When an answer was lost the
//! refund is looked for first, by our own id in its metadata; that also gets past a key whose stored answer is a 500.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{apply, apply::refuse};
use crate::{
    checkout::{Till, Verdict},
    db::{Db, retrying},
    ids::RefundId,
    provider::{Doubt, RefundOutcome, RefundWish, wire},
    workers::{self, Work, backoff},
};

/// How long one worker has a refund to itself. Far longer than all its calls may take.
const LEASE: TimeDelta = TimeDelta::minutes(2);

/// How long one call goes on trying.
const PATIENCE: Duration = Duration::from_secs(15);

/// The longest wait before a refund is tried, or asked after, again.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(5);

/// Makes the refunds that are written down.
#[derive(Debug)]
pub struct Refunder {
    /// Where purchases are made.
    pub till: Till,
}

/// A refund that is ours until `lease_until`.
#[derive(Debug, sqlx::FromRow)]
pub struct Due {
    id: RefundId,
    payment_intent_id: String,
    amount_minor: i64,
    call_key: String,
    attempts: i64,
    lease_until: DateTime<Utc>,
}

/// The refunds that are due; `$1` is the time.
macro_rules! due {
    ($limit:literal) => {
        concat!(
            "select id from refunds where status = 'pending' and lease_until <= $1
             order by lease_until limit ",
            $limit,
            " "
        )
    };
}

impl Work for Refunder {
    const NAME: &str = "refunder";
    const PLACES: usize = 4;
    type Item = Due;

    async fn is_due(&self) -> sqlx::Result<bool> {
        let due = concat!("with due as (", due!("1"), ") select count(*) from due");
        workers::counts_any(&self.till.db, due, self.till.clock.now()).await
    }

    async fn claim(&self, room: i64) -> sqlx::Result<Vec<Due>> {
        let claim = concat!(
            "with due as (",
            due!("$3"),
            "/*pg for update skip locked */)
             update refunds set lease_until = $2, attempts = attempts + 1
             where id in (select id from due)
             returning *"
        );
        let now = self.till.clock.now();
        workers::claim(&self.till.db, claim, now, now + LEASE, room).await
    }

    async fn perform(&self, due: Due) -> sqlx::Result<()> {
        let db = &self.till.db;
        let now = || self.till.clock.now();
        let mut key = due.call_key.clone();
        match self.make(&due).await {
            RefundOutcome::Made(made) => {
                let verdict = retrying(|| record(db, &made, now())).await?;
                tracing::info!(refund.id = %due.id, ?verdict, "refund recorded");
                if verdict == Verdict::Concluded {
                    return Ok(());
                }
            }
            RefundOutcome::Refused(code) => {
                tracing::error!(refund.id = %due.id, code, "the provider refuses the refund");
                return retrying(|| give_up(db, &due, &code, now())).await;
            }
            RefundOutcome::Unknown(doubt) => {
                tracing::warn!(refund.id = %due.id, attempt = due.attempts, ?doubt, "refund unknown");
                if doubt == Doubt::StoredError {
                    // Of no more use. Another one is safe: the call is over, so whatever it made is found by then.
                    key = format!("refund-{}-{}", due.id, due.attempts);
                }
            }
        }
        let until = now() + backoff(due.attempts, LONGEST_WAIT);
        retrying(|| postpone(db, &due, until, &key)).await
    }
}

impl Refunder {
    async fn make(&self, due: &Due) -> RefundOutcome {
        if due.attempts > 1
            && let Some(known) = self.look_up(due).await
        {
            return known;
        }
        let id = due.id.to_string();
        let wish = RefundWish {
            intent: &due.payment_intent_id,
            amount_minor: due.amount_minor,
            refund_id: &id,
        };
        let outcome = (self.till.provider)
            .refund(wish, &due.call_key, PATIENCE)
            .await;
        match outcome {
            // What came of an earlier attempt within the call it does not say.
            RefundOutcome::Refused(code) => {
                let known = self.look_up(due).await;
                known.unwrap_or(RefundOutcome::Refused(code))
            }
            outcome => outcome,
        }
    }

    /// `None` when the provider has no such refund.
    async fn look_up(&self, due: &Due) -> Option<RefundOutcome> {
        match self.till.provider.refunds_of(&due.payment_intent_id).await {
            Ok(refunds) => {
                let id = due.id.to_string();
                let is_ours = |refund: &wire::Refund| refund.refund_id() == Some(&id);
                refunds.into_iter().find(is_ours).map(RefundOutcome::Made)
            }
            Err(doubt) => Some(RefundOutcome::Unknown(doubt)),
        }
    }
}

async fn record(db: &Db, made: &wire::Refund, now: DateTime<Utc>) -> sqlx::Result<Verdict> {
    let mut tx = db.begin().await?;
    let verdict = apply(&mut tx, made, now).await?;
    tx.commit().await?;
    Ok(verdict)
}

async fn give_up(db: &Db, due: &Due, code: &str, now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    refuse(&mut tx, due.id, &due.payment_intent_id, code, now).await?;
    tx.commit().await
}

/// Sets when a refund that is still pending is looked at again, if its lease is still the one we took.
async fn postpone(db: &Db, due: &Due, until: DateTime<Utc>, key: &str) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "update refunds set lease_until = $3, call_key = $4
         where id = $1 and status = 'pending' and lease_until = $2",
    )
    .bind(due.id)
    .bind(due.lease_until)
    .bind(until)
    .bind(key)
    .execute()
    .await?;
    tx.commit().await
}
