//! Driving: whoever finds an open checkout that nobody is at work on takes it forward.
//!
//! The request that submitted it, a retry of it, the status page, the reconciler: all of them may come upon a checkout
//! whose driver died, or lost the provider's answer. One takes the lease, with a guarded update, and goes on under the
//! same key. The lease only saves calls; that there is one charge and one order comes from the key and from
//! [`record`](mod@super::record).

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Till, abandon, charge,
    model::{Checkout, Status},
    record,
    record::Verdict,
};
use crate::{
    db::{Db, retrying},
    ids::CheckoutId,
    provider::{Doubt, Outcome},
    provider_calls::{self, Attempt},
};

/// The longest wait before an undecided checkout is looked at again.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(5);

/// How often a customer who looks at the page makes us ask after a payment that waits for them, or for a slow method.
const WAITING: TimeDelta = TimeDelta::seconds(3);

/// Charges and records `checkout`, whose lease the caller holds.
#[tracing::instrument(skip_all, fields(checkout.id = %checkout.id))]
pub async fn drive(till: &Till, checkout: Checkout) -> sqlx::Result<()> {
    let (till, calls) = &till.noting();
    let mut outcome = charge(till, &checkout).await;
    let deadline = abandon::deadline(till, &checkout, till.clock.now());
    let is_asked = matches!(outcome, Outcome::NeedsAuthentication { .. });
    if is_asked && deadline <= till.clock.now() {
        match abandon::abandon(till, &checkout).await? {
            Some(instead) => outcome = instead,
            None => return Ok(()),
        }
    }
    let attempt = Attempt::at_checkout(checkout.id, checkout.attempts, calls.noted());
    let rest = match &outcome {
        Outcome::Unknown(doubt) => {
            tracing::warn!(checkout.id = %checkout.id, attempt = checkout.attempts, %doubt, "outcome unknown");
            Rest::after_failure(checkout.failures + 1)
        }
        outcome => match record(&till.db, &attempt, outcome, till.clock.now()).await? {
            Verdict::Concluded | Verdict::Nothing => return Ok(()),
            Verdict::Waiting => {
                let now = till.clock.now();
                Rest::while_waiting(
                    now - checkout.created_at,
                    is_asked.then_some(deadline - now),
                )
            }
            // More calls will not settle what a person has to look at.
            Verdict::Discrepancy => Rest::of(LONGEST_WAIT),
        },
    };
    let now = till.clock.now();
    let in_vain = outcome == Outcome::Unknown(Doubt::NotFound);
    let look_up_since = checkout.look_up_since.or(in_vain.then_some(now));
    let unwritten = matches!(outcome, Outcome::Unknown(_)).then_some(&attempt);
    retrying(|| postpone(&till.db, &checkout, &rest, look_up_since, unwritten, now)).await
}

/// For how long an undecided checkout is let alone.
#[derive(Debug, PartialEq, Eq)]
struct Rest {
    /// By everybody.
    all: TimeDelta,
    /// By the reconciler, which looks less often than a customer who sits and waits.
    reconciler: TimeDelta,
    /// The failures in a row that led to it.
    failures: i64,
}

impl Rest {
    fn of(wait: TimeDelta) -> Self {
        Self {
            all: wait,
            reconciler: wait,
            failures: 0,
        }
    }

    /// One second after the first failure, then twice as long each time.
    fn after_failure(failures: i64) -> Self {
        let doublings = failures.clamp(1, 10) - 1;
        Self {
            failures,
            ..Self::of(TimeDelta::seconds(1 << doublings).min(LONGEST_WAIT))
        }
    }

    /// The reconciler waits as long again as the checkout has waited already, and not beyond the customer's time.
    fn while_waiting(age: TimeDelta, left: Option<TimeDelta>) -> Self {
        let patience = age.clamp(WAITING, LONGEST_WAIT);
        Self {
            reconciler: left.map_or(patience, |left| patience.min(left).max(WAITING)),
            ..Self::of(WAITING)
        }
    }
}

/// Whether the request that submitted `checkout` is still at work on it: the lease is the one that it was submitted with.
pub fn is_in_first_hands(till: &Till, checkout: &Checkout) -> bool {
    let first_lease = checkout.created_at + till.lease;
    checkout.status == Status::Pending
        && checkout.lease_until == Some(first_lease)
        && till.clock.now() < first_lease
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
            "update checkouts set lease_until = $3, drive_at = $3, attempts = attempts + 1
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

/// Sets when a checkout that is still pending may be driven again, if its lease is still the one we took, and writes down
/// what was asked in vain.
async fn postpone(
    db: &Db,
    checkout: &Checkout,
    rest: &Rest,
    look_up_since: Option<DateTime<Utc>>,
    unwritten: Option<&Attempt>,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    if let Some(attempt) = unwritten {
        provider_calls::write(&mut tx, attempt, false).await?;
    }
    tx.query(
        "update checkouts set lease_until = $3, drive_at = $4, failures = $5, look_up_since = $6
         where id = $1 and status = 'pending' and lease_until = $2",
    )
    .bind(checkout.id)
    .bind(checkout.lease_until)
    .bind(now + rest.all)
    .bind(now + rest.reconciler)
    .bind(rest.failures)
    .bind(look_up_since)
    .execute()
    .await?;
    tx.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(failures: i64) -> TimeDelta {
        let rest = Rest::after_failure(failures);
        assert_eq!(rest.failures, failures);
        assert_eq!(rest.all, rest.reconciler);
        rest.all
    }

    #[test]
    fn the_wait_doubles_up_to_its_bound() {
        assert_eq!(after(1), TimeDelta::seconds(1));
        assert_eq!(after(2), TimeDelta::seconds(2));
        assert_eq!(after(9), TimeDelta::seconds(256));
        assert_eq!(after(10), LONGEST_WAIT);
        assert_eq!(after(i64::MAX), LONGEST_WAIT);
    }

    #[test]
    fn a_customer_is_waited_for_with_patience() {
        let after = |age| Rest::while_waiting(TimeDelta::seconds(age), None).reconciler;
        assert_eq!(after(0), WAITING);
        assert_eq!(after(60), TimeDelta::seconds(60));
        assert_eq!(after(86_400), LONGEST_WAIT);
        let late = Rest::while_waiting(TimeDelta::hours(1), Some(TimeDelta::seconds(7)));
        assert_eq!(late.reconciler, TimeDelta::seconds(7));
        assert_eq!(late.all, WAITING);
    }
}
