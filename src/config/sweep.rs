//! The flags of `sweep`.

use clap::{Args, ValueEnum};

use super::shared::{Log, LogFormat};
use crate::{
    lab::sweep::{scenarios::Scenario, strike::Strikes},
    secret::Secret,
};

/// The flags of `sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Which checkout
    #[arg(long, value_name = "FLOW", default_value = "safe")]
    pub flow: SweptFlow,
    /// One story alone [default: all of them]
    #[arg(long, value_name = "NAME", value_parser = scenario)]
    pub scenario: Option<&'static Scenario>,
    /// One run alone, with a fault at the boundary of this number, such as `crash@17`, or with several, such as
    /// `lost@17+crash@23`; together with --scenario
    #[arg(long, value_name = "FAULT", requires = "scenario")]
    pub fault: Option<Strikes>,
    /// Let a second fault strike in each run, at every boundary after the first
    #[arg(long, conflicts_with = "fault")]
    pub pairs: bool,
    /// With --pairs, make only each so-manieth of the runs with two faults: there are many
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "pairs", value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
    /// The server on which scratch databases are made and dropped, `postgres://USER:PASSWORD@HOST/NAME`
    /// [default: SQLite in a temporary folder]
    #[arg(long = "database-url", value_name = "URL", value_parser = server)]
    pub database_url: Option<Secret>,
    /// How many runs are made at a time [default: three for each processor]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    /// What to log of the shop that is being broken: error, warn, info, or a filter
    #[arg(long, value_name = "FILTER", default_value = "off")]
    pub log: String,
}

/// A checkout that can be swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SweptFlow {
    /// The shop's own
    Safe,
    /// The one that most people write: its faults must be found, or the sweep proves nothing
    Naive,
    /// Both, side by side: a success when the safe one is clean and the naive one is found out
    Both,
}

impl SweepArgs {
    /// What is logged, for people.
    pub fn log(&self) -> Log {
        Log {
            filter: self.log.clone(),
            format: LogFormat::Pretty,
        }
    }
}

fn server(text: &str) -> Result<Secret, &'static str> {
    let is_postgres = text.starts_with("postgres:") || text.starts_with("postgresql:");
    let url = (is_postgres && url::Url::parse(text).is_ok()).then(|| Secret::new(text));
    url.ok_or("must be a postgres:// URL; SQLite is what is used without it")
}

fn scenario(name: &str) -> Result<&'static Scenario, String> {
    Scenario::named(name).ok_or_else(|| format!("must be one of {}", Scenario::names()))
}
