//! The shop's pages.

pub mod assets;
pub mod views;
