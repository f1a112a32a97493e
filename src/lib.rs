//! A payment checkout that is safe to run twice.

pub mod simulator;
pub mod web;
