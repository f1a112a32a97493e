//! What a story came to, in numbers.

use std::collections::BTreeSet;

use crate::{
    lab::flow::{Books, Broken},
    mail::post::Posted,
    simulator::Ledger,
};

/// What it came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How much of everything.
    pub sums: Sums,
    /// Copies of mails that came beside the first. No shop can rule them out.
    pub copies: i64,
    /// Invariants that do not hold.
    pub broken: Vec<Broken>,
}

/// How much there is of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Payments that succeeded at the provider.
    pub charges: i64,
    /// How much they brought, in minor units.
    pub charged_minor: i64,
    /// Refunds that succeeded at the provider.
    pub refunds: i64,
    /// How much they gave back, in minor units.
    pub refunded_minor: i64,
    /// Orders in the shop.
    pub orders: i64,
    /// Units that left the shelf for good.
    pub sold: i64,
    /// Mails, as their receivers count them: by Message-ID.
    pub mails: i64,
}

impl Tally {
    pub(super) fn of(ledger: &Ledger, books: Books, mails: &[Posted]) -> Self {
        let ids: BTreeSet<&str> = mails.iter().map(|mail| mail.message_id.as_str()).collect();
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        Self {
            sums: Sums {
                charges: ledger.payment_intents.succeeded,
                charged_minor: ledger.payment_intents.amount_succeeded,
                refunds: ledger.refunds.succeeded,
                refunded_minor: ledger.refunds.amount_succeeded,
                orders: books.orders,
                sold: books.sold,
                mails: count(ids.len()),
            },
            copies: count(mails.len() - ids.len()),
            broken: books.broken,
        }
    }
}
