//! Flags and environment, parsed into values that are valid.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, builder::BoolishValueParser};
use lettre::message::Mailbox;

use crate::{
    mail::{
        operator::Which,
        post::{Post, UnusableSmtpUrl},
    },
    secret::Secret,
    simulator::ChaosRates,
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
    /// Create or upgrade the schema and stop
    Migrate(MigrateArgs),
    /// Look at what the rest of the world has not heard yet, and try again what is parked
    Outbox(OutboxArgs),
    /// Look at the mails that are not sent yet, and try again those that were given up
    Mail(MailArgs),
}

/// The flags of `serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Address of the shop; port 0 takes any free one
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:3000", value_parser = address)]
    pub listen: SocketAddr,
    /// Where customers reach the shop [default: `http://{listen}`]
    #[arg(long, env = "PUBLIC_URL", value_name = "URL", value_parser = http_url)]
    pub public_url: Option<String>,
    /// The shop's database
    #[command(flatten)]
    pub database: Database,
    /// The payment provider [default: none, start the simulator and use it]
    #[arg(long, env = "PROVIDER_URL", value_name = "URL", value_parser = http_url)]
    pub provider_url: Option<String>,
    /// Address of the simulator; port 0 takes any free one
    #[arg(long, env = "PROVIDER_LISTEN", default_value = "127.0.0.1:12111", value_parser = address)]
    pub provider_listen: SocketAddr,
    /// The simulator's database, `sqlite://FILE` or `sqlite::memory:`
    #[arg(
        long,
        env = "PROVIDER_DATABASE_URL",
        value_name = "URL",
        default_value = "sqlite://data/provider.db",
        hide_env_values = true
    )]
    pub provider_database_url: String,
    /// Our key at the provider
    #[command(flatten)]
    pub provider_key: ProviderKey,
    /// Secrets that sign webhooks, separated by commas; all are accepted, the simulator signs with the first
    #[arg(
        long,
        env = "WEBHOOK_SECRET",
        value_name = "SECRETS",
        default_value = "whsec_boring",
        value_delimiter = ',',
        value_parser = secret,
        hide_env_values = true
    )]
    pub webhook_secret: Vec<Secret>,
    /// How long one call of the provider may take
    #[arg(long, env = "PROVIDER_TIMEOUT", value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub provider_timeout: Duration,
    /// How long one request has an undecided checkout to itself before another may go on with it
    #[arg(long, env = "LEASE", value_name = "TIME", default_value = "15s", value_parser = duration)]
    pub lease: Duration,
    /// The mail server, `smtps://USER:PASSWORD@HOST`, `smtp://HOST` without encryption or `smtp://HOST?tls=required`
    /// [default: none, mails are written to --mail-folder]
    #[arg(long, env = "SMTP_URL", value_name = "URL", value_parser = smtp_url, hide_env_values = true)]
    pub smtp_url: Option<Secret>,
    /// Where mails are written while there is no mail server, an `.eml` file each
    #[arg(
        long,
        env = "MAIL_FOLDER",
        value_name = "FOLDER",
        default_value = "data/mail"
    )]
    pub mail_folder: PathBuf,
    /// Who mails are from
    #[arg(
        long,
        env = "MAIL_FROM",
        value_name = "MAILBOX",
        default_value = "The Boring Shop <shop@boring.example>"
    )]
    pub mail_from: Mailbox,
    /// How long a customer has to answer their bank before the payment is given up
    #[arg(long, env = "AUTHENTICATION_TIME", value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub authentication_time: Duration,
    /// Do nothing in the background: leave what follows a payment to other processes
    #[arg(long = "no-workers", action = ArgAction::SetFalse)]
    pub workers: bool,
    /// What is logged, and how
    #[command(flatten)]
    pub log: Log,
}

/// The flags of `provider`.
#[derive(Debug, Args)]
pub struct ProviderArgs {
    /// Address to serve on; port 0 takes any free one
    #[arg(long, env = "PROVIDER_LISTEN", default_value = "127.0.0.1:12111", value_parser = address)]
    pub listen: SocketAddr,
    /// The ledger, `sqlite://FILE` or `sqlite::memory:` [default: `sqlite://data/provider.db`]
    #[arg(
        long,
        env = "PROVIDER_DATABASE_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    pub database_url: Option<String>,
    /// Keep everything in memory, and leave no file behind; not together with --database-url
    #[arg(long, env = "PROVIDER_EPHEMERAL", value_parser = BoolishValueParser::new())]
    pub ephemeral: bool,
    /// Write the port to this file once requests are answered, and remove it at the end
    #[arg(long, env = "PROVIDER_PORT_FILE", value_name = "FILE")]
    pub port_file: Option<PathBuf>,
    /// The key that clients have to send
    #[arg(long, env = "PROVIDER_KEY", default_value = "sk_test_boring", value_parser = secret, hide_env_values = true)]
    pub key: Secret,
    /// Where to deliver events, and the secret that signs them; may be given several times
    #[arg(long, value_name = "URL=SECRET", value_parser = webhook)]
    pub webhook: Vec<(String, Secret)>,
    /// Let faults strike at random: the same ones again for the same number [default: none]
    #[arg(long, env = "PROVIDER_CHAOS", value_name = "SEED")]
    pub chaos: Option<u64>,
    /// How often each of them strikes, such as `drop_response=0.05,webhook_drop=0.1`; those that are not named
    /// never do [default: 0.02 for each fault of a request but hang, 0.04 for each of a webhook]
    #[arg(long, env = "PROVIDER_CHAOS_RATES", value_name = "RATES")]
    pub chaos_rates: Option<ChaosRates>,
    /// What is logged, and how
    #[command(flatten)]
    pub log: Log,
}

