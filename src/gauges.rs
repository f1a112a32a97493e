//! How much there is of what has to get somewhere: for the operator's first page, and for who watches the shop.
//!
//! Each number is counted along an index of just the rows that it counts, which are few in a shop that is well. The counts
//! of checkouts are the exception: they go over an index of all of them, so whoever asks often keeps the answer for a while.

use chrono::{DateTime, Utc};

use crate::{checkout, db::Db};

/// All of it, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauges {
    /// How many checkouts stand so.
    pub checkouts: Vec<(checkout::Status, i64)>,
    /// Since when the oldest undecided checkout is.
    pub pending_since: Option<DateTime<Utc>>,
    /// Messages that nobody has heard yet, parked ones included.
    pub outbox_unpublished: i64,
    /// Messages that nobody tries to publish any more.
    pub outbox_parked: i64,
    /// Since when the oldest message waits.
    pub unpublished_since: Option<DateTime<Utc>>,
    /// Mails that are to be sent.
    pub mails_waiting: i64,
    /// Mails that nobody tries to send any more.
    pub mails_given_up: i64,
    /// Refunds on their way.
    pub refunds_pending: i64,
    /// Where the provider and we disagree.
    pub discrepancies_open: i64,
}

/// Reads them in one snapshot.
pub async fn read(db: &Db) -> sqlx::Result<Gauges> {
    let mut tx = db.read().await?;
    let checkouts: Vec<(checkout::Status, i64)> = tx
        .query("select status, count(*) from checkouts group by status")
        .fetch_all()
        .await?;
    let (
        outbox_parked,
        outbox_unpublished,
        mails_waiting,
        mails_given_up,
        refunds_pending,
        discrepancies_open,
    ) = tx
        .query(
            "select (select count(*) from outbox where parked_at is not null),
                    (select count(*) from outbox where published_at is null and parked_at is null),
                    (select count(*) from emails where sent_at is null and given_up_at is null),
                    (select count(*) from emails where given_up_at is not null),
                    (select count(*) from refunds where status = 'pending'),
                    (select count(*) from discrepancies where resolved_at is null)",
        )
        .fetch_one::<(i64, i64, i64, i64, i64, i64)>()
        .await?;
    let pending_since = tx
        .query("select created_at from checkouts where status = 'pending' order by id limit 1")
        .fetch_optional::<(DateTime<Utc>,)>()
        .await?;
    let unpublished_since = tx
        .query(
            "select created_at from outbox where published_at is null and parked_at is null
             order by created_at limit 1",
        )
        .fetch_optional::<(DateTime<Utc>,)>()
        .await?;
    let of = |status| {
        let counted = checkouts.iter().find(|(it, _)| *it == status);
        (status, counted.map_or(0, |&(_, count)| count))
    };
    Ok(Gauges {
        checkouts: checkout::Status::ALL.map(of).to_vec(),
        pending_since: pending_since.map(|(at,)| at),
        outbox_unpublished: outbox_unpublished + outbox_parked,
        outbox_parked,
        unpublished_since: unpublished_since.map(|(at,)| at),
        mails_waiting,
        mails_given_up,
        refunds_pending,
        discrepancies_open,
    })
}
