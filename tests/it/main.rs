//! The integration tests, one binary so that they link once.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that is wrong shall fail, also in what is no `#[test]` function itself"
)]

mod abandoned;
mod admin_access;
mod admin_actions;
mod admin_audit;
mod admin_hostile;
mod admin_lists;
mod admin_search;
mod admin_story;
mod amounts;
mod api;
mod api_access;
mod api_docs;
mod api_idempotency;
mod api_refunds;
mod api_return;
mod audit;
mod authentication;
mod bad_input;
mod bus;
mod buying;
mod cancelled;
mod carts;
mod catalog_import;
mod command_line;
mod cost;
mod customers;
mod database;
mod database_conflicts;
mod events_command;
mod false_news;
mod killed;
mod killed_after_payment;
mod lab;
mod late_news;
mod late_success;
mod limits;
mod mail;
mod mail_servers;
mod mailbox;
mod metrics;
mod missed_events;
mod outbox;
mod prices;
mod privacy;
mod pruner;
mod reconciler;
mod refund_leases;
mod refund_notices;
mod refunds_faulty;
mod refunds_kept;
mod refunds_killed;
mod refunds_late;
mod refunds_pages;
mod refunds_requested;
mod refunds_restocked;
mod refused;
mod signatures;
mod simulator;
mod slow_clients;
mod slow_methods;
mod stock;
mod strangers;
mod sweep;
mod taxes;
mod time_zones;
mod unknown_outcome;
mod upgrade;
mod webhooks;
mod workers;
#[allow(dead_code, reason = "the soak uses the rest")]
mod world;
mod yardstick;
