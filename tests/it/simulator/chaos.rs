//! Faults at random, that can be replayed.

use std::collections::HashMap;

use boring_checkout::simulator::{Chaos, ChaosRates, Fault, SimulatorConfig};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    receiver::{Receiver, everything_is_delivered},
    world::{PURCHASE, World, eventually},
};

const RATES: ChaosRates = ChaosRates {
    drop_request: 0.1,
    drop_response: 0.1,
    error_before: 0.1,
    error_after: 0.1,
    rate_limit: 0.1,
    ..ChaosRates::NONE
};

async fn in_chaos(chaos: Chaos) -> World {
    World::with(SimulatorConfig {
        chaos: Some(chaos),
        ..SimulatorConfig::default()
    })
    .await
}

/// The faults that the requests of an operation met, in the order in which they arrived.
fn met(world: &World, operation: &str) -> Vec<Option<&'static str>> {
    let requests = world.levers().requests();
    let of_operation = requests
        .iter()
        .rev()
        .filter(|it| it.operation == Some(operation));
    of_operation.map(|it| it.fault).collect()
}

async fn buys_in_a_row(world: &World, number: usize) {
    for _ in 0..number {
        let _ = world
            .try_call(Method::POST, "/v1/payment_intents", PURCHASE, &[])
            .await;
    }
}

#[tokio::test]
async fn the_same_seed_meets_the_same_faults_and_another_seed_others() {
    let chaos = |seed| Chaos { seed, rates: RATES };
    let mut runs = Vec::new();
    for seed in [7, 7, 8] {
        let world = in_chaos(chaos(seed)).await;
        buys_in_a_row(&world, 40).await;
        runs.push(met(&world, "payment_intents.create"));
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
    assert!(runs[0].iter().any(Option::is_some) && runs[0].iter().any(Option::is_none));
}

#[tokio::test]
async fn what_else_happens_at_the_same_time_changes_nothing() {
    let alone = in_chaos(Chaos {
        seed: 7,
        rates: RATES,
    })
    .await;
    buys_in_a_row(&alone, 40).await;

    let busy = in_chaos(Chaos {
        seed: 7,
        rates: RATES,
    })
    .await;
    let buying = (0..40).map(|_| busy.try_call(Method::POST, "/v1/payment_intents", PURCHASE, &[]));
    let looking = (0..40).map(|_| busy.try_call(Method::GET, "/v1/events", "", &[]));
    tokio::join!(join_all(buying), join_all(looking));

    // Which of the requests is the nth is up to the network; that the nth meets its fault is not.
    let tally = |met: Vec<Option<&'static str>>| {
        let mut tally: HashMap<Option<&str>, usize> = HashMap::new();
        for fault in met {
            *tally.entry(fault).or_default() += 1;
        }
        tally
    };
    let create = "payment_intents.create";
    assert_eq!(tally(met(&alone, create)), tally(met(&busy, create)));
}

#[tokio::test]
async fn an_armed_fault_comes_first_and_the_numbers_after_it_stay() {
    let undisturbed = in_chaos(Chaos {
        seed: 7,
        rates: RATES,
    })
    .await;
    buys_in_a_row(&undisturbed, 10).await;
    let disturbed = in_chaos(Chaos {
        seed: 7,
        rates: RATES,
    })
    .await;
    disturbed
        .levers()
        .arm(
            Fault::on_operation("*")
                .delay(std::time::Duration::ZERO)
                .times(3),
        )
        .unwrap();
    buys_in_a_row(&disturbed, 10).await;

    let create = "payment_intents.create";
    let (expected, seen) = (met(&undisturbed, create), met(&disturbed, create));
    assert_eq!(seen[..3], [Some("delay"); 3]);
    assert_eq!(seen[3..], expected[3..]);
}

