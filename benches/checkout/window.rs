//! A window: purchases from the first form that is sent until everything that follows from the last one is done.

use std::time::Instant;

use serde::Serialize;

use super::{
    buyers::{self, Bought, Form, Manner},
    processes::{cpu_seconds, cpu_seconds_of_family, resident_megabytes, written_bytes},
    world::{EVENTS, LATE, World},
};

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Window {
    pub clients: usize,
    pub purchases: usize,
    /// Purchases a second, with all that follows from them.
    pub rate: f64,
    /// Purchases a second until the last customer had their page.
    pub answered: f64,
    /// From the form to the paid page, in milliseconds.
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    /// Of one purchase.
    pub each: Each,
    /// Megabytes, at the end.
    pub shop_resident: f64,
    pub simulator_resident: f64,
}

/// What one purchase used up.
#[derive(Clone, Debug, Serialize)]
pub struct Each {
    /// Transactions that wrote. SQLite does not count them.
    pub commits: Option<f64>,
    /// Times that the shop's process waited for the disk: its own database's, and its mails'.
    pub syncs: f64,
    /// Bytes of PostgreSQL's log, or of all that the shop's process has written.
    pub bytes: f64,
    /// Milliseconds of processor time.
    pub cpu: Cpu,
    /// Milliseconds that PostgreSQL was at work on statements.
    pub database_busy: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cpu {
    pub shop: f64,
    pub simulator: f64,
    pub database: f64,
    pub load: f64,
}

/// Buys with each form once, and waits for what follows, of so many new purchases.
pub async fn measure(world: &World<'_>, forms: &[Form], manner: Manner, new: usize) -> Window {
    let all = world.heard().await + EVENTS * i64::try_from(new).unwrap();
    let before = Used::so_far(world).await;
    let began = Instant::now();
    let bought = buyers::buy(world.shop.address, forms, manner);
    world.is_through(all).await;
    let took = began.elapsed();
    // What the provider does later belongs to these purchases, too, and to nothing that is measured next.
    tokio::time::sleep(LATE).await;
    let after = Used::so_far(world).await;
    window(world, manner, &bought, took.as_secs_f64(), &before, &after)
}

fn window(
    world: &World<'_>,
    manner: Manner,
    bought: &Bought,
    took: f64,
    before: &Used,
    after: &Used,
) -> Window {
    let purchases = bought.latencies.len();
    let count = f64::from(u32::try_from(purchases).unwrap());
    let each = |used: fn(&Used) -> f64| (used(after) - used(before)) / count;
    Window {
        clients: manner.clients,
        purchases,
        rate: count / took,
        answered: count / bought.took.as_secs_f64(),
        p50: bought.percentile(50),
        p95: bought.percentile(95),
        p99: bought.percentile(99),
        each: Each {
            commits: difference(before.commits, after.commits).map(|it| it / count),
            syncs: each(|it| it.syncs),
            bytes: each(|it| it.bytes),
            cpu: Cpu {
                shop: each(|it| it.cpu.shop) * 1000.0,
                simulator: each(|it| it.cpu.simulator) * 1000.0,
                database: each(|it| it.cpu.database) * 1000.0,
                load: each(|it| it.cpu.load) * 1000.0,
            },
            database_busy: difference(before.busy, after.busy).map(|it| it / count),
        },
        shop_resident: resident_megabytes(world.shop.pid()),
        simulator_resident: resident_megabytes(world.simulator.pid()),
    }
}

fn difference(before: Option<f64>, after: Option<f64>) -> Option<f64> {
    Some(after? - before?)
}

/// What was used up until a moment, in seconds and bytes.
struct Used {
    commits: Option<f64>,
    syncs: f64,
    bytes: f64,
    cpu: Cpu,
    busy: Option<f64>,
}

impl Used {
    async fn so_far(world: &World<'_>) -> Self {
        let written = world.database.written().await;
        let (shop, simulator) = (world.shop.pid(), world.simulator.pid());
        let bytes = match written {
            Some((log, _)) => log,
            None => i64::try_from(written_bytes(shop)).unwrap(),
        };
        Self {
            commits: written.map(|(_, commits)| number(commits)),
            syncs: number(i64::try_from(world.premises.syncs.so_far()).unwrap()),
            bytes: number(bytes),
            cpu: Cpu {
                shop: cpu_seconds(shop),
                simulator: cpu_seconds(simulator),
                database: world.database.postmaster.map_or(0.0, cpu_seconds_of_family),
                load: cpu_seconds(std::process::id()),
            },
            busy: world.database.busy_milliseconds().await,
        }
    }
}

/// A count as what one divides by.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "nobody measures to 53 bits"
)]
pub fn number(count: i64) -> f64 {
    count as f64
}
