//! The flags of the commands with which an operator looks after a shop.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    prices::PricedIn,
    shared::{Database, Log, ProviderAt},
};
use crate::mail::operator::Which;

/// The flags of `audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// The shop's database
    #[command(flatten)]
    pub database: Database,
    /// The payment provider, whose ledger must agree with the shop's
    #[command(flatten)]
    pub provider: ProviderAt,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    /// What is logged, and how
    #[command(flatten)]
    pub log: Log,
}

/// The flags of `migrate`.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// The shop's database
    #[command(flatten)]
    pub database: Database,
    /// What is logged, and how
    #[command(flatten)]
    pub log: Log,
}

/// The flags of `catalog`.
#[derive(Debug, Args)]
pub struct CatalogArgs {
    /// What to do
    #[command(subcommand)]
    pub action: CatalogAction,
}

/// What can be done with the catalog.
#[derive(Debug, Subcommand)]
pub enum CatalogAction {
    /// Insert or update products on their SKU, all that are in the file or none. Running it twice changes nothing
    Import {
        /// A CSV file with the columns sku,name,price,stock,description, in UTF-8; `-` reads standard input. The stock is
        /// what was ever delivered: raise it by what has come
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// What the prices are in
        #[command(flatten)]
        priced_in: PricedIn,
        /// The shop's database
        #[command(flatten)]
        database: Database,
        /// What is logged, and how
        #[command(flatten)]
        log: Log,
    },
}

/// The flags of `outbox`.
#[derive(Debug, Args)]
pub struct OutboxArgs {
    /// What to do
    #[command(subcommand)]
    pub action: OutboxAction,
}

/// What can be done with the outbox.
#[derive(Debug, Subcommand)]
pub enum OutboxAction {
    /// List what is not published yet: a row's number, its message, and what it waits for
    List {
        /// The shop's database
        #[command(flatten)]
        database: Database,
        /// What is logged, and how
        #[command(flatten)]
        log: Log,
    },
    /// Try parked rows again
    Retry {
        /// The number of one row, as `list` has it [default: all that are parked]
        #[arg(value_name = "ROW", value_parser = row)]
        id: Option<i64>,
        /// The shop's database
        #[command(flatten)]
        database: Database,
        /// What is logged, and how
        #[command(flatten)]
        log: Log,
    },
}

/// The flags of `mail`.
#[derive(Debug, Args)]
pub struct MailArgs {
    /// What to do
    #[command(subcommand)]
    pub action: MailAction,
}

/// What can be done with the mails.
#[derive(Debug, Subcommand)]
pub enum MailAction {
    /// List what is not sent yet: what a mail is about, its kind, and what it waits for
    List {
        /// The shop's database
        #[command(flatten)]
        database: Database,
        /// What is logged, and how
        #[command(flatten)]
        log: Log,
    },
    /// Try mails again that were given up
    Retry {
        /// The number of an order, or the id of a purchase or refund, as `list` has it [default: all]
        #[arg(value_name = "ORDER")]
        about: Option<Which>,
        /// The shop's database
        #[command(flatten)]
        database: Database,
        /// What is logged, and how
        #[command(flatten)]
        log: Log,
    },
}

/// The flags of `events`.
#[derive(Debug, Args)]
pub struct EventsArgs {
    /// What to do
    #[command(subcommand)]
    pub action: EventsAction,
}

/// What can be done with the events.
#[derive(Debug, Subcommand)]
pub enum EventsAction {
    /// List the last events that were processed, the newest first: when, its id and type, the object, what it came to
    List {
        /// How many
        #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..))]
        limit: i64,
        /// The shop's database
        #[command(flatten)]
        database: Database,
        /// What is logged, and how
        #[command(flatten)]
        log: Log,
    },
    /// Ask the provider for an event, and process it as if it were delivered once more
    Redeliver {
        /// Its id, `evt_…`
        #[arg(value_name = "EVENT")]
        id: String,
        /// The shop's database
        #[command(flatten)]
        database: Database,
        /// The payment provider
        #[command(flatten)]
        provider: ProviderAt,
        /// What is logged, and how
        #[command(flatten)]
        log: Log,
    },
}

fn row(text: &str) -> Result<i64, &'static str> {
    text.parse()
        .map_err(|_| "not the number of a row, as `outbox list` shows them")
}
