//! How fast the simulator is, beside another emulator of the same API.
//!
//! `scripts/bench-simulator` runs it with localstripe (from `PyPI`) as the yardstick. The same client drives both, one
//! after the other and twice in turn, over loopback: each of its connections creates a payment intent and confirms
//! it, with an idempotency key of its own for both calls, until so many purchases are made. Only the ratios mean
//! anything on another machine.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures says what it saw, and gives up when it cannot measure"
)]

mod client;
mod server;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Parser;

use self::{client::Client, server::Server};

#[derive(Debug, Parser)]
struct Args {
    /// Purchases in each round
    #[arg(long, default_value_t = 200)]
    purchases: u32,
    /// Connections that buy at the same time
    #[arg(long, default_value_t = 8)]
    clients: u32,
    /// The program of localstripe; without it only the simulator is measured
    #[arg(long)]
    localstripe: Option<PathBuf>,
    /// What `cargo bench` says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// One round: so many purchases at one server that was started for it.
struct Round {
    seconds: f64,
    /// Of a whole purchase, create and confirm; sorted.
    latencies: Vec<Duration>,
    memory_at_start: u64,
    memory_at_end: u64,
}

fn main() {
    let args = Args::parse();
    println!(
        "{} purchases a round by {} connections; a purchase is a create and a confirm.\n",
        args.purchases, args.clients
    );
    println!(
        "{:<32}{:>12}{:>10}{:>10}{:>22}",
        "", "purchases/s", "p50 ms", "p99 ms", "resident MB"
    );
    let mut rates: Vec<(&str, f64)> = Vec::new();
    for _ in 0..2 {
        if let Some(program) = &args.localstripe {
            rates.push((
                "localstripe",
                measure("localstripe", &args, || Server::localstripe(program)),
            ));
        }
        rates.push((
            "memory",
            measure("boring-checkout, in memory", &args, Server::in_memory),
        ));
        rates.push((
            "disk",
            measure("boring-checkout, on disk", &args, Server::on_disk),
        ));
    }
    let mean = |name: &str| {
        let of_it: Vec<f64> = rates
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, rate)| *rate)
            .collect();
        of_it.iter().sum::<f64>() / f64::from(u32::try_from(of_it.len()).unwrap())
    };
    if args.localstripe.is_some() {
        println!(
            "\nin memory / localstripe: {:.1} times as many purchases a second",
            mean("memory") / mean("localstripe")
        );
        println!(
            "on disk / localstripe:   {:.1} times",
            mean("disk") / mean("localstripe")
        );
    }
}

/// Starts a server, drives it, prints a line, and returns the purchases a second.
fn measure(name: &str, args: &Args, start: impl Fn() -> Server) -> f64 {
    let server = start();
    let round = drive(&server, args);
    let rate = f64::from(args.purchases) / round.seconds;
    let at = |percent: usize| {
        let index = round.latencies.len() * percent / 100;
        round.latencies.get(index).unwrap().as_secs_f64() * 1000.0
    };
    println!(
        "{name:<32}{rate:>12.0}{:>10.2}{:>10.2}{:>22}",
        at(50),
        at(99),
        format!(
            "{} → {}",
            round.memory_at_start / 1024,
            round.memory_at_end / 1024
        )
    );
    rate
}

fn drive(server: &Server, args: &Args) -> Round {
    let memory_at_start = server.resident_kilobytes();
    let begun = Instant::now();
    let mut latencies: Vec<Duration> = std::thread::scope(|scope| {
        let buyers: Vec<_> = (0..args.clients)
            .map(|buyer| {
                let purchases =
                    (buyer..args.purchases).step_by(usize::try_from(args.clients).unwrap());
                scope.spawn(move || {
                    let mut client = Client::connect(server.address());
                    purchases
                        .map(|number| timed(|| buy(&mut client, number)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        buyers
            .into_iter()
            .flat_map(|buyer| buyer.join().unwrap())
            .collect()
    });
    let seconds = begun.elapsed().as_secs_f64();
    latencies.sort_unstable();
    Round {
        seconds,
        latencies,
        memory_at_start,
        memory_at_end: server.resident_kilobytes(),
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn buy(client: &mut Client, number: u32) {
    let created = client.post(
        "/v1/payment_intents",
        "amount=4200&currency=usd&payment_method=pm_card_visa&payment_method_types[0]=card",
        &format!("create-{number}"),
    );
    let id = created
        .split('"')
        .find(|word| word.starts_with("pi_") && !word.contains("secret"))
        .expect("a payment intent");
    let confirmed = client.post(
        &format!("/v1/payment_intents/{id}/confirm"),
        "",
        &format!("confirm-{number}"),
    );
    let flat: String = confirmed.split_whitespace().collect();
    assert!(flat.contains(r#""status":"succeeded""#), "{confirmed}");
}
