//! Flags and environment, parsed into values that are valid.
//!
//! Here is the whole command line; a file each for the flags of `serve`, of `provider`, of `sweep` and of the commands that
//! an `operator` uses; how the shop `prices`; what several of them share (`shared`), and how values (`value`) are read.

mod operator;
mod prices;
mod provider;
mod serve;
mod shared;
mod sweep;
mod value;

use clap::{Parser, Subcommand};

pub use self::{
    operator::{
        AuditArgs, CatalogAction, CatalogArgs, EventsAction, EventsArgs, MailAction, MailArgs,
        MigrateArgs, OutboxAction, OutboxArgs,
    },
    prices::{PricedIn, Prices},
    provider::ProviderArgs,
    serve::ServeArgs,
    shared::{Database, Log, LogFormat, ProviderAt, ProviderKey},
    sweep::{SweepArgs, SweptFlow},
};

/// A payment checkout that is safe to run twice, with a payment provider that misbehaves on request.
///
/// Without a command it serves. Nearly every flag has an environment variable, which --help names; a `.env` file in the working directory is
/// read too.
#[derive(Debug, Parser)]
#[command(name = "boring-checkout", version, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The flags of `serve`, which is what is done without a command.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the shop, and the simulator beside it unless --provider-url is given
    Serve(Box<ServeArgs>),
    /// Serve the payment provider simulator alone
    Provider(ProviderArgs),
    /// Check every invariant: exit 0 when all hold, 1 when one is broken, 2 when it could not look
    Audit(AuditArgs),
    /// Tell every story with every fault at every boundary: exit 0 when nothing was lost or doubled, 1 when something was, 2
    /// when it could not look
    Sweep(SweepArgs),
    /// Create or upgrade the schema and stop
    Migrate(MigrateArgs),
    /// Bring products into the catalog
    Catalog(CatalogArgs),
    /// Look at what the rest of the world has not heard yet, and try again what is parked
    Outbox(OutboxArgs),
    /// Look at the mails that are not sent yet, and try again those that were given up
    Mail(MailArgs),
    /// Look at what the provider told, and ask for an event again
    Events(EventsArgs),
}
