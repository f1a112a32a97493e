//! The refunder: a worker that drives the refunds which nobody is at, as often as it takes.
//!
//! These are the payments that came too late, which nobody asks for, and what was left open by whoever asked: the provider
//! was away, or the process has died.

use super::drive::{Claimed, LEASE, drive};
use crate::{
    checkout::Till,
    workers::{self, Work},
};

/// Makes the refunds that are written down.
#[derive(Debug)]
pub struct Refunder {
    /// Where purchases are made.
    pub till: Till,
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
    type Item = Claimed;

    async fn is_due(&self) -> sqlx::Result<bool> {
        let due = concat!("with due as (", due!("1"), ") select count(*) from due");
        workers::counts_any(&self.till.db, due, self.till.clock.now()).await
    }

    async fn claim(&self, room: i64) -> sqlx::Result<Vec<Claimed>> {
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

    async fn perform(&self, claimed: Claimed) -> sqlx::Result<()> {
        drive(&self.till, claimed).await
    }
}
