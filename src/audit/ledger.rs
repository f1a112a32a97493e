//! What must hold between the shop's database and the provider's ledger.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::Invariant;
use crate::{
    checkout::Status,
    db::Tx,
    ids::CheckoutId,
    money::{Currency, Money, TaxRate},
    provider::{Outcome, Payment, wire::PaymentIntent},
};

/// For so long a charge may be on its way from the provider to our books.
pub(super) const UNDER_WAY: TimeDelta = TimeDelta::minutes(15);

/// A checkout with what it says of its payment.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Purchase {
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

pub(super) async fn purchases(tx: &mut Tx) -> sqlx::Result<HashMap<CheckoutId, Purchase>> {
    let rows: Vec<Purchase> = tx
        .query(
            "select id, status, amount_minor, tax_minor, tax_rate, currency, payment_intent_id, created_at,
                 concluded_at
             from checkouts",
        )
        .fetch_all()
        .await?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
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

pub(super) fn invariants(
    intents: &[PaymentIntent],
    unresolved: &[&PaymentIntent],
    purchases: &HashMap<CheckoutId, Purchase>,
    given_back: &HashSet<&str>,
    now: DateTime<Utc>,
) -> Vec<Invariant> {
    let all = charges(intents, purchases);
    let charges = charges(unresolved.iter().copied(), purchases);
    vec![
        one_charge_for_each_checkout(&charges),
        each_charge_is_booked(&charges, given_back, now),
        each_booking_is_a_charge(&all, purchases, now),
        each_tax_is_that_of_its_rate(purchases),
    ]
}

/// How many charges the provider has for checkouts of ours.
pub(super) fn succeeded(
    intents: &[PaymentIntent],
    purchases: &HashMap<CheckoutId, Purchase>,
) -> i64 {
    i64::try_from(charges(intents, purchases).len()).unwrap_or(i64::MAX)
}

/// A charge at the provider, and the checkout that it names. One that names none of ours is somebody else's: an
/// account may serve several shops.
type Charge<'a> = (Payment, &'a Purchase);

fn charges<'a, 'i>(
    intents: impl IntoIterator<Item = &'i PaymentIntent>,
    purchases: &'a HashMap<CheckoutId, Purchase>,
) -> Vec<Charge<'a>> {
    intents
        .into_iter()
        .filter_map(|intent| match Outcome::of_intent(intent) {
            Outcome::Paid(payment) => {
                let checkout = intent.checkout_id()?.parse().ok()?;
                Some((payment, purchases.get(&checkout)?))
            }
            _ => None,
        })
        .collect()
}

fn one_charge_for_each_checkout(charges: &[Charge<'_>]) -> Invariant {
    let mut seen: HashMap<CheckoutId, usize> = HashMap::new();
    for (_, purchase) in charges {
        *seen.entry(purchase.id).or_default() += 1;
    }
    let violations = seen
        .iter()
        .filter(|&(_, &times)| times > 1)
        .map(|(id, times)| format!("checkout {id} was charged {times} times"));
    Invariant::new("one_charge_for_each_checkout", violations.collect())
}

/// Or was given back, when it came too late.
fn each_charge_is_booked(
    charges: &[Charge<'_>],
    given_back: &HashSet<&str>,
    now: DateTime<Utc>,
) -> Invariant {
    let is_booked = |(payment, purchase): &&Charge<'_>| match purchase.status {
        Status::Paid => {
            purchase.payment_intent_id.as_ref() == Some(&payment.intent)
                && purchase.amount_minor == payment.amount_minor
                && purchase.currency.code() == payment.currency
        }
        Status::Pending => now - purchase.created_at < UNDER_WAY,
        Status::Declined | Status::Canceled => given_back.contains(payment.intent.as_str()),
    };
    let violations =
        charges
            .iter()
            .filter(|charge| !is_booked(charge))
            .map(|(payment, purchase)| {
                let Payment {
                    intent,
                    amount_minor,
                    currency,
                } = payment;
                format!(
                    "{intent} ({amount_minor} {currency}) is not booked: checkout {} is {}",
                    purchase.id, purchase.status
                )
            });
    Invariant::new("each_charge_is_booked", violations.collect())
}

fn each_booking_is_a_charge(
    charges: &[Charge<'_>],
    purchases: &HashMap<CheckoutId, Purchase>,
    now: DateTime<Utc>,
) -> Invariant {
    let known: HashSet<(CheckoutId, &str)> = charges
        .iter()
        .map(|(payment, purchase)| (purchase.id, payment.intent.as_str()))
        .collect();
    let is_charged = |purchase: &Purchase| {
        let intent = purchase.payment_intent_id.as_deref();
        intent.is_some_and(|intent| known.contains(&(purchase.id, intent)))
    };
    let violations = purchases
        .values()
        .filter(|purchase| purchase.status == Status::Paid)
        // The ledger was read at `now`. What was booked later may have been charged later.
        .filter(|purchase| purchase.concluded_at.is_some_and(|at| at < now))
        .filter(|purchase| !is_charged(purchase))
        .map(|purchase| {
            format!(
                "checkout {} is paid, and the provider has no charge of it",
                purchase.id
            )
        });
    Invariant::new("each_booking_is_a_charge", violations.collect())
}

/// The database computes it too, in whole numbers. This is the sum that customers see.
fn each_tax_is_that_of_its_rate(purchases: &HashMap<CheckoutId, Purchase>) -> Invariant {
    let tax = |purchase: &Purchase| {
        let amount = Money::new(purchase.amount_minor, purchase.currency);
        purchase.tax_rate.included_in(amount).minor
    };
    let violations = purchases
        .values()
        .filter(|purchase| purchase.tax_minor != tax(purchase))
        .map(|purchase| {
            let (id, rate) = (purchase.id, purchase.tax_rate);
            format!(
                "checkout {id} has {} of tax, which is not {rate} %",
                purchase.tax_minor
            )
        });
    Invariant::new("each_tax_is_that_of_its_rate", violations.collect())
}
