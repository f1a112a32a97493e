//! Proof by many runs: all orders of few requests, and random histories of many.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that is wrong shall fail, also in what is no `#[test]` function itself"
)]

mod ground;
mod histories;
mod interleavings;
mod provider;
