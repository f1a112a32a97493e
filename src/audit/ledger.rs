//! What must hold between the shop's database and the provider's ledger.
//!
//! There may be millions of payments, so neither side is in memory as a whole: of a charge no more is kept than what is
//! compared, in the order of the checkouts that they name, and the checkouts come in that order, some at a time.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::{Invariant, Progress};
use crate::{
    checkout::Status,
    db::Tx,
    ids::CheckoutId,
    money::{Currency, Money, TaxRate},
    provider::{Doubt, Outcome, Provider, wire::PaymentIntent},
};

/// For so long a charge may be on its way from the provider to our books.
pub(super) const UNDER_WAY: TimeDelta = TimeDelta::minutes(15);

/// Checkouts that are in memory at a time.
const ROWS: i64 = 2_000;

/// A checkout with what it says of its payment.
#[derive(Debug, sqlx::FromRow)]
struct Purchase {
    id: CheckoutId,
    status: Status,
    amount_minor: i64,
    tax_minor: i64,
    tax_rate: TaxRate,
    currency: Currency,
    payment_intent_id: Option<String>,
    created_at: DateTime<Utc>,
    concluded_at: Option<DateTime<Utc>>,
}

/// A charge at the provider, which names a checkout: of this shop, or of another one on the same account.
pub(super) struct Charge {
    checkout: CheckoutId,
    intent: Box<str>,
    amount_minor: i64,
    /// `None` for one in which no shop of ours can charge.
    currency: Option<Currency>,
}

/// All that were made since an instant (Unix seconds), in the order of their checkouts.
pub(super) async fn charges(
    provider: &Provider,
    since: i64,
    progress: impl Fn(Progress) + Sync,
) -> Result<Vec<Charge>, Doubt> {
    let (mut charges, mut seen) = (Vec::new(), 0);
    let look = |page: Vec<PaymentIntent>| {
        seen += page.len();
        charges.extend(page.iter().filter_map(Charge::of));
        progress(Progress::Payments(seen));
    };
    provider.each_page(since, look).await?;
    charges.sort_unstable_by_key(|charge| charge.checkout);
    Ok(charges)
}

impl Charge {
    /// `None` when no money has moved, or for no checkout.
    fn of(intent: &PaymentIntent) -> Option<Self> {
        let Outcome::Paid(payment) = Outcome::of_intent(intent) else {
            return None;
        };
        Some(Self {
            checkout: intent.checkout_id()?.parse().ok()?,
            intent: payment.intent.into(),
            amount_minor: payment.amount_minor,
            currency: payment.currency.parse().ok(),
        })
    }

    fn is_booked_by(&self, purchase: &Purchase) -> bool {
        purchase.payment_intent_id.as_deref() == Some(&self.intent)
            && purchase.amount_minor == self.amount_minor
            && Some(purchase.currency) == self.currency
    }
}

/// The payments that a person has looked into, and seen to: given back at the provider, for instance.
/// What the shop has resolved by itself is checked like everything else it does.
pub(super) async fn resolved(tx: &mut Tx) -> sqlx::Result<HashSet<String>> {
    let objects: Vec<(String,)> = tx
        .query(
            "select object_id from discrepancies
             where resolved_at is not null and resolved_by is not null",
        )
        .fetch_all()
        .await?;
    Ok(objects.into_iter().map(|(object,)| object).collect())
}

/// The comparison of what the provider has charged with what the shop has booked.
pub(super) struct Comparison<'a> {
    /// Payments that a person has seen to.
    pub(super) resolved: &'a HashSet<String>,
    /// Payments that had come too late and were given back.
    pub(super) given_back: &'a HashSet<&'a str>,
    /// When the ledger was read.
    pub(super) now: DateTime<Utc>,
}

/// What came out.
#[derive(Default)]
pub(super) struct Compared {
    /// Charges for checkouts of ours. One that names none of ours is somebody else's.
    pub(super) succeeded: usize,
    charged_twice: Vec<String>,
    not_booked: Vec<String>,
    not_charged: Vec<String>,
    wrong_tax: Vec<String>,
}

