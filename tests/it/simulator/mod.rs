//! The simulator, over HTTP.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

mod access;
mod balance;
mod balance_transactions;
mod captures;
mod customers;
mod debits;
mod disputes;
mod faults;
mod idempotency;
mod lists;
mod odd_input;
mod payment_methods;
mod payments;
mod receiver;
mod refunds;
mod schedule;
mod search;
mod three_d_secure;
mod updates;
mod webhook_faults;
mod webhooks;
mod world;
