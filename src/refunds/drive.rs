//! Driving: the provider is asked for a refund, with no transaction open.
//!
//! Whoever holds the refund's lease does it: the request that wrote the refund down, or the [`refunder`](super::refunder).
//! The key was on disk before the first call, so a repeat makes no second refund. When an answer was lost the refund is
//! looked for first, by our own id in its metadata; that also gets past a key whose stored answer is a 500.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    apply,
    apply::refuse,
    model::{Kind, Refund, Status},
};
use crate::{
    checkout::{Till, Verdict},
    db::{Db, retrying},
    provider::{Call, Doubt, RefundOutcome, RefundWish, wire},
    provider_calls::{self, Attempt},
    workers::backoff,
};

/// How long whoever asks for a refund has it to themselves. Far longer than all the calls may take.
pub(super) const LEASE: TimeDelta = TimeDelta::minutes(2);

/// How long one call goes on trying.
const PATIENCE: Duration = Duration::from_secs(15);

/// The longest wait before a refund is tried, or asked after, again.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(5);

/// A refund that is the holder's until its lease runs out.
#[derive(Debug, sqlx::FromRow)]
pub struct Claimed {
    /// The refund.
    #[sqlx(flatten)]
    pub refund: Refund,
    call_key: String,
    attempts: i64,
    lease_until: DateTime<Utc>,
}

impl Claimed {
    fn attempt(&self, calls: Vec<Call>) -> Attempt {
        let Refund {
            id, checkout_id, ..
        } = self.refund;
        Attempt::at_refund(checkout_id, id, self.attempts, calls)
    }
}

/// Asks the provider for the refund and writes down what comes of it. What stays open a worker goes on with.
#[tracing::instrument(skip_all, fields(checkout.id = %claimed.refund.checkout_id, refund.id = %claimed.refund.id))]
pub async fn drive(till: &Till, claimed: Claimed) -> sqlx::Result<()> {
    let (till, calls) = &till.noting();
    let db = &till.db;
    let now = || till.clock.now();
    let mut key = claimed.call_key.clone();
    let outcome = make(till, &claimed).await;
    let attempt = claimed.attempt(calls.noted());
    let mut unwritten = None;
    match outcome {
        RefundOutcome::Made(made) => {
            let verdict = retrying(|| record(db, &attempt, &made, now())).await?;
            tracing::info!(%verdict, "refund recorded");
            if verdict == Verdict::Concluded {
                return Ok(());
            }
        }
        RefundOutcome::Refused(code) => {
            tracing::error!(code, "the provider refuses the refund");
            return retrying(|| give_up(db, &attempt, &claimed.refund, &code, now())).await;
        }
        RefundOutcome::Unknown(doubt) => {
            tracing::warn!(attempt = claimed.attempts, %doubt, "refund unknown");
            unwritten = Some(&attempt);
            if doubt == Doubt::StoredError {
                // Of no more use. Another one is safe: the call is over, so whatever it made is found by then.
                key = format!("refund-{}-{}", claimed.refund.id, claimed.attempts);
            }
        }
    }
    let until = now() + backoff(claimed.attempts, LONGEST_WAIT);
    retrying(|| postpone(db, &claimed, unwritten, until, &key)).await
}

/// Whether the request that asked for `refund` is still at work on it: the lease is the one that it was written down with.
pub fn is_in_first_hands(refund: &Refund, now: DateTime<Utc>) -> bool {
    let first_lease = refund.created_at + LEASE;
    refund.status == Status::Pending && refund.lease_until == Some(first_lease) && now < first_lease
}

async fn make(till: &Till, claimed: &Claimed) -> RefundOutcome {
    let refund = &claimed.refund;
    if claimed.attempts > 1
        && let Some(known) = look_up(till, refund).await
    {
        return known;
    }
    let id = refund.id.to_string();
    let wish = RefundWish {
        intent: &refund.payment_intent_id,
        amount_minor: refund.amount().minor,
        refund_id: &id,
    };
    match till
        .provider
        .refund(wish, &claimed.call_key, PATIENCE)
        .await
    {
        // What came of an earlier attempt within the call it does not say.
        RefundOutcome::Refused(code) => {
            let known = look_up(till, refund).await;
            known.unwrap_or(RefundOutcome::Refused(code))
        }
        outcome => outcome,
    }
}

/// `None` when the provider has no such refund.
async fn look_up(till: &Till, refund: &Refund) -> Option<RefundOutcome> {
    match till.provider.refunds_of(&refund.payment_intent_id).await {
        Ok(all) => {
            let ours = all.iter().find(|made| is_ours(refund, made));
            let instead = || all.iter().find(|made| is_instead_of(refund, made));
            ours.or_else(instead).cloned().map(RefundOutcome::Made)
        }
        Err(doubt) => Some(RefundOutcome::Unknown(doubt)),
    }
}

fn is_ours(refund: &Refund, made: &wire::Refund) -> bool {
    let is_known = refund.provider_id.as_ref() == Some(&made.id);
    is_known || made.refund_id() == Some(&refund.id.to_string())
}

/// All of a payment that came too late may have been given back by somebody else, and then there is nothing left to do.
fn is_instead_of(refund: &Refund, made: &wire::Refund) -> bool {
    refund.kind == Kind::LatePayment
        && made.amount == refund.amount().minor
        && Status::of(&made.status).is_some_and(|status| status != Status::Failed)
}

async fn record(
    db: &Db,
    attempt: &Attempt,
    made: &wire::Refund,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let mut tx = db.begin().await?;
    let verdict = apply(&mut tx, made, now).await?;
    provider_calls::write(&mut tx, attempt, verdict == Verdict::Concluded).await?;
    tx.commit().await?;
    Ok(verdict)
}

async fn give_up(
    db: &Db,
    attempt: &Attempt,
    refund: &Refund,
    code: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    provider_calls::write(&mut tx, attempt, true).await?;
    refuse(&mut tx, refund, code, now).await?;
    tx.commit().await
}

/// Sets when a refund that is still pending is looked at again, if its lease is still the one we took, and writes down what
/// was asked in vain.
async fn postpone(
    db: &Db,
    claimed: &Claimed,
    unwritten: Option<&Attempt>,
    until: DateTime<Utc>,
    key: &str,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    if let Some(attempt) = unwritten {
        provider_calls::write(&mut tx, attempt, false).await?;
    }
    tx.query(
        "update refunds set lease_until = $3, call_key = $4
         where id = $1 and status = 'pending' and lease_until = $2",
    )
    .bind(claimed.refund.id)
    .bind(claimed.lease_until)
    .bind(until)
    .bind(key)
    .execute()
    .await?;
    tx.commit().await
}
