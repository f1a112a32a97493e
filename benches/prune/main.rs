//! What pruning costs those who buy: two million old rows are deleted while customers check out.
//!
//! `scripts/bench-prune` runs it, on SQLite and on a PostgreSQL server of its own. The shop, its provider and the
//! customers are in this process, over loopback. Short windows with and without the pruner take turns, and what counts is
//! the ratio of the purchases in each pair: whatever else the machine does strikes both. Then the rest is pruned in one
//! go, while customers go on buying. A purchase is a cart, a form and its submission, by a visitor of its own. One that
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
    let (mut with, mut ratios, mut pruned) = (Vec::new(), Vec::new(), 0);
    for pair in 0..args.pairs {
        let pruner = pruner(&shop, pair);
        // In turn first and second, so that a drift cancels out.
        let (bought, bought_while_pruned, rows) = if pair % 2 == 0 {
            let bought = customers.buy_for(window).await;
            let (pruned, rows) = customers.buy_while(&pruner, window).await;
            (bought, pruned, rows)
        } else {
            let (pruned, rows) = customers.buy_while(&pruner, window).await;
            (customers.buy_for(window).await, pruned, rows)
        };
        with.push(bought_while_pruned.rate);
        ratios.push(bought_while_pruned.rate / bought.rate);
        pruned += rows;
        println!("without {bought}   with {bought_while_pruned}   {rows:>6} rows");
    }
    say_ratio(&mut ratios);
    let seconds = f64::from(args.pairs) * window.as_secs_f64();
    println!(
        "pruned in these windows: {pruned} rows, {:.0} a second",
        f64::from(pruned) / seconds
    );

    let (bought, rows, took) = customers
        .buy_until_pruned(&pruner(&shop, 0).everything())
        .await;
    println!("then the other {rows} in {took:.0?}: {bought}");
    assert_eq!(pruned + rows, old_rows::all(args.rows), "each row once");
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

/// A pruner, and what it is let at.
struct Let {
    pruner: Pruner,
}

impl Let {
    fn everything(mut self) -> Self {
        self.pruner.keep = keep(35, 35, 60);
        self
    }
}

/// A pruner that finds one kind of rows to be old, each time another.
fn pruner(shop: &Shop, turn: u32) -> Let {
    let till = &shop.app.till;
    let century = 36_500;
    let keep = match turn % 3 {
        0 => keep(35, century, century),
        1 => keep(century, 35, century),
        _ => keep(century, century, 60),
    };
    Let {
        pruner: Pruner {
            db: till.db.clone(),
            clock: till.clock.clone(),
            keep,
        },
    }
}

fn keep(events: i64, messages: i64, carts: i64) -> Retention {
    Retention {
        keep_events: TimeDelta::days(events),
        keep_messages: TimeDelta::days(messages),
        keep_carts: TimeDelta::days(carts),
    }
}

impl Let {
    /// Prunes until it is stopped, or there is nothing more.
    async fn prune(&self, stopping: &CancellationToken) -> u32 {
        let mut rows = 0;
        loop {
            let now = self.pruner.clock.now();
            let pruned = self.pruner.round(now, stopping).await.unwrap().rows();
            rows += u32::try_from(pruned).unwrap();
            if pruned == 0 || stopping.is_cancelled() {
                return rows;
            }
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
