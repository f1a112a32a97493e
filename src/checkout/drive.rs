//! Driving: whoever finds an open checkout that nobody is at work on takes it forward.
//!
//! The request that submitted it, a retry of it, the status page: all of them may come upon a checkout whose
//! driver died, or lost the provider's answer. One takes the lease, with a guarded update, and goes on under the same
//! key. The lease only saves calls; that there is one charge and one order comes from the key and from
//! [`record`](mod@super::record).

use chrono::{DateTime, TimeDelta, Utc};

use super::{Till, charge, model::Checkout, record, record::Verdict};
use crate::{
    db::{Db, retrying},
    ids::CheckoutId,
    provider::{Doubt, Outcome},
};

/// The longest wait before an undecided checkout is looked at again.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(5);

/// How often a payment that waits for the customer, or for a slow method, is asked after.
const WAITING: TimeDelta = TimeDelta::seconds(3);

/// Charges and records `checkout`, whose lease the caller holds.
#[tracing::instrument(skip_all, fields(checkout.id = %checkout.id))]
pub async fn drive(till: &Till, checkout: Checkout) -> sqlx::Result<()> {
    let outcome = charge(till, &checkout).await;
    let wait = match &outcome {
        Outcome::Unknown(doubt) => {
            tracing::warn!(checkout.id = %checkout.id, attempt = checkout.attempts, ?doubt, "outcome unknown");
            backoff(checkout.attempts)
        }
        outcome => match record(&till.db, checkout.id, outcome, till.clock.now()).await? {
            Verdict::Concluded | Verdict::Nothing => return Ok(()),
            Verdict::Waiting => WAITING,
            // More calls will not settle what a person has to look at.
            Verdict::Discrepancy => LONGEST_WAIT,
        },
    };
    let now = till.clock.now();
    let in_vain = outcome == Outcome::Unknown(Doubt::NotFound);
    let look_up_since = checkout.look_up_since.or(in_vain.then_some(now));
    retrying(|| postpone(&till.db, &checkout, now + wait, look_up_since)).await
}

/// Goes on with a checkout that somebody else left open. Does nothing when it has ended, or when its lease is
/// somebody's.
pub async fn resume(till: &Till, id: CheckoutId) -> sqlx::Result<()> {
    let now = till.clock.now();
    match retrying(|| take_lease(&till.db, id, now, now + till.lease)).await? {
        Some(checkout) => drive(till, checkout).await,
        None => Ok(()),
    }
}

/// Takes the lease of a pending checkout when it is free. Of many who try at once, one gets the row. A run
/// whose commit went through with its answer lost finds its own lease again.
async fn take_lease(
    db: &Db,
    id: CheckoutId,
    now: DateTime<Utc>,
    until: DateTime<Utc>,
) -> sqlx::Result<Option<Checkout>> {
    let mut tx = db.begin().await?;
    let taken = tx
        .query(
            "update checkouts set lease_until = $3, attempts = attempts + 1
             where id = $1 and status = 'pending' and (lease_until <= $2 or lease_until = $3)
             returning *",
        )
        .bind(id)
        .bind(now)
        .bind(until)
        .fetch_optional()
        .await?;
    tx.commit().await?;
    Ok(taken)
}

/// Sets when a checkout that is still pending may be driven again, if its lease is still the one we took.
async fn postpone(
    db: &Db,
    checkout: &Checkout,
    until: DateTime<Utc>,
    look_up_since: Option<DateTime<Utc>>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "update checkouts set lease_until = $3, look_up_since = $4
         where id = $1 and status = 'pending' and lease_until = $2",
    )
    .bind(checkout.id)
    .bind(checkout.lease_until)
    .bind(until)
    .bind(look_up_since)
    .execute()
    .await?;
    tx.commit().await
}

/// One second after the first attempt, then twice as long each time.
fn backoff(attempts: i64) -> TimeDelta {
    let doublings = attempts.clamp(1, 10) - 1;
    TimeDelta::seconds(1 << doublings).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_its_bound() {
        assert_eq!(backoff(1), TimeDelta::seconds(1));
        assert_eq!(backoff(2), TimeDelta::seconds(2));
        assert_eq!(backoff(9), TimeDelta::seconds(256));
        assert_eq!(backoff(i64::MAX), LONGEST_WAIT);
    }
}
