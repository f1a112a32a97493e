//! The real thing, broken for real.
//!
//! Three shops, each a process of its own, on one database; a provider in which everything fails now and then, with its
//! ledger on disk; a broker, or none; a mail server. Customers double-click, send a form to two shops at once, leave in the
//! middle, come back, reload, and meet cards that are declined. Meanwhile processes are killed, and frozen for longer than
//! their leases, and every connection between them breaks at some byte:
//!
//! ```text
//! customers ──> shop, shop, shop ──┬─ wire ──> PostgreSQL, or a file
//!                    ^             ├─ wire ──> provider ── chaos
//!                    └──── wire ───┼───────────────┘ webhooks
//!                                  └─ wire ──> NATS
//! ```
//!
//! After so many purchases everything is healthy again, the world settles, and the audit says whether anything was lost or
//! doubled. So do the customers: what each was told is compared with what became of their money.
//!
//! It is small here (`SOAK_PURCHASES`), and long in `scripts/soak`.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that is wrong shall fail, also in what is no `#[test]` function itself"
)]

mod blows;
mod browser;
mod customer;
mod operator;
mod report;
mod size;
mod street;
mod told;
mod town;
mod verdict;
#[allow(
    dead_code,
    unused_imports,
    reason = "the integration tests use all of it"
)]
#[path = "../it/world/mod.rs"]
mod world;

use std::time::Instant;

use futures_util::future::join_all;

use self::{
    blows::rain, customer::Customer, report::Report, size::Size, street::Street, town::Town,
    verdict::violations,
};
use crate::world::Broker;

#[tokio::test(flavor = "multi_thread")]
async fn on_the_bus_within_a_process() {
    soak(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_bus_between_processes() {
    if let Some(broker) = Broker::open().await {
        soak(Some(broker)).await;
    }
}

async fn soak(broker: Option<Broker>) {
    let size = Size::of_environment();
    println!("seed {}", size.seed);
    let mut town = Town::found(&size, broker).await;
    let street = Street::new(&town, size.purchases);

    let began = Instant::now();
    let buying = join_all((0..size.customers).map(|_| buy(&street, &size)));
    let (_, blows) = tokio::join!(buying, rain(&mut town, &street, &size, began));
    let bought = began.elapsed();
    let aftermath = Instant::now();
    town.heals().await;
    street.shops_are_at(town.addresses());
    let settled = town.settles().await;

    let times = (bought, aftermath.elapsed());
    println!("{}", Report::of(&town, &street, blows, times).await);
    let mut found = violations(&town, &street).await;
    found.extend(settled.err());
    if found.is_empty() {
        return;
    }
    let kept = town.stays();
    panic!(
        "seed {}: {} things are wrong:\n{}\nLook at {kept}",
        size.seed,
        found.len(),
        found.join("\n")
    );
}

/// Buys as long as something is left to be bought, each time as somebody new.
async fn buy(street: &Street, size: &Size) {
    while let Some(number) = street.next_purchase() {
        Customer::new(street, size.seed, number).buys().await;
    }
}
