//! Running a scene in one order after the other.

use std::{env, sync::Arc, time::Duration};

use boring_checkout::{
    clock::Clock,
    lab::{
        flow::{Failed, Premises},
        safe,
        world::{Ground, Life, Settled, World},
    },
};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

use super::{
    explorer::{Actor, Choice, Explorer, Step},
    locks::Locks,
    part::{Part, Props},
    scene::Scene,
    stage::{Grain, Stage},
    story::Story,
};
use crate::ground::{ground, is_on_postgres, number};

/// The clock of each process is so far ahead of the one before: it finds every lease that those have taken run out, and goes
/// on where they are at work.
const HASTE: Duration = Duration::from_secs(150);

/// The seed of the sample, unless `INTERLEAVINGS_SEED` is another one.
const SEED: u64 = 2_026;

/// An order that went astray is played again. After so many it is not the machine that is busy.
const ASTRAY_MAX: usize = 10;

/// Who goes on.
enum Director {
    /// All orders.
    All(Explorer),
    /// One, drawn by chance.
    Chance(SmallRng),
    /// One that was told, and then whoever can.
    Told(Vec<Actor>),
}

/// Whether there is time: `INTERLEAVINGS_LONG` is set.
pub fn is_long() -> bool {
    env::var_os("INTERLEAVINGS_LONG").is_some()
}

/// Plays `parts` in every order of their transactions, queries and calls that makes a difference.
pub async fn in_all_orders(scene: Scene, parts: &[Part]) {
    explore(Theatre::of(scene, parts, Grain::Transaction)).await;
}

/// Plays `parts` in every order of their statements that makes a difference. On SQLite those of their transactions are all
/// that there are.
pub async fn in_all_orders_of_statements(scene: Scene, parts: &[Part]) {
    if is_on_postgres() {
        explore(Theatre::of(scene, parts, Grain::Statement)).await;
    }
}

async fn explore(theatre: Theatre<'_>) {
    let Some(mut theatre) = theatre.open().await else {
        return;
    };
    let mut director = Director::All(Explorer::default());
    loop {
        let steps = theatre.play(&mut director).await;
        let Director::All(explorer) = &mut director else {
            unreachable!("the same director");
        };
        match steps {
            Some(steps) if explorer.goes_on(&steps) => {}
            Some(_) => break,
            None => explorer.begin_again(),
        }
    }
    theatre.close().await;
}

/// Plays `parts` in orders that are drawn by chance, the same each time: of their statements, where those can be told apart.
pub async fn in_some_orders(scene: Scene, parts: &[Part], drawn: u64) {
    let grain = if is_on_postgres() {
        Grain::Statement
    } else {
        Grain::Transaction
    };
    let Some(mut theatre) = Theatre::of(scene, parts, grain).open().await else {
        return;
    };
    let first = number("INTERLEAVINGS_SEED").unwrap_or(SEED);
    let drawn = number("INTERLEAVINGS").unwrap_or(drawn);
    for seed in first..first + drawn {
        let draw = || Director::Chance(SmallRng::seed_from_u64(seed));
        while theatre.play(&mut draw()).await.is_none() {}
    }
    theatre.close().await;
}

/// Where one scene is played again and again.
struct Theatre<'p> {
    scene: Scene,
    parts: &'p [Part],
    grain: Grain,
    ground: Option<Ground>,
    locks: Option<Locks>,
    whole: usize,
    broken_off: usize,
    astray: usize,
    steps: usize,
}

impl<'p> Theatre<'p> {
    fn of(scene: Scene, parts: &'p [Part], grain: Grain) -> Self {
        Self {
            scene,
            parts,
            grain,
            ground: None,
            locks: None,
            whole: 0,
            broken_off: 0,
            astray: 0,
            steps: 0,
        }
    }

    /// With a ground to play on. When `INTERLEAVING` names an order, that one is played, or nothing if it is of other parts.
    async fn open(mut self) -> Option<Self> {
        self.ground = Some(ground().await);
        let Ok(told) = env::var("INTERLEAVING") else {
            return Some(self);
        };
        let (name, order) = told
            .split_once(": ")
            .expect("INTERLEAVING is as a failure printed it");
        if name == self.name() {
            let order = order
                .split_whitespace()
                .map(|actor| actor.parse().expect("a number"));
            self.play(&mut Director::Told(order.collect())).await;
        }
        self.close().await;
        None
    }