impl Comparison<'_> {
    /// Of `charges`, which are in the order of their checkouts.
    pub(super) async fn of(
        &self,
        charges: &[Charge],
        tx: &mut Tx,
        progress: impl Fn(Progress),
    ) -> sqlx::Result<Compared> {
        let mut compared = Compared::default();
        let (mut rest, mut last, mut seen) = (charges, CheckoutId::from(Uuid::nil()), 0);
        loop {
            let purchases = some_after(last, tx).await?;
            let Some(newest) = purchases.last() else {
                return Ok(compared);
            };
            last = newest.id;
            for purchase in &purchases {
                let (its_own, others) = of_checkout(rest, purchase.id);
                rest = others;
                self.compare(purchase, its_own, &mut compared);
            }
            seen += purchases.len();
            progress(Progress::Checkouts(seen));
        }
    }

    fn compare(&self, purchase: &Purchase, charges: &[Charge], compared: &mut Compared) {
        let id = purchase.id;
        let is_resolved = |charge: &&Charge| self.resolved.contains(&*charge.intent);
        let unresolved = || charges.iter().filter(|charge| !is_resolved(charge));
        let times = unresolved().count();
        compared.succeeded += charges.len();
        if times > 1 {
            let found = format!("checkout {id} was charged {times} times");
            compared.charged_twice.push(found);
        }
        for charge in unresolved().filter(|charge| !self.is_booked(charge, purchase)) {
            let (intent, status, amount) = (&charge.intent, purchase.status, charge.amount_minor);
            let currency = charge
                .currency
                .map_or("in another currency", Currency::code);
            compared.not_booked.push(format!(
                "{intent} ({amount} {currency}) is not booked: checkout {id} is {status}"
            ));
        }
        if self.wants_a_charge(purchase) && !charges.iter().any(|it| is_named_by(purchase, it)) {
            let found = format!("checkout {id} is paid, and the provider has no charge of it");
            compared.not_charged.push(found);
        }
        // The database computes it too, in whole numbers. This is the sum that customers see.
        let amount = Money::new(purchase.amount_minor, purchase.currency);
        if purchase.tax_minor != purchase.tax_rate.included_in(amount).minor {
            let (tax, rate) = (purchase.tax_minor, purchase.tax_rate);
            let found = format!("checkout {id} has {tax} of tax, which is not {rate} %");
            compared.wrong_tax.push(found);
        }
    }

    /// Or was given back, when it came too late.
    fn is_booked(&self, charge: &Charge, purchase: &Purchase) -> bool {
        match purchase.status {
            Status::Paid => charge.is_booked_by(purchase),
            Status::Pending => self.now - purchase.created_at < UNDER_WAY,
            Status::Declined | Status::Canceled => self.given_back.contains(&*charge.intent),
        }
    }

    /// The ledger was read at `now`. What was booked later may have been charged later.
    fn wants_a_charge(&self, purchase: &Purchase) -> bool {
        purchase.status == Status::Paid && purchase.concluded_at.is_some_and(|at| at < self.now)
    }
}

impl Compared {
    pub(super) fn invariants(self) -> Vec<Invariant> {
        vec![
            Invariant::new("one_charge_for_each_checkout", self.charged_twice),
            Invariant::new("each_charge_is_booked", self.not_booked),
            Invariant::new("each_booking_is_a_charge", self.not_charged),
            Invariant::new("each_tax_is_that_of_its_rate", self.wrong_tax),
        ]
    }
}

async fn some_after(last: CheckoutId, tx: &mut Tx) -> sqlx::Result<Vec<Purchase>> {
    tx.query(
        "select id, status, amount_minor, tax_minor, tax_rate, currency, payment_intent_id, created_at, concluded_at
         from checkouts where id > $1 order by id limit $2",
    )
    .bind(last)
    .bind(ROWS)
    .fetch_all()
    .await
}

/// The charges that name a checkout, and those that come after it.
fn of_checkout(charges: &[Charge], id: CheckoutId) -> (&[Charge], &[Charge]) {
    let first = charges.partition_point(|charge| charge.checkout < id);
    let (_, rest) = charges.split_at(first);
    rest.split_at(rest.partition_point(|charge| charge.checkout == id))
}

fn is_named_by(purchase: &Purchase, charge: &Charge) -> bool {
    purchase.payment_intent_id.as_deref() == Some(&charge.intent)
}
