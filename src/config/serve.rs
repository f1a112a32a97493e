//! The flags of `serve`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{ArgAction, Args, builder::BoolishValueParser};
use lettre::message::Mailbox;

use super::{
    prices::Prices,
    shared::{Database, Log, ProviderKey},
    value::{
        address, attempts, bus_url, duration, http_url, is_loopback, proxies, secret, smtp_url,
    },
};
use crate::{pruner::Retention, secret::Secret};

/// The API key of the examples.
const DEMO_API_KEY: &str = "demo";

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
    /// How the shop prices
    #[command(flatten)]
    pub prices: Prices,
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
    /// The NATS server with JetStream that carries messages from process to process, `nats://HOST:4222` or
    /// `tls://USER:PASSWORD@HOST` [default: none, each process hands them to itself]
    #[arg(long, env = "BUS_URL", value_name = "URL", value_parser = bus_url, hide_env_values = true)]
    pub bus_url: Option<Secret>,
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
    /// Keys of the programs that may use the API, separated by commas [default: none, there is no API; with the lab on,
    /// `demo`]
    #[arg(
        long,
        env = "API_KEYS",
        value_name = "KEYS",
        value_delimiter = ',',
        value_parser = secret,
        hide_env_values = true
    )]
    pub api_keys: Vec<Secret>,
    /// How long a customer has to answer their bank before the payment is given up
    #[arg(long, env = "AUTHENTICATION_TIME", value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub authentication_time: Duration,
    /// How many purchases one session may begin in ten minutes
    #[arg(
        long,
        env = "ATTEMPTS_PER_SESSION",
        value_name = "NUMBER",
        default_value = "20",
        value_parser = attempts
    )]
    pub attempts_per_session: usize,
    /// How many purchases one address may begin in ten minutes; this machine itself is not counted
    #[arg(
        long,
        env = "ATTEMPTS_PER_ADDRESS",
        value_name = "NUMBER",
        default_value = "60",
        value_parser = attempts
    )]
    pub attempts_per_address: usize,
    /// How many proxies stand between the shop and its customers, each adding to `X-Forwarded-For`
    #[arg(
        long,
        env = "PROXIES",
        value_name = "NUMBER",
        default_value_t = 0,
        value_parser = proxies
    )]
    pub proxies: usize,
    /// How long a client may take to send a request, and to wait for its answer
    #[arg(long, env = "REQUEST_TIMEOUT", value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub request_timeout: Duration,
    /// The operator's password at /admin, whose user is admin [default: none, one is made up and printed]
    #[arg(long, env = "ADMIN_PASSWORD", value_name = "PASSWORD", value_parser = secret, hide_env_values = true)]
    pub admin_password: Option<Secret>,
    /// How long what is over is kept
    #[command(flatten)]
    pub keep: Retention,
    /// Show what is behind the shop: the lab at /lab, and the mails it sends at /mailbox. Whoever can open the shop sees them, and
    /// can have every purchase forgotten
    /// [default: on when it listens on loopback and --public-url is not elsewhere]
    #[arg(
        long,
        env = "LAB",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        value_name = "BOOL",
        value_parser = BoolishValueParser::new()
    )]
    pub lab: Option<bool>,
    /// Show nothing of it
    #[arg(long)]
    pub no_lab: bool,
    /// Do nothing in the background: leave what follows a payment to other processes
    #[arg(long = "no-workers", action = ArgAction::SetFalse)]
    pub workers: bool,
    /// What is logged, and how
    #[command(flatten)]
    pub log: Log,
}

impl ServeArgs {
    /// Refuses what contradicts itself, be one half of it in the environment.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.no_lab && self.lab == Some(true) {
            return Err("--no-lab cannot be used with --lab, nor while LAB says to show it");
        }
        Ok(())
    }

    /// The keys of the programs that may use the API. Whoever sees the lab may try it without one of their own.
    pub fn api_keys(&self) -> Vec<Secret> {
        if self.api_keys.is_empty() && self.is_lab_on() {
            vec![DEMO_API_KEY.into()]
        } else {
            self.api_keys.clone()
        }
    }

    /// Whether the lab is shown. Unless it is said, only to those who are at this machine: a shop on loopback may well be
    /// behind a proxy that brings it to everybody, and then it has another address.
    pub fn is_lab_on(&self) -> bool {
        let is_here =
            || self.listen.ip().is_loopback() && self.public_url.as_deref().is_none_or(is_loopback);
        !self.no_lab && self.lab.unwrap_or_else(is_here)
    }
}
