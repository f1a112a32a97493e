//! What is measured, in order. Each part stands by itself, so that one can be looked at in a minute.

use std::time::Duration;

use serde::Serialize;

use super::{
    Args, audited,
    buyers::{Form, Manner},
    database::{Database, Engine, Ground},
    disk::Syncs,
    forms::Goods,
    old,
    processes::{cpu_seconds, file_megabytes, most_resident_megabytes, resident_megabytes},
    report::Report,
    window::{self, Window},
    world::{Flow, Premises, World},
    yardstick::{Yardstick, so_many},
};

/// Where it is no matter of how many there are.
const CLIENTS: usize = 32;

/// The same form, so many times at once.
const STORM: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The shop beside its yardstick, by the number of clients
    Clients,
    /// The same forms again
    Replay,
    /// Everybody wants the same product
    Hot,
    /// Half of the rate that it could do
    Pace,
    /// A thousand copies of one form at once
    Storm,
    /// The naive twin
    Naive,
    /// Memory, start, and rest
    Memory,
    /// A slow disk
    Slow,
}

/// An engine that is being measured.
struct Run<'r> {
    args: &'r Args,
    engine: Engine,
    world: World<'r>,
    report: &'r mut Report,
}

pub async fn measure(args: &Args, ground: &Ground, engine: Engine, report: &mut Report) {
    let wants = |part| args.only.is_empty() || args.only.contains(&part);
    let database = ground.database(engine, "shop").await;
    let premises = Premises {
        folder: ground.folder.clone(),
        flow: Flow::Safe,
        syncs: Syncs::counted(&ground.folder, Duration::ZERO),
        log: args.log.clone(),
    };
    let yardstick = Yardstick::of(args, ground, engine, &premises.syncs).await;
    report.begin(engine);
    let mut run = Run::open(args, &database, premises.clone(), report).await;
    if wants(Part::Clients) {
        for &clients in &args.clients {
            run.beside(&yardstick, ground, "new", clients).await;
        }
    }
    if wants(Part::Replay) {
        run.replay().await;
    }
    if wants(Part::Hot) {
        run.hot().await;
    }
    if wants(Part::Pace) {
        run.pace().await;
    }
    if wants(Part::Storm) {
        run.storm().await;
    }
    if wants(Part::Naive) {
        run.naive(&premises).await;
    }
    drop(run);
    if wants(Part::Memory) {
        // Anew, since the simulator forgets no payment: what is asked is what clients cost, and not what payments do.
        let mut run = Run::open(args, &database, premises.clone(), report).await;
        run.memory().await;
    }
    if wants(Part::Slow) && engine == Engine::Sqlite {
        let delay = Duration::from_millis(args.slow_ms);
        let slow = Premises {
            syncs: Syncs::counted(&ground.folder, delay),
            ..premises.clone()
        };
        let yardstick = yardstick.on(&slow.syncs);
        let mut run = Run::open(args, &database, slow, report).await;
        run.beside(&yardstick, ground, "slow disk", CLIENTS).await;
        drop(run);
    }
    if args.old > 0 {
        aged(args, ground, &database, &premises, report).await;
    }
    if args.audit > 0 {
        let audited = audited::audit(ground, engine, args.audit).await;
        let mut fact = |name: &str, value: f64| report.fact(engine, name, value);
        fact("audit: seconds", audited.took.as_secs_f64());
        fact("audit: MB at most", audited.megabytes);
        fact("audit: clean", f64::from(u8::from(audited.is_clean)));
    }
}

/// A young shop and one that has been open for long, in turn.
async fn aged(
    args: &Args,
    ground: &Ground,
    young: &Database,
    premises: &Premises,
    report: &mut Report,
) {
    let database = ground.database(young.engine, "aged").await;
    old::make(&database.db, args.old).await;
    for _ in 0..2 {
        for (database, name) in [(young, "young"), (&database, "old")] {
            let run = Run::open(args, database, premises.clone(), report).await;
            let (window, _) = run.new_ones(Goods::All, CLIENTS).await;
            run.report.add(run.engine, name, window, None);
        }
    }
}

impl<'r> Run<'r> {
    /// Opens the shop and warms it up.
    async fn open(
        args: &'r Args,
        database: &'r Database,
        premises: Premises,
        report: &'r mut Report,
    ) -> Self {
        let world = World::open(database, premises).await;
        world.warms_up().await;
        Self {
            args,
            engine: database.engine,
            world,
            report,
        }
    }

    /// A window of new purchases.
    async fn new_ones(&self, goods: Goods, clients: usize) -> (Window, Vec<Form>) {
        let few = self.world.forms(goods, (4 * clients).max(32)).await;
        let first = self.buy(&few, at_once(clients)).await;
        let count = so_many(first.rate, self.args.seconds).max(few.len());
        let forms = self.world.forms(goods, count).await;
        (self.buy(&forms, at_once(clients)).await, forms)
    }

