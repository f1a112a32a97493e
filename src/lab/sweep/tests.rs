//! The sweep itself.

use super::{scenarios::SCENARIOS, *};
use crate::lab::world::Moment;

async fn told(name: &str, strikes: &Strikes) -> Vec<Moment> {
    let ground = Ground::sqlite().await.expect("a ground");
    let scenario = Scenario::named(name).expect("a scenario");
    let strikes = strikes.clone();
    let run = Run { scenario, strikes };
    let ended = run.make(&ground, safe::open).await.expect("a run");
    assert_eq!(ended.violations, [], "{name}");
    ground.remove().await.expect("removed");
    ended.moments
}

/// Else the number of a boundary would name nothing.
#[tokio::test]
async fn a_story_that_is_told_again_passes_the_same_boundaries() {
    for fault in ["crash@100", "lost@120", "error-after@100", "again@100"] {
        let strikes = fault.parse().expect(fault);
        let (once, again) = (told("paid", &strikes).await, told("paid", &strikes).await);
        assert!(once.len() > 200, "{fault}: {}", once.len());
        assert_eq!(once, again, "{fault}");
    }
}

#[tokio::test]
async fn every_story_keeps_its_promise_where_nothing_goes_wrong() {
    for scenario in SCENARIOS {
        told(scenario.name, &Strikes::default()).await;
    }
}
