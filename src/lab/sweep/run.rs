//! One run: a story in a fresh world, with the strikes that are to happen in it.

use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use super::{
    scenarios::Scenario,
    strike::Strikes,
    verdict::{self, Violation},
};
use crate::lab::{
    flow::{Failed, Opening, Premises},
    story::Stopped,
    world::{Ground, Moment, Tally, World},
};

/// A story, and what goes wrong in it.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) scenario: &'static Scenario,
    pub(super) strikes: Strikes,
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// The boundaries that it passed.
    pub(super) moments: Vec<Moment>,
    pub(super) violations: Vec<Violation>,
    pub(super) tally: Tally,
    pub(super) took: Duration,
}

/// Where runs are made, one after the other, with the provider beside them.
pub(super) fn runtime() -> Result<Runtime, Failed> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

impl Run {
    pub(super) async fn make(
        &self,
        ground: &Ground,
        open: fn(Premises) -> Opening,
    ) -> Result<Ended, Failed> {
        let began = Instant::now();
        let mut world = World::begin(ground, open, self.strikes.plan()).await?;
        let told = self.scenario.tell(&mut world).await;
        let moments = world.moments();
        let mut violations = Vec::new();
        match told {
            Ok(()) => {}
            Err(Stopped::Failed(error)) => {
                let (name, strikes) = (self.scenario.name, &self.strikes);
                return Err(format!("{name} with {strikes}: {error}").into());
            }
            Err(stopped) => {
                violations.push(Violation::of_story(&stopped));
                // Whatever the story could not finish, the world does.
                let _ = world.go_on().await?;
            }
        }
        let tally = world.tally().await?;
        violations.extend(verdict::compare(&tally, &self.scenario.promise));
        world.end().await;
        Ok(Ended {
            moments,
            violations,
            tally,
            took: began.elapsed(),
        })
    }
}