    fn name(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(|part| format!("{part:?}")).collect();
        format!("{:?} {:?} {}", self.grain, self.scene, parts.join("+"))
    }

    /// Plays one order, and lets the world go on until nothing is due. `None`: it went astray.
    async fn play(&mut self, director: &mut Director) -> Option<Vec<Step>> {
        let ground = self.ground.take().expect("it is open");
        let (mut world, props) = self.scene.set(&ground).await.expect("the scene is set");
        if self.locks.is_none() && is_on_postgres() {
            self.locks = Some(Locks::of(&world.premises().database_url).await);
        }
        let mut stage = Stage::new(self.grain, self.locks.as_mut());
        for part in self.parts {
            enter(&mut stage, *part, &world, &props)
                .await
                .expect("a process of the shop");
        }
        stage.settle().await;
        let mut choice = None;
        while !stage.is_over() {
            if stage.is_astray {
                choice = Some(Choice::Astray);
                break;
            }
            let able = stage.able();
            assert!(
                !able.is_empty(),
                "they wait for each other:\n{}",
                stage.story
            );
            match director.choose(&able, &stage.steps) {
                Choice::Next(actor) => stage.step(actor).await,
                other => {
                    choice = Some(other);
                    break;
                }
            }
        }
        let (steps, story) = stage.close().await;
        self.steps += steps.len();
        match choice {
            None => {
                self.whole += 1;
                self.check(&mut world, &steps, &story).await;
            }
            Some(Choice::Astray) => {
                self.astray += 1;
                assert!(
                    self.astray <= ASTRAY_MAX,
                    "the same order differs each time:\n{story}"
                );
            }
            Some(_) => self.broken_off += 1,
        }
        drop(world);
        self.ground = Some(ground);
        (choice != Some(Choice::Astray)).then_some(steps)
    }

    async fn check(&self, world: &mut World<'_>, steps: &[Step], story: &Story) {
        let settled = world.go_on().await.expect("the world goes on");
        let tally = world.tally().await.expect("both ledgers can be read");
        let order: Vec<String> = steps.iter().map(|step| step.actor.to_string()).collect();
        assert!(
            settled == Settled::Yes && self.scene.is_kept(&tally),
            "Not what was promised:\n{story}\n{settled:?}, {tally:#?}\n\nAgain: INTERLEAVING='{}: {}'",
            self.name(),
            order.join(" ")
        );
    }

    async fn close(self) {
        println!(
            "{}: {} orders, {} broken off, {} astray, {} steps",
            self.name(),
            self.whole,
            self.broken_off,
            self.astray,
            self.steps
        );
        let ground = self.ground.expect("it is open");
        ground.remove().await.expect("the scratch database goes");
    }
}

impl Director {
    fn choose(&mut self, able: &[Actor], steps: &[Step]) -> Choice {
        match self {
            Self::All(explorer) => explorer.choose(able, steps),
            Self::Chance(chance) => Choice::Next(able[chance.random_range(0..able.len())]),
            Self::Told(order) => match order.get(steps.len()) {
                Some(actor) if able.contains(actor) => Choice::Next(*actor),
                Some(_) => Choice::Astray,
                None => Choice::Next(able[0]),
            },
        }
    }
}

/// Opens the process of the next actor, which goes on to its first step.
async fn enter(
    stage: &mut Stage<'_>,
    part: Part,
    world: &World<'_>,
    props: &Props,
) -> Result<(), Failed> {
    let wire = stage.wire();
    let clock = Clock::default();
    let haste = HASTE * u32::try_from(wire.actor()).unwrap_or_default();
    let ahead = world.premises().clock.now() - clock.now();
    clock.advance(ahead.to_std().unwrap_or_default() + haste);
    let premises = Premises {
        clock,
        probe: wire.probe(),
        ..world.premises().clone()
    };
    let life = Life::begin(safe::open, premises.clone()).await?;
    let (shop, props) = (Arc::clone(life.flow()), props.clone());
    life.spawn(async move {
        let answer = part.play(&props, &shop, &premises).await;
        shop.idle().await;
        wire.over(answer.unwrap_or_else(|failed| failed.to_string()));
    });
    stage.enter(part.name(), life);
    Ok(())
}
