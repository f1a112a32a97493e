//! The simulator, over HTTP.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

mod access;
mod as_a_process;
mod balance;
mod balance_transactions;
mod barrage;
mod captures;
mod chaos;
mod confirming;
mod connection;
mod control;
mod customers;
mod debits;
mod disputes;
mod events;
mod fairness;
mod fault_scopes;
mod faults;
mod idempotency;
mod killed;
mod lists;
mod odd_input;
mod page;
mod payment_methods;
mod payments;
mod receiver;
mod refunds;
mod schedule;
mod search;
mod secret_rotation;
mod three_d_secure;
mod updates;
mod upgrade;
mod webhook_endpoints;
mod webhook_faults;
mod webhooks;
mod world;
