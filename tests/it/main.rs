//! The integration tests, one binary so that they link once.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test says what it expects by panicking"
)]

mod authentication;
mod buying;
mod cancelled;
mod cost;
mod database;
mod killed;
mod simulator;
mod unknown_outcome;
mod world;