#[tokio::test]
async fn chaos_is_started_shown_and_ended_by_control_calls() {
    let world = World::open().await;
    let off = json!({"seed": null, "rates": {}});
    assert_eq!(world.get("/_control/chaos").await.body, off);

    let started = world
        .control("chaos", json!({"seed": 7, "rates": {"rate_limit": 1}}))
        .await;

    assert_eq!(started["seed"], 7);
    assert_eq!(started["rates"]["rate_limit"], 1.0);
    assert_eq!(started["rates"]["drop_response"], 0.0);
    assert_eq!(world.get("/_control/chaos").await.body, started);
    assert_eq!(world.buys(PURCHASE).await.status, 429);
    let ended = world.call(Method::DELETE, "/_control/chaos", "", &[]).await;
    assert_eq!(ended.body, off);
    assert_eq!(world.buys(PURCHASE).await.status, 200);
    let default = world.control("chaos", json!({"seed": 7})).await;
    assert_eq!(default["rates"]["hang"], 0.0);
    assert!(default["rates"]["drop_response"].as_f64().unwrap() > 0.0);
    assert!(default["rates"]["webhook_reorder"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn rates_that_are_none_are_refused_with_a_sentence() {
    let world = World::open().await;
    for (chaos, about) in [
        (json!({}), "seed"),
        (json!({"seed": -1}), "-1"),
        (json!({"seed": 1, "rates": {"drop": 0.1}}), "drop"),
        (json!({"seed": 1, "rates": {"hang": 1.5}}), "hang"),
        (json!({"seed": 1, "rates": {"hang": -0.5}}), "hang"),
        (
            json!({"seed": 1, "rates": {"hang": 0.6, "delay": 0.6}}),
            "requests",
        ),
        (
            json!({"seed": 1, "rates": {"webhook_drop": 0.6, "webhook_delay": 0.6}}),
            "webhooks",
        ),
        (json!({"seed": 1, "rates": {}}), "rate"),
        (json!({"seed": 1, "rate": {"hang": 0.5}}), "rate"),
    ] {
        let refused = world.try_control("chaos", chaos.clone()).await;
        assert_eq!(refused.status, 400, "{chaos}");
        let message = refused.error()["message"].as_str().unwrap();
        assert!(
            message.contains(about) && message.ends_with('.'),
            "{chaos}: {message}"
        );
    }
    assert_eq!(world.get("/_control/chaos").await.body["seed"], Value::Null);
    let hopeless = SimulatorConfig {
        chaos: Some(Chaos {
            seed: 1,
            rates: ChaosRates::NONE,
        }),
        ..SimulatorConfig::default()
    };
    let refused = boring_checkout::simulator::Simulator::start_with(hopeless).await;
    assert!(refused.unwrap_err().to_string().contains("rate"));
}

#[tokio::test]
async fn a_reset_starts_the_chaos_it_was_started_with_again() {
    let world = in_chaos(Chaos {
        seed: 7,
        rates: RATES,
    })
    .await;
    buys_in_a_row(&world, 20).await;
    let first = met(&world, "payment_intents.create");
    world.control("chaos", json!({"seed": 8})).await;

    world.control("reset", json!({})).await;

    assert_eq!(world.get("/_control/chaos").await.body["seed"], 7);
    buys_in_a_row(&world, 20).await;
    assert_eq!(met(&world, "payment_intents.create"), first);
}

#[tokio::test]
async fn events_arrive_at_least_once_in_spite_of_it() {
    // The receiver's port is another one each time, and with it the faults: enough for some of each kind.
    const EVENTS: usize = 30;
    let receiver = Receiver::open().await;
    let world = World::with(SimulatorConfig {
        webhooks: vec![receiver.target()],
        chaos: Some(Chaos {
            seed: 7,
            rates: ChaosRates {
                webhook_drop: 0.5,
                webhook_duplicate: 0.5,
                ..ChaosRates::NONE
            },
        }),
        ..SimulatorConfig::default()
    })
    .await;

    for _ in 0..EVENTS {
        world.buys("amount=100&currency=usd").await;
    }
    eventually("all were tried", || async {
        world.levers().deliveries().await.unwrap().len() >= EVENTS
    })
    .await;
    world.levers().end_chaos();
    world.advances(3).await;
    everything_is_delivered(&world).await;

    let letters = receiver.letters();
    let ids: std::collections::HashSet<_> = letters
        .iter()
        .map(|it| it.event["id"].to_string())
        .collect();
    assert_eq!(ids.len(), EVENTS);
    assert!(letters.len() > EVENTS, "some came twice");
    let failed = world.levers().deliveries().await.unwrap();
    assert!(
        failed.iter().any(|it| it.error.is_some()),
        "some were dropped"
    );
}