/// The flags of `audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// The shop's database
    #[command(flatten)]
    pub database: Database,
    /// The payment provider, whose ledger must agree with the shop's
    #[arg(long, env = "PROVIDER_URL", value_name = "URL", default_value = "http://127.0.0.1:12111", value_parser = http_url)]
    pub provider_url: String,
    /// Our key at the provider
    #[command(flatten)]
    pub provider_key: ProviderKey,
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
        /// The number of an order, or the id of a purchase or refund that has none [default: all]
        about: Option<Which>,
        /// The shop's database
        #[command(flatten)]
        database: Database,
        /// What is logged, and how
        #[command(flatten)]
        log: Log,
    },
}

/// The flag of every command that needs the shop's database.
#[derive(Clone, Debug, Args)]
pub struct Database {
    /// The shop's database, `sqlite://FILE` or `postgres://USER:PASSWORD@HOST/NAME`
    #[arg(
        id = "database_url",
        long = "database-url",
        env = "DATABASE_URL",
        value_name = "URL",
        default_value = "sqlite://data/shop.db",
        value_parser = database_url,
        hide_env_values = true
    )]
    pub url: Secret,
}

/// The flag of every command that calls the provider.
#[derive(Clone, Debug, Args)]
pub struct ProviderKey {
    /// Our key at the provider
    #[arg(
        id = "provider_key",
        long = "provider-key",
        env = "PROVIDER_KEY",
        value_name = "KEY",
        default_value = "sk_test_boring",
        value_parser = secret,
        hide_env_values = true
    )]
    pub key: Secret,
}

/// The flags of every command.
#[derive(Clone, Debug, Args)]
pub struct Log {
    /// What to log: error, warn, info, debug, trace, or a filter such as info,sqlx=debug
    #[arg(
        id = "log",
        long = "log",
        env = "RUST_LOG",
        value_name = "FILTER",
        default_value = "info"
    )]
    pub filter: String,
    /// How to log
    #[arg(
        id = "log_format",
        long = "log-format",
        env = "LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "pretty"
    )]
    pub format: LogFormat,
}

/// How a log line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    Pretty,
    /// One JSON object a line
    Json,
}

fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text)
        .map_err(|_| "not a time such as 10s, 500ms or 2min".to_owned())?;
    if duration.is_zero() || duration > Duration::from_hours(24) {
        return Err("must be more than nothing and at most a day".to_owned());
    }
    Ok(duration)
}

fn secret(text: &str) -> Result<Secret, String> {
    if text.trim().is_empty() {
        return Err("must not be empty".to_owned());
    }
    Ok(Secret::new(text.trim()))
}

fn database_url(text: &str) -> Result<Secret, String> {
    let known = ["sqlite:", "postgres:", "postgresql:"];
    if known.iter().any(|scheme| text.starts_with(scheme)) {
        Ok(Secret::new(text))
    } else {
        Err("must begin with sqlite: or postgres:".to_owned())
    }
}

fn smtp_url(text: &str) -> Result<Secret, UnusableSmtpUrl> {
    let url = Secret::new(text);
    Post::smtp(&url)?;
    Ok(url)
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let said = "not an address such as 127.0.0.1:12111 (port 0: any free one)";
    text.parse().map_err(|_| said.to_owned())
}

const NO_HTTP_URL: &str = "not an http:// or https:// URL";

/// Where a server is, to be continued by a path.
fn http_url(text: &str) -> Result<String, String> {
    match parse_http(text)?.query() {
        None => Ok(text.trim_end_matches('/').to_owned()),
        Some(_) => Err(NO_HTTP_URL.to_owned()),
    }
}

/// The URL stays exactly as it is given: a slash at its end or a query is the receiver's own affair.
fn webhook(text: &str) -> Result<(String, Secret), String> {
    // The secret has no equals sign; a URL may.
    let (url, key) = text.rsplit_once('=').ok_or("must be URL=SECRET")?;
    parse_http(url)?;
    Ok((url.to_owned(), secret(key)?))
}

fn parse_http(text: &str) -> Result<url::Url, String> {
    url::Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| NO_HTTP_URL.to_owned())
}
