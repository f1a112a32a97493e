//! Runs: a scenario, played twice on the running shop's own database and provider, once for each flow.
//!
//! One run goes on at a time, since what it does to the simulator strikes everybody; the others wait their turn. In reading
//! order:
//!
//! 1. here: what is kept of a run, and how it is made.
//! 2. [`scenarios`]: what can be shown.
//! 3. `plays`: how each is played.
//! 4. `scene`: one flow, and everybody around it.
//! 5. `news`: what the provider tells in it.
//! 6. `act`: something that somebody is at.
//! 7. `cue`: what happens to one piece of work at one boundary.
//! 8. `shelf`: the goods that a scene brings along.
//! 9. `tally`: what it came to, from the two ledgers.
//! 10. [`verdict`]: the same in a sentence.

mod act;
mod cue;
mod news;
mod plays;
pub mod scenarios;
mod scene;
mod shelf;
mod tally;
pub mod verdict;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use uuid::Uuid;

use self::{scenarios::Scenario, scene::Scene};
use super::{Lab, flow::Failed, sweep::Flow, trail::steps::Step, world::Sums};
use crate::app::App;

/// So many runs are remembered, those that wait included.
const REMEMBERED: usize = 30;

/// So many may wait. Nobody presses more buttons than that and watches what comes of each.
const WAITING_MAX: usize = 5;

/// The runs of this process.
#[derive(Debug, Default)]
pub(super) struct Runs {
    known: Mutex<VecDeque<Arc<Run>>>,
    turn: tokio::sync::Mutex<()>,
}

/// A run of a scenario.
#[derive(Debug)]
pub struct Run {
    /// Its id.
    pub id: Uuid,
    /// What is played.
    pub scenario: &'static Scenario,
    stage: Mutex<Stage>,
}

/// How far a run has come.
#[derive(Clone, Debug)]
pub enum Stage {
    /// It waits, or is being played.
    Playing,
    /// It is over.
    Over(Arc<Played>),
    /// It could not be played to its end, because of this.
    Stopped(String),
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Played {
    /// With the naive twin.
    pub naive: Ending,
    /// With the shop.
    pub safe: Ending,
}

/// What came of a scene.
#[derive(Clone, Debug)]
pub struct Ending {
    /// What happened.
    pub steps: Vec<Step>,
    /// How much of everything there is.
    pub sums: Sums,
    /// How many customers were in it.
    pub customers: i64,
    /// Whether nothing was due any more when it was counted.
    pub is_at_rest: bool,
    /// The checkouts that it left in the shop.
    pub checkouts: Vec<String>,
}

/// Why a run is not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBegun {
    /// The provider is not the simulator that this process runs.
    #[error(
        "The lab charges cards, and so it needs the simulator that the shop itself has started. This shop uses another provider: start it without --provider-url."
    )]
    NoSimulator,
    /// Enough of them wait already.
    #[error("Enough runs wait already. Try again when one of them is over.")]
    TooMany,
}

impl Run {
    /// How far it has come.
    pub fn stage(&self) -> Stage {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.clone()
    }

    fn ends(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }
}

impl Lab {
    /// Begins a run, in a task of its own.
    pub fn begin(&self, app: &App, scenario: &'static Scenario) -> Result<Arc<Run>, NotBegun> {
        self.simulator().map_err(|_| NotBegun::NoSimulator)?;
        let run = Arc::new(Run {
            id: Uuid::new_v4(),
            scenario,
            stage: Mutex::new(Stage::Playing),
        });
        self.remember(Arc::clone(&run))?;
        let (lab, own, played) = (self.clone(), app.clone(), Arc::clone(&run));
        app.tasks.spawn(async move {
            let _turn = lab.runs().turn.lock().await;
            let stage = match lab.play(&own, &played).await {
                Ok(ended) => Stage::Over(Arc::new(ended)),
                Err(error) => {
                    tracing::warn!(%error, scenario = scenario.name, "a run of the lab was stopped");
                    Stage::Stopped(error.to_string())
                }
            };
            played.ends(stage);
        });
        Ok(run)
    }

    /// The run with this id.
    pub fn run(&self, id: Uuid) -> Option<Arc<Run>> {
        self.known_runs().into_iter().find(|run| run.id == id)
    }

    /// Those that are remembered, the latest first.
    pub fn known_runs(&self) -> Vec<Arc<Run>> {
        let known = self
            .runs()
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.iter().rev().cloned().collect()
    }

    /// Forgets those that are over.
    pub(super) fn forget_runs(&self) {
        let mut known = self
            .runs()
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.retain(|run| matches!(run.stage(), Stage::Playing));
    }

    /// Nobody plays while this is held.
    pub(super) async fn between_runs(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.runs().turn.lock().await
    }

    fn remember(&self, run: Arc<Run>) -> Result<(), NotBegun> {
        let mut known = self
            .runs()
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let playing = known
            .iter()
            .filter(|run| matches!(run.stage(), Stage::Playing));
        if playing.count() >= WAITING_MAX {
            return Err(NotBegun::TooMany);
        }
        if known.len() >= REMEMBERED {
            known.pop_front();
        }
        known.push_back(run);
        Ok(())
    }

    async fn play(&self, app: &App, run: &Run) -> Result<Played, Failed> {
        Ok(Played {
            naive: self.play_with(app, run, Flow::Naive).await?,
            safe: self.play_with(app, run, Flow::Safe).await?,
        })
    }

    async fn play_with(&self, app: &App, run: &Run, flow: Flow) -> Result<Ending, Failed> {
        let mut scene = Scene::set(self, app, flow, run.id)?;
        shelf::fill(&scene).await?;
        let before = match flow {
            Flow::Naive => shelf::of_twin(&scene).await?,
            Flow::Safe => 0,
        };
        (run.scenario.play)(&mut scene).await?;
        let is_at_rest = scene.rest().await?;
        let checkouts = tally::checkouts(&scene).await?;
        Ok(Ending {
            is_at_rest,
            sums: tally::sums(&scene, before).await?,
            customers: i64::try_from(scene.customers.len())?,
            steps: scene.steps().await?,
            checkouts: checkouts.iter().map(ToString::to_string).collect(),
        })
    }
}
