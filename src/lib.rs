//! A payment checkout that is safe to run twice, in the order in which to read it.
//!
//! Imports run one way: `web` → the domain → `db` and `provider`; only `app`, which wires all of it, is known to `web`
//! too. The simulator is the other side of the wire and imports nothing of the shop. It is as useful to the tests of
//! any other checkout:
//!
//! ```
//! use boring_checkout::simulator::{Fault, Simulator};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let provider = Simulator::start().await?;
//! provider.control().arm(Fault::on_operation("payment_intents.create").drop_response())?;
//! // Point the code under test at provider.url(), with the key sk_test_boring, and let it buy something. Then:
//! let ledger = provider.control().ledger().await?;
//! assert!(ledger.payment_intents.succeeded <= 1, "charged once at most");
//! # Ok(())
//! # }
//! ```

// One `json!` shows all the fields of an object of the simulator's API, and some have more than the default allows.
#![recursion_limit = "256"]

// The lesson.
pub mod checkout;
pub mod webhooks;

// What a purchase is made of.
pub mod cart;
pub mod catalog;
pub mod customers;
pub mod discrepancies;
pub mod inventory;
pub mod orders;
pub mod pricing;

// What comes after the payment.
pub mod fulfilment;
pub mod mail;
pub mod outbox;
pub mod pruner;
pub mod refunds;

// What all of it stands on.
pub mod batches;
pub mod clock;
pub mod countries;
pub mod db;
pub mod ids;
pub mod links;
pub mod money;
pub mod paging;
pub mod probe;
pub mod provider;
pub mod secret;
pub mod throttle;
mod waits;

// How one looks at it.
pub mod audit;
pub mod gauges;
pub mod provider_calls;
pub mod search;
pub mod story;
pub mod web;

// The payment provider, for those who have none at hand.
pub mod simulator;

// The proof.
pub mod lab;

// How it is run.
pub mod app;
pub mod config;
pub mod port_file;
pub mod workers;

// What the documentation shows for Rust is run as well.
#[cfg(doctest)]
#[doc = include_str!("../docs/simulator.md")]
struct Documentation;
