//! The simulator, over HTTP.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

mod access;
mod as_a_process;
mod chaos;
mod control;
mod fault_scopes;
mod faults;
mod idempotency;
mod lists;
mod odd_input;
mod payments;
mod receiver;
mod three_d_secure;
mod webhook_faults;
mod webhooks;
mod world;
