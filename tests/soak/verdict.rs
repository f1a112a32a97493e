//! Whether anything was lost or doubled: the audit says so, and so does everybody who was told something.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use boring_checkout::{audit, checkout::Status, clock::Clock, ids::CheckoutId, provider::Outcome};
use chrono::TimeDelta;

use crate::{street::Street, told::Words, town::Town};

/// At so much later a time the audit makes no allowance for what is still under way: nothing is.
const MUCH_LATER: TimeDelta = TimeDelta::hours(80);

/// Everything that is not as it must be, each in a sentence.
pub async fn violations(town: &Town, street: &Street) -> Vec<String> {
    let mut found = street.told.all_odd();
    let later = Clock::default().now() + MUCH_LATER;
    let report = audit::audit(&town.db, &town.client, later).await;
    for invariant in report.expect("both ledgers can be read").invariants {
        let broken = invariant.violations.iter();
        found.extend(broken.map(|it| format!("{}: {it}", invariant.name)));
    }
    let books = Books::read(town).await;
    for (checkout, words) in street.told.checkouts() {
        found.extend(
            books
                .contradicts(&checkout, words)
                .map(|why| format!("checkout {checkout}: {why}")),
        );
    }
    found.extend(books.bought_twice());
    found.extend(refunds(town, street).await);
    found.extend(mails(town).await);
    let log = town.log();
    found.extend(
        log.lines()
            .filter(|line| line.contains("panicked"))
            .map(str::to_owned),
    );
    found
}

/// What the shop and the provider have, seen together.
struct Books {
    checkouts: HashMap<String, Checkout>,
}

#[derive(Debug)]
struct Checkout {
    email: String,
    status: Status,
    orders: usize,
    /// Charges at the provider, and those of them that were not given back.
    charges: usize,
    kept: usize,
}

impl Books {
    async fn read(town: &Town) -> Self {
        let rows: Vec<(CheckoutId, String, Status)> = town
            .db
            .query("select id, email, status from checkouts")
            .fetch_all()
            .await
            .expect("checkouts");
        let row = |(id, email, status): (CheckoutId, String, Status)| {
            let (orders, charges, kept) = (0, 0, 0);
            let checkout = Checkout {
                email,
                status,
                orders,
                charges,
                kept,
            };
            (id.to_string(), checkout)
        };
        let mut checkouts: HashMap<String, Checkout> = rows.into_iter().map(row).collect();
        let orders: Vec<(CheckoutId,)> = town
            .db
            .query("select checkout_id from orders")
            .fetch_all()
            .await
            .expect("orders");
        for (id,) in orders {
            checkouts
                .get_mut(&id.to_string())
                .expect("a checkout")
                .orders += 1;
        }
        let mut given_back: HashMap<String, i64> = HashMap::new();
        for refund in town.client.refunds_since(0).await.expect("refunds") {
            if refund.status == "succeeded" {
                *given_back
                    .entry(refund.payment_intent.unwrap_or_default())
                    .or_default() += refund.amount;
            }
        }
        for intent in town.client.list(0).await.expect("payment intents") {
            let Outcome::Paid(payment) = Outcome::of_intent(&intent) else {
                continue;
            };
            let checkout = intent.checkout_id().and_then(|id| checkouts.get_mut(id));
            let checkout = checkout.expect("every payment is of a checkout");
            checkout.charges += 1;
            if given_back.get(&payment.intent) != Some(&payment.amount_minor) {
                checkout.kept += 1;
            }
        }
        Self { checkouts }
    }

    /// Why what somebody was told is not so.
    fn contradicts(&self, id: &str, words: Words) -> Option<String> {
        let Some(checkout) = self.checkouts.get(id) else {
            return Some("nobody has it".to_owned());
        };
        let Checkout {
            status,
            orders,
            charges,
            kept,
            ..
        } = checkout;
        let is_paid = (*status, *orders, *charges) == (Status::Paid, 1, 1);
        let wrong = [
            (words.paid && !is_paid, "paid"),
            (
                words.not_charged && (*status == Status::Paid || *kept > 0),
                "not charged",
            ),
            (
                words.too_late && (*status == Status::Paid || *kept > 0),
                "paid too late",
            ),
            (
                words.paid && (words.not_charged || words.too_late),
                "this and that",
            ),
        ];
        let (_, told) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong)?;
        let found = format!("{status}, {orders} orders, {charges} charges, {kept} of them kept");
        Some(format!("its customer was told {told}, and it is {found}"))
    }

    /// Each customer wanted one thing.
    fn bought_twice(&self) -> Vec<String> {
        let mut customers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for checkout in self.checkouts.values() {
            let (orders, charges) = customers.entry(&checkout.email).or_default();
            *orders += checkout.orders;
            *charges += if checkout.orders == 0 {
                checkout.kept
            } else {
                checkout.charges
            };
        }
        let twice = customers
            .iter()
            .filter(|(_, (orders, charges))| *orders > 1 || charges != orders);
        twice
            .map(|(email, (orders, charges))| {
                format!("{email} has {orders} orders and {charges} charges")
            })
            .collect()
    }
}

/// What an operator gave back went back once, and nothing else did.
async fn refunds(town: &Town, street: &Street) -> Vec<String> {
    let wanted = street.told.refunds();
    let paid: Vec<(String, i64)> = town
        .db
        .query(
            "select o.number, p.refunded_minor from orders o
             join payments p on p.checkout_id = o.checkout_id",
        )
        .fetch_all()
        .await
        .expect("orders");
    let expected = |number: &str| wanted.get(number).copied().unwrap_or_default();
    let wrong = paid
        .into_iter()
        .filter(|(number, minor)| expected(number) != *minor);
    wrong
        .map(|(number, minor)| {
            format!(
                "of order {number} {minor} is given back, and {} was asked for",
                expected(&number)
            )
        })
        .collect()
}

/// Each mail that is sent has arrived, under an id of its own.
async fn mails(town: &Town) -> Vec<String> {
    let arrived: BTreeSet<String> = town.mails.message_ids();
    let sent = town
        .count("select count(*) from emails where sent_at is not null")
        .await;
    let given_up = town
        .count("select count(*) from emails where given_up_at is not null")
        .await;
    let mut found = Vec::new();
    if i64::try_from(arrived.len()) != Ok(sent) {
        found.push(format!(
            "{sent} mails are sent, and {} have arrived",
            arrived.len()
        ));
    }
    if given_up > 0 {
        found.push(format!("{given_up} mails were given up"));
    }
    found
}
