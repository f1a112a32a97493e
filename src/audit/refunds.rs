//! What must hold between our refunds and the provider's.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use super::Invariant;
use crate::{db::Tx, ids::RefundId, provider::wire};

/// A refund of ours.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Given {
    id: RefundId,
    payment_intent_id: String,
    amount_minor: i64,
    status: String,
    concluded_at: Option<DateTime<Utc>>,
}

impl Given {
    fn has_succeeded(&self) -> bool {
        self.status == "succeeded"
    }
}

pub(super) async fn given(tx: &mut Tx) -> sqlx::Result<Vec<Given>> {
    tx.query("select id, payment_intent_id, amount_minor, status, concluded_at from refunds")
        .fetch_all()
        .await
}

/// The payments that were given back.
pub(super) fn payments(given: &[Given]) -> HashSet<&str> {
    let given = given.iter().filter(|given| given.has_succeeded());
    given
        .map(|given| given.payment_intent_id.as_str())
        .collect()
}

/// What succeeded here has succeeded there, with its amount and once.
pub(super) fn each_refund_is_made_once(
    made: &[wire::Refund],
    given: &[Given],
    now: DateTime<Utc>,
) -> Invariant {
    let mut violations = Vec::new();
    for given in given {
        let id = given.id.to_string();
        let made: Vec<_> = made
            .iter()
            .filter(|made| made.refund_id() == Some(&id) && made.status == "succeeded")
            .collect();
        let sum: i64 = made.iter().map(|made| made.amount).sum();
        // The provider's list was read at `now`. What ended here later may have been made later.
        let must_be_known = given.has_succeeded() && given.concluded_at.is_some_and(|at| at < now);
        let is_wrong = match made.len() {
            0 => must_be_known,
            1 => sum != given.amount_minor,
            _ => true,
        };
        if is_wrong {
            violations.push(format!(
                "refund {id} of {} was made {} times, of {sum}",
                given.amount_minor,
                made.len()
            ));
        }
    }
    Invariant::new("each_refund_is_made_once", violations)
}
