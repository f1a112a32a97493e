//! The integration tests, one binary so that they link once.

mod buying;
mod cancelled;
mod carts;
mod database_conflicts;
mod false_news;
mod killed;
mod prices;
mod signatures;
mod simulator;
mod stock;
mod unknown_outcome;
mod webhooks;
mod world;
