//! The integration tests, one binary so that they link once.

mod buying;
mod cancelled;
mod false_news;
mod killed;
mod signatures;
mod simulator;
mod unknown_outcome;
mod webhooks;
mod world;
