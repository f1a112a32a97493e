//! Faults that strike one key, one path or one endpoint, and leave the others alone.

use serde_json::{Value, json};

use super::{
    receiver::{Receiver, everything_is_delivered},
    world::{PURCHASE, World, eventually},
};
use boring_checkout::simulator::SimulatorConfig;

#[tokio::test]
async fn a_fault_on_a_key_counts_the_requests_with_that_key() {
    let world = World::open().await;
    world
        .faults(json!({"on": {"key": "mine"}, "fault": "rate_limit", "skip": 1}))
        .await;

    let mut statuses = Vec::new();
    for key in ["mine", "other", "other", "mine", "mine"] {
        statuses.push(world.buys_with_key(PURCHASE, key).await.status);
    }

    assert_eq!(statuses, [200, 200, 200, 429, 200]);
    let journal = world.get("/_control/requests").await.body;
    assert_eq!(journal["data"][1]["fault"], "rate_limit");
    assert_eq!(journal["data"][1]["idempotency_key"], "mine");
    assert_eq!(journal["data"][0]["fault"], Value::Null);
}

#[tokio::test]
async fn a_fault_on_a_path_strikes_one_payment() {
    let world = World::open().await;
    let (one, other) = (
        world.buys("amount=100&currency=usd").await,
        world.buys("amount=100&currency=usd").await,
    );
    let confirm = |id: &str| format!("/v1/payment_intents/{id}/confirm");
    world
        .faults(json!({"on": {"path": confirm(one.id())}, "fault": "error_before"}))
        .await;
    world
        .faults(json!({"on": {"path": format!("/v1/payment_intents/{}*", other.id()), "operation": "payment_intents.retrieve"}, "fault": "rate_limit"}))
        .await;

    let card = "payment_method=pm_card_visa&return_url=https://shop.example";
    assert_eq!(world.post(&confirm(other.id()), card).await.status, 200);
    assert_eq!(world.post(&confirm(one.id()), card).await.status, 500);
    assert_eq!(world.post(&confirm(one.id()), card).await.status, 200);
    let retrieve = |id: &str| format!("/v1/payment_intents/{id}");
    assert_eq!(world.get(&retrieve(one.id())).await.status, 200);
    assert_eq!(world.get(&retrieve(other.id())).await.status, 429);
}

#[tokio::test]
async fn a_fault_on_an_endpoint_leaves_the_other_one_alone() {
    let (lossy, sound) = (Receiver::open().await, Receiver::open().await);
    let world = World::with(SimulatorConfig {
        webhooks: vec![lossy.target(), sound.target()],
        ..SimulatorConfig::default()
    })
    .await;
    world
        .faults(json!({"on": {"webhook": "payment_intent.created", "url": lossy.url()}, "fault": "duplicate", "copies": 3}))
        .await;
    world
        .faults(json!({"on": {"url": sound.url()}, "fault": "drop"}))
        .await;

    world.buys("amount=100&currency=usd").await;
    eventually("both were tried", || async {
        world.get("/_control/deliveries").await.body["data"]
            .as_array()
            .unwrap()
            .len()
            == 4
    })
    .await;

    assert_eq!((lossy.letters().len(), sound.letters().len()), (3, 0));
    world.advances(3).await;
    everything_is_delivered(&world).await;
    assert_eq!((lossy.letters().len(), sound.letters().len()), (3, 1));
}

#[tokio::test]
async fn a_fault_that_could_never_strike_is_refused_with_a_sentence() {
    let world = World::open().await;
    let long_key = "k".repeat(256);
    for (on, about) in [
        (json!({}), "one of the two"),
        (json!({"key": "k", "webhook": "*"}), "one of the two"),
        (
            json!({"operation": "*", "url": "http://127.0.0.1/"}),
            "one of the two",
        ),
        (json!({"key": ""}), "key"),
        (json!({"key": long_key}), "key"),
        (json!({"key": "clé"}), "key"),
        (json!({"key": " k"}), "key"),
        (json!({"path": ""}), "/v1/"),
        (json!({"path": "/_control/ledger"}), "/v1/"),
        (json!({"path": "payment_intents"}), "/v1/"),
        (json!({"path": "/v1/*/confirm"}), "other *"),
        (json!({"path": "/v1/events?limit=1"}), "question mark"),
        (json!({"path": "/v1/nothing"}), "no operation"),
        (
            json!({"path": "/v1/payment_intents/pi_1/confirms"}),
            "no operation",
        ),
        (json!({"path": "/v1/nothing*"}), "no operation"),
        (
            json!({"path": "/v1/events", "operation": "payment_intents.create"}),
            "events.list",
        ),
        (
            json!({"path": "/v1/events*", "operation": "payment_intents.create"}),
            "payment_intents.create",
        ),
        (
            json!({"key": "k", "operation": "payment_intents.list"}),
            "GET",
        ),
        (json!({"key": "k", "path": "/v1/charges/ch_1"}), "GET"),
        (
            json!({"webhook": "payment_intent.paid"}),
            "payment_intent.succeeded",
        ),
        (json!({"url": "127.0.0.1/hook"}), "URL"),
        (json!({"url": "ftp://127.0.0.1/hook"}), "http://"),
    ] {
        let fault = if on.get("webhook").or(on.get("url")).is_some() {
            "drop"
        } else {
            "hang"
        };
        let refused = world
            .try_control("faults", json!({"on": on, "fault": fault}))
            .await;
        assert_eq!(refused.status, 400, "{on}");
        let message = refused.error()["message"].as_str().unwrap();
        assert!(
            message.contains(about) && message.ends_with('.'),
            "{on}: {message}"
        );
    }
    assert_eq!(world.get("/_control/faults").await.body["data"], json!([]));
}

#[tokio::test]
async fn every_way_to_narrow_a_fault_that_can_strike_is_accepted() {
    let world = World::open().await;
    for on in [
        json!({"path": "*"}),
        json!({"path": "/v1*"}),
        json!({"path": "/v1/payment_intents*", "key": "k"}),
        json!({"path": "/v1/payment_intents/pi_1/co*"}),
        json!({"path": "/v1/payment_intents/pi_1*", "operation": "payment_intents.cancel"}),
        json!({"path": "/v1/payment_intents/pi_1/confirm", "operation": "*", "key": "k"}),
        json!({"operation": "payment_intents.confirm", "key": "k", "path": "/v1/payment_intents/pi_1/confirm"}),
    ] {
        let armed = world
            .control("faults", json!({"on": on, "fault": "hang"}))
            .await;
        assert_eq!(armed["on"], on);
    }
}
