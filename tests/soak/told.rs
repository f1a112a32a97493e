//! What people were told: the only thing they go by.

use std::{collections::BTreeMap, sync::Mutex};

/// What was said about a checkout, over all its visits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words {
    pub paid: bool,
    pub not_charged: bool,
    pub too_late: bool,
}

/// All that was said to anybody.
#[derive(Debug, Default)]
pub struct Told {
    checkouts: Mutex<BTreeMap<String, Words>>,
    /// Orders whose money an operator wanted back, all of it, and what they cost.
    refunds: Mutex<BTreeMap<String, i64>>,
    odd: Mutex<Vec<String>>,
}

impl Told {
    pub fn paid(&self, checkout: &str) {
        self.says(checkout, |words| words.paid = true);
    }

    pub fn not_charged(&self, checkout: &str) {
        self.says(checkout, |words| words.not_charged = true);
    }

    pub fn too_late(&self, checkout: &str) {
        self.says(checkout, |words| words.too_late = true);
    }

    fn says(&self, checkout: &str, word: impl FnOnce(&mut Words)) {
        let mut checkouts = self.checkouts.lock().expect("not poisoned");
        word(checkouts.entry(checkout.to_owned()).or_default());
    }

    pub fn gives_back(&self, order: &str, amount_minor: i64) {
        let mut refunds = self.refunds.lock().expect("not poisoned");
        refunds.insert(order.to_owned(), amount_minor);
    }

    /// Something was said that is never to be said.
    pub fn odd(&self, what: String) {
        self.odd.lock().expect("not poisoned").push(what);
    }

    pub fn checkouts(&self) -> BTreeMap<String, Words> {
        self.checkouts.lock().expect("not poisoned").clone()
    }

    pub fn refunds(&self) -> BTreeMap<String, i64> {
        self.refunds.lock().expect("not poisoned").clone()
    }

    pub fn all_odd(&self) -> Vec<String> {
        self.odd.lock().expect("not poisoned").clone()
    }
}