    async fn buy(&self, forms: &[Form], manner: Manner) -> Window {
        window::measure(&self.world, forms, manner, forms.len()).await
    }

    async fn beside(&mut self, yardstick: &Yardstick, ground: &Ground, name: &str, clients: usize) {
        let seconds = self.args.seconds.div_ceil(2);
        let before = yardstick.read(&ground.folder, clients, seconds).await;
        let (window, _) = self.new_ones(Goods::All, clients).await;
        let after = yardstick.read(&ground.folder, clients, seconds).await;
        self.report
            .add(self.engine, name, window, Some([before, after]));
    }

    /// New ones, and then the same again: each finds its purchase.
    async fn replay(&mut self) {
        let (window, forms) = self.new_ones(Goods::All, CLIENTS).await;
        self.report
            .add(self.engine, "before the replay", window, None);
        let again = window::measure(&self.world, &forms, at_once(CLIENTS), 0).await;
        self.report.add(self.engine, "replay", again, None);
    }

    /// Few and many in turn, so that whatever else the machine does strikes both.
    async fn hot(&mut self) {
        for clients in [8, 64, 8, 64] {
            let (window, _) = self.new_ones(Goods::One, clients).await;
            self.report.add(self.engine, "one product", window, None);
        }
    }

    /// They come evenly, and wait from the moment at which they came.
    async fn pace(&mut self) {
        let (top, _) = self.new_ones(Goods::All, CLIENTS).await;
        let rate = top.rate / 2.0;
        let forms = self
            .world
            .forms(Goods::All, so_many(rate, self.args.seconds))
            .await;
        let manner = Manner {
            rate: Some(rate),
            ..at_once(CLIENTS)
        };
        let window = self.buy(&forms, manner).await;
        self.report.add(self.engine, "half the rate", window, None);
    }

    async fn storm(&mut self) {
        let one = self.world.forms(Goods::All, 1).await.remove(0);
        let forms = vec![one; STORM];
        let manner = Manner {
            follows: false,
            ..at_once(64)
        };
        let busy = self.world.database.busy_milliseconds().await;
        let window = window::measure(&self.world, &forms, manner, 1).await;
        if let Some((before, after)) = busy.zip(self.world.database.busy_milliseconds().await) {
            self.report
                .fact(self.engine, "storm: database, ms", after - before);
        }
        self.report
            .fact(self.engine, "storm: seconds", 1000.0 / window.answered);
        self.report.add(self.engine, "storm", window, None);
    }

    /// The twin and the shop in turn, in the same database.
    async fn naive(&mut self, premises: &Premises) {
        let premises = Premises {
            flow: Flow::Naive,
            ..premises.clone()
        };
        let naive = World::open(self.world.database, premises).await;
        naive.warms_up().await;
        for _ in 0..2 {
            for (world, name) in [(&naive, "naive"), (&self.world, "safe")] {
                let few = world.forms(Goods::All, 4 * CLIENTS).await;
                let first = window::measure(world, &few, at_once(CLIENTS), few.len()).await;
                let count = so_many(first.rate, self.args.seconds).max(few.len());
                let forms = world.forms(Goods::All, count).await;
                let window = window::measure(world, &forms, at_once(CLIENTS), forms.len()).await;
                self.report.add(self.engine, name, window, None);
            }
        }
    }

    async fn memory(&mut self) {
        let (window, _) = self.new_ones(Goods::All, 64).await;
        self.report.add(self.engine, "64 clients", window, None);
        let (shop, simulator) = (self.world.shop.pid(), self.world.simulator.pid());
        let mut fact = |name: &str, value: f64| self.report.fact(self.engine, name, value);
        fact("shop: MB at most", most_resident_megabytes(shop));
        fact("simulator: MB at most", most_resident_megabytes(simulator));
        let program = file_megabytes(shop).min(file_megabytes(simulator));
        fact("MB of these are the program that both are", program);
        let used = || [shop, simulator].map(cpu_seconds).iter().sum::<f64>();
        let before = used();
        let rest = Duration::from_secs(3);
        tokio::time::sleep(rest).await;
        let idle = (used() - before) / rest.as_secs_f64() * 100.0;
        fact("idle: percent of a processor", idle);
        let ready = self.world.reopen();
        let mut fact = |name: &str, value: f64| self.report.fact(self.engine, name, value);
        fact("ready after, ms", ready.as_secs_f64() * 1000.0);
        fact(
            "shop: MB at the start",
            resident_megabytes(self.world.shop.pid()),
        );
    }
}

fn at_once(clients: usize) -> Manner {
    Manner {
        clients,
        rate: None,
        follows: true,
    }
}
