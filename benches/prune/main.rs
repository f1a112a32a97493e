//! What pruning costs those who buy: two million old rows are deleted while customers check out.
//!
//! `scripts/bench-prune` runs it, on SQLite and on a PostgreSQL server of its own. The shop, its provider and the
//! customers are in this process, over loopback. Short windows with and without the pruner take turns, and what counts is
//! the ratio of the purchases in each pair: whatever else the machine does strikes both. Then the rest is pruned in one
//! go, while the same customers go on buying, one thing a second each. A purchase is a cart, a form and its submission, by a visitor of its own. One that
//! fails, and a batch that fails, end the run.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures says what it saw, and gives up when it cannot measure"
)]

mod customers;
mod old_rows;

use std::time::{Duration, Instant};

use boring_checkout::{
    app::Shop,
    config::Cli,
    pruner::{Pruner, Retention},
};
use chrono::TimeDelta;
use clap::Parser;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use self::customers::Customers;

/// Nothing is as old, in days.
const CENTURY: i64 = 36_500;

#[derive(Debug, Parser)]
struct Args {
    /// The shop's database, which must be empty [default: a SQLite file in a temporary folder]
    #[arg(long)]
    database_url: Option<String>,
    /// Old rows, of all kinds together
    #[arg(long, default_value_t = 2_000_000)]
    rows: u32,
    /// Windows with the pruner, and as many without
    #[arg(long, default_value_t = 24)]
    pairs: u32,
    /// How long a window is
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Customers who buy at the same time
    #[arg(long, default_value_t = 8)]
    customers: u32,
    /// Leave the rest of the rows when the windows are over
    #[arg(long)]
    windows_only: bool,
    /// What `cargo bench` says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let folder = TempDir::new().unwrap();
    let shop = open_shop(&args, &folder).await;
    let db = &shop.app.till.db;
    let engine = if db.is_postgres() {
        "PostgreSQL"
    } else {
        "SQLite"
    };
    let began = Instant::now();
    old_rows::make(db, args.rows).await;
    println!(
        "\n{engine}: {} old rows made in {:.0?}",
        args.rows,
        began.elapsed()
    );

    let window = Duration::from_secs(args.seconds);
    let customers = Customers::of(&shop.url(), args.customers);
    customers.buy_for(window).await; // Whatever has to get warm.
    let (mut ratios, mut gone) = (Vec::new(), 0);
    for pair in 0..args.pairs {
        // Each time another table is first.
        let days = match pair % 3 {
            0 => [35, CENTURY, CENTURY],
            1 => [CENTURY, 35, CENTURY],
            _ => [CENTURY, CENTURY, 60],
        };
        let pruner = pruner(&shop, days);
        // In turn first and second, so that a drift cancels out.
        let (bought, bought_while_pruned, rows) = if pair % 2 == 0 {
            let bought = customers.buy_for(window).await;
            let (during, rows) = customers.buy_while(&pruner, window).await;
            (bought, during, rows)
        } else {
            let (during, rows) = customers.buy_while(&pruner, window).await;
            (customers.buy_for(window).await, during, rows)
        };
        ratios.push(bought_while_pruned.rate / bought.rate);
        gone += rows;
        println!("without {bought}   with {bought_while_pruned}   {rows:>6} rows");
    }
    say_ratio(&mut ratios);
    let seconds = f64::from(args.pairs) * window.as_secs_f64();
    println!(
        "pruned in these windows: {gone} rows, {:.0} a second",
        f64::from(gone) / seconds
    );

    if !args.windows_only {
        let (bought, rows, took) = customers
            .unhurried()
            .buy_until_pruned(&pruner(&shop, [35, 35, 60]))
            .await;
        println!("then the other {rows} in {took:.0?}: {bought}");
        assert_eq!(gone + rows, old_rows::all(args.rows), "each row once");
    }
    println!("purchases that failed: 0; batches that failed: 0");
    shop.stop().await;
}

async fn open_shop(args: &Args, folder: &TempDir) -> Shop {
    let at = |name: &str| folder.path().join(name).display().to_string();
    let file = format!("sqlite://{}", at("shop.db"));
    let url = args.database_url.as_ref().unwrap_or(&file);
    let flags = [
        "--listen",
        "127.0.0.1:0",
        "--provider-listen",
        "127.0.0.1:0",
        "--no-workers",
    ];
    let provider = ["--provider-database-url", "sqlite::memory:"];
    let cli = ["boring-checkout", "--database-url", url];
    let cli = Cli::try_parse_from(cli.iter().chain(&flags).chain(&provider)).unwrap();
    Shop::start(&cli.serve).await.unwrap()
}

/// A pruner to which so many days are old, of events, messages and carts.
fn pruner(shop: &Shop, days: [i64; 3]) -> Pruner {
    let till = &shop.app.till;
    let [events, messages, carts] = days.map(TimeDelta::days);
    Pruner {
        db: till.db.clone(),
        clock: till.clock.clone(),
        keep: Retention {
            keep_events: events,
            keep_messages: messages,
            keep_carts: carts,
        },
    }
}

/// Prunes until it is stopped, or there is nothing more. Returns how many rows.
async fn prune(pruner: &Pruner, stopping: &CancellationToken) -> u32 {
    let mut rows = 0;
    loop {
        let now = pruner.clock.now();
        let round = pruner.round(now, stopping).await.unwrap().rows();
        rows += u32::try_from(round).unwrap();
        if round == 0 || stopping.is_cancelled() {
            return rows;
        }
    }
}

fn say_ratio(ratios: &mut [f64]) {
    ratios.sort_by(f64::total_cmp);
    let at = |share: usize| ratios.get((ratios.len() - 1) * share / 100).unwrap();
    println!(
        "purchases with / without: median {:.3}, half of the pairs {:.3} to {:.3}, all {:.3} to {:.3}",
        at(50),
        at(25),
        at(75),
        at(0),
        at(100)
    );
}
