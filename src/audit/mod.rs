//! The invariants: what must hold whatever happened, checked over the shop's database and the provider's ledger.
//!
//! It is the oracle of every test, and a command for operators. A violation names what it is about; the sentence of
//! its invariant says what should have been.

mod ledger;
mod mails;
pub(crate) mod refunds;
pub(crate) mod shop;

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use self::ledger::Comparison;
use crate::{
    db::Db,
    provider::{Doubt, Provider},
};

/// How far the provider's clock may be behind ours.
const MARGIN: TimeDelta = TimeDelta::days(1);

/// What was found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Whether all invariants hold.
    pub ok: bool,
    /// When it was looked at.
    pub checked_at: DateTime<Utc>,
    /// Each of them.
    pub invariants: Vec<Invariant>,
    /// How much there is of everything.
    pub counts: Counts,
}

/// One thing that must hold.
#[derive(Debug, Serialize)]
pub struct Invariant {
    /// Its name, in snake case.
    pub name: &'static str,
    /// Whether it holds.
    pub ok: bool,
    /// Where it does not.
    pub violations: Vec<String>,
}

/// For people: a line for each invariant, and its violations below it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for invariant in &self.invariants {
            let mark = if invariant.ok { "ok    " } else { "BROKEN" };
            writeln!(f, "{mark} {}", invariant.name)?;
            for violation in &invariant.violations {
                writeln!(f, "         {violation}")?;
            }
        }
        let counts = &self.counts;
        writeln!(
            f,
            "checkouts {}, of these paid {}; orders {}; at the provider charges {}, given back {}",
            counts.checkouts, counts.paid, counts.orders, counts.provider_succeeded, counts.refunds
        )
    }
}

impl Report {
    pub(crate) fn new(invariants: Vec<Invariant>, counts: Counts, now: DateTime<Utc>) -> Self {
        Self {
            ok: invariants.iter().all(|invariant| invariant.ok),
            checked_at: now,
            invariants,
            counts,
        }
    }
}

impl Invariant {
    pub(crate) fn new(name: &'static str, violations: Vec<String>) -> Self {
        Self {
            name,
            ok: violations.is_empty(),
            violations,
        }
    }
}

/// How much there is of everything. Refunds and mails count once they are made and sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each name says it")]
pub struct Counts {
    pub checkouts: i64,
    pub paid: i64,
    pub orders: i64,
    pub payments: i64,
    pub provider_succeeded: i64,
    pub refunds: i64,
    pub emails: i64,
    pub processed_events: i64,
    pub outbox_unpublished: i64,
    pub discrepancies_open: i64,
}

/// How far an audit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many payments of the provider's were read.
    Payments(usize),
    /// The shop's own books are looked at.
    Books,
    /// So many checkouts were compared with them.
    Checkouts(usize),
}

/// Looks at everything. The provider's ledger is read first: whatever is in it then, the shop's snapshot, taken
/// afterwards, has to account for.
pub async fn audit(db: &Db, provider: &Provider, now: DateTime<Utc>) -> Result<Report, AuditError> {
    audit_watched(db, provider, now, |_| ()).await
}

/// The same, which takes a while where there is much; `progress` hears how far it is. It takes some 100 bytes of memory for
/// each payment.
pub async fn audit_watched(
    db: &Db,
    provider: &Provider,
    now: DateTime<Utc>,
    progress: impl Fn(Progress) + Sync,
) -> Result<Report, AuditError> {
    let since = shop::first_checkout(db).await?.unwrap_or(now) - MARGIN;
    let since = since.timestamp();
    let charges = ledger::charges(provider, since, &progress).await?;
    let made = provider.refunds_since(since).await?;
    let mut tx = db.read().await?;
    progress(Progress::Books);
    let mut invariants = shop::invariants(&mut tx, now).await?;
    invariants.extend(mails::invariants(&mut tx, now).await?);
    let booked = refunds::booked(&mut tx).await?;
    let comparison = Comparison {
        resolved: &ledger::resolved(&mut tx).await?,
        given_back: &refunds::given_back(&booked),
        now,
    };
    let compared = comparison.of(&charges, &mut tx, &progress).await?;
    let counts = Counts {
        provider_succeeded: i64::try_from(compared.succeeded).unwrap_or(i64::MAX),
        refunds: refunds::succeeded(&booked),
        ..shop::counts(&mut tx).await?
    };
    invariants.extend(compared.invariants());
    invariants.extend(refunds::invariants(&mut tx, &made, &booked, now).await?);
    Ok(Report::new(invariants, counts, now))
}

/// Why it could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The shop's side.
    #[error("cannot read the database: {0}")]
    Db(#[from] sqlx::Error),
    /// The provider's side.
    #[error("cannot read the provider's ledger: {0}")]
    Provider(#[from] Doubt),
}
