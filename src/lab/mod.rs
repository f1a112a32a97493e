//! The lab.

pub mod naive;
