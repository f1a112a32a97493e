//! A payment checkout that is safe to run twice. Read it in this order:

pub mod money;
pub mod ids;
pub mod clock;
pub mod secret;
pub mod db;
pub mod catalog;
pub mod cart;
pub mod inventory;
pub mod provider;
pub mod checkout;
pub mod orders;
pub mod outbox;
pub mod discrepancies;
pub mod simulator;
pub mod web;
