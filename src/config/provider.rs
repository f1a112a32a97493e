//! The flags of `provider`.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, builder::BoolishValueParser};

use super::{
    shared::Log,
    value::{address, secret, webhook},
};
use crate::{secret::Secret, simulator::ChaosRates};

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
