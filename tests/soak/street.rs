//! Where customers find the shops, and what they come back with.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::{Client, redirect};

use crate::{told::Told, town::Town};

/// After so long a customer takes a shop that says nothing for one that is closed. Longer than a shop takes on purpose.
const PATIENCE: Duration = Duration::from_secs(7);

/// Where the shops are at the moment, and everything that customers and operators have seen.
pub struct Street {
    pub http: Client,
    pub provider: String,
    pub told: Told,
    shops: Mutex<Vec<String>>,
    purchases: usize,
    begun: AtomicUsize,
    endings: Mutex<BTreeMap<&'static str, usize>>,
    /// Requests that ended in nothing: no answer, or an error of the shop's.
    pub in_vain: AtomicUsize,
    /// Requests whose answers nobody waited for.
    pub abandoned: AtomicUsize,
    /// Forms that were sent once more than needed.
    pub repeats: AtomicUsize,
}

impl Street {
    pub fn new(town: &Town, purchases: usize) -> Self {
        let http = Client::builder()
            .redirect(redirect::Policy::none())
            .tls_certs_only([])
            .timeout(PATIENCE)
            .build();
        Self {
            http: http.expect("a client"),
            provider: town.provider_url.clone(),
            told: Told::default(),
            shops: Mutex::new(town.addresses()),
            purchases,
            begun: AtomicUsize::default(),
            endings: Mutex::default(),
            in_vain: AtomicUsize::default(),
            abandoned: AtomicUsize::default(),
            repeats: AtomicUsize::default(),
        }
    }

    /// The number of a purchase that nobody has begun, as long as there is one.
    pub fn next_purchase(&self) -> Option<usize> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        (number < self.purchases).then_some(number)
    }

    pub fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed).min(self.purchases)
    }

    /// How many customers have gone home.
    pub fn ended(&self) -> usize {
        self.endings().values().sum()
    }

    pub fn goes_home(&self, ending: &'static str) {
        let mut endings = self.endings.lock().expect("not poisoned");
        *endings.entry(ending).or_default() += 1;
    }

    pub fn endings(&self) -> BTreeMap<&'static str, usize> {
        self.endings.lock().expect("not poisoned").clone()
    }

    pub fn shops_are_at(&self, shops: Vec<String>) {
        *self.shops.lock().expect("not poisoned") = shops;
    }

    /// One of them, open or not.
    pub fn shop(&self, number: usize) -> String {
        let shops = self.shops.lock().expect("not poisoned");
        shops[number % shops.len()].clone()
    }
}
