//! Flags that several commands share.

use clap::{Args, ValueEnum};

use super::value::{database_url, http_url, secret};
use crate::secret::Secret;

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

/// The flags of every command that looks at what the provider knows.
#[derive(Clone, Debug, Args)]
pub struct ProviderAt {
    /// The payment provider
    #[arg(long = "provider-url", env = "PROVIDER_URL", value_name = "URL", default_value = "http://127.0.0.1:12111", value_parser = http_url)]
    pub url: String,
    /// Our key at the provider
    #[command(flatten)]
    pub key: ProviderKey,
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
