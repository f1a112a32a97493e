//! How fast the whole checkout is, beside what its own statements cost the database without it.
//!
//! `scripts/bench` runs it, on SQLite and on a PostgreSQL server of its own; docs/performance.md says what is measured, and what
//! came out. The shop and the simulator are real processes of the release build, which this one starts, buys from, and watches.
//!
//! 1. [`parts`]: what is measured, in order.
//! 2. [`window`]: one measurement, from the first form to the last mail.
//! 3. [`forms`], [`buyers`], [`http`]: the load.
//! 4. [`yardstick`]: what the database can do at best.
//! 5. [`world`], [`processes`], [`database`], [`disk`], [`naive`], [`old`], [`audited`]: what is driven and watched.
//! 6. [`report`], [`goals`]: what was seen, and what should be.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures says what it saw, and gives up when it cannot measure"
)]

mod audited;
mod buyers;
mod database;
mod disk;
mod forms;
mod goals;
mod http;
mod naive;
mod old;
mod parts;
mod processes;
mod report;
mod window;
mod world;
mod yardstick;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use tempfile::TempDir;

use self::{
    database::{Engine, Ground},
    naive::NaiveArgs,
    parts::Part,
    report::Report,
    yardstick::sqlite::SqliteArgs,
};

#[derive(Clone, Debug, Parser)]
struct Args {
    /// What is measured on
    #[arg(long, value_delimiter = ',', default_value = "sqlite,postgres")]
    engine: Vec<Engine>,
    /// What is measured [default: all of it]
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// How many people buy at the same time, in turn
    #[arg(long, value_delimiter = ',', default_value = "1,8,32,64")]
    clients: Vec<usize>,
    /// How long a window is, about
    #[arg(long, default_value_t = 4)]
    seconds: u32,
    /// By how much a slow disk is slower, in milliseconds a sync
    #[arg(long, default_value_t = 5)]
    slow_ms: u64,
    /// As well: buy beside so many purchases of last year
    #[arg(long, default_value_t = 0)]
    old: i64,
    /// As well: audit so many of them
    #[arg(long, default_value_t = 0)]
    audit: i64,
    /// What the processes log
    #[arg(long, default_value = "warn")]
    log: String,
    /// Write all figures here as well, as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// The PostgreSQL server, `postgres://postgres@HOST:PORT`, with `pg_stat_statements`
    #[arg(long)]
    postgres_url: Option<String>,
    /// The program of that name
    #[arg(long, default_value = "pgbench")]
    pgbench: PathBuf,
    /// What `cargo bench` says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

/// What this program is when it has started itself.
#[derive(Clone, Debug, Subcommand)]
enum Role {
    /// The naive shop
    #[command(hide = true)]
    Naive(NaiveArgs),
    /// The yardstick on SQLite
    #[command(hide = true)]
    Yardstick(SqliteArgs),
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    match args.role.clone() {
        Some(Role::Naive(naive)) => return naive::serve(naive).await,
        Some(Role::Yardstick(yardstick)) => return yardstick::sqlite::run(yardstick).await,
        None => {}
    }
    let folder = TempDir::new().unwrap();
    let ground = Ground {
        folder: folder.path().to_owned(),
        server: args.postgres_url.clone(),
    };
    let mut report = Report::default();
    for engine in &args.engine {
        parts::measure(&args, &ground, *engine, &mut report).await;
    }
    report.judge();
    if let Some(path) = &args.json {
        std::fs::write(path, serde_json::to_string_pretty(&report).unwrap()).unwrap();
    }
}
