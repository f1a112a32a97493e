//! Looking for events that were missed, and asking for them again.

use serde_json::{Value, json};

use super::{
    receiver::{Receiver, SECRET, attempts, everything_is_delivered, failed, pending},
    world::{PURCHASE, World, eventually},
};

const DAY: i64 = 24 * 60 * 60;

async fn types(world: &World, query: &str) -> Vec<Value> {
    let list = world.get(&format!("/v1/events?{query}")).await.body;
    let events = list["data"].as_array().unwrap();
    events.iter().map(|event| event["type"].clone()).collect()
}

async fn the_event(world: &World, kind: &str) -> String {
    let list = world.get(&format!("/v1/events?type={kind}")).await.body;
    list["data"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn events_that_did_not_arrive_can_be_listed() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    let nobody = "url=http://127.0.0.1:1/&enabled_events[]=charge.succeeded";
    world.post("/v1/webhook_endpoints", nobody).await;

    world.buys(PURCHASE).await;
    // Delivered at one endpoint and failed at the other.
    failed(&world, 5).await;

    let missed = "delivery_success=false";
    assert_eq!(types(&world, missed).await, ["charge.succeeded"]);
    assert_eq!(
        types(&world, "delivery_success=true").await,
        [
            "charge.updated",
            "payment_intent.succeeded",
            "payment_intent.created"
        ]
    );
    let both = format!("{missed}&types[]=charge.succeeded&types[]=charge.updated");
    assert_eq!(types(&world, &both).await, ["charge.succeeded"]);
    assert_eq!(
        world.get("/v1/events?delivery_success=maybe").await.error()["param"],
        "delivery_success"
    );
    for seconds in [5, 5 * 60, 3 * 60 * 60] {
        let before = attempts(&world).await.len();
        world.advances(seconds).await;
        failed(&world, before + 1).await;
    }
    assert_eq!(
        types(&world, missed).await,
        ["charge.succeeded"],
        "given up is not delivered"
    );
}

#[tokio::test]
async fn events_are_shown_for_thirty_days() {
    let world = World::open().await;
    world.buys("amount=100&currency=usd").await;
    let event = the_event(&world, "payment_intent.created").await;
    let path = format!("/v1/events/{event}");

    world.advances(30 * DAY - 60).await;
    assert_eq!(types(&world, "").await.len(), 1);
    assert_eq!(world.get(&path).await.status, 200);
    world.advances(120).await;

    assert_eq!(types(&world, "").await.len(), 0);
    assert_eq!(types(&world, "created[gte]=0").await.len(), 0);
    assert_eq!(world.get(&path).await.status, 404);
}

#[tokio::test]
async fn an_event_is_resent_to_one_endpoint_and_its_retries_go_on() {
    let (receiver, other) = (Receiver::open().await, Receiver::open().await);
    receiver.answers(&[500]);
    let world = World::open().await;
    let mut endpoints = Vec::new();
    for receiver in [&receiver, &other] {
        let form = format!("url={}&enabled_events[]=*", receiver.url());
        let created = world.post("/v1/webhook_endpoints", &form).await;
        endpoints.push(created.id().to_owned());
    }
    world.buys("amount=100&currency=usd").await;
    failed(&world, 2).await;
    let event = the_event(&world, "payment_intent.created").await;
    let resend = format!("/v1/events/{event}/retry");

    let form = format!("webhook_endpoint={}", endpoints[0]);
    let answer = world.post_with_key(&resend, &form, "k").await;
    world.post_with_key(&resend, &form, "k").await;
    receiver.gets(2).await;
    failed(&world, 3).await;

    assert_eq!(answer.status, 200);
    assert_eq!(answer.id(), event);
    let last = attempts(&world).await[0].clone();
    assert_eq!(last["status"], 200);
    assert_eq!(last["endpoint"], endpoints[0].as_str());
    assert_eq!(
        pending(&world).await,
        1,
        "the automatic one is still to come"
    );
    world.advances(5).await;
    everything_is_delivered(&world).await;
    assert_eq!(receiver.letters().len(), 3);
    assert_eq!(other.letters().len(), 1);
}

#[tokio::test]
async fn a_manual_delivery_leaves_the_retries_alone() {
    let receiver = Receiver::open().await;
    receiver.answers(&[500]);
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world.buys("amount=100&currency=usd").await;
    failed(&world, 1).await;
    let event = the_event(&world, "payment_intent.created").await;

    let sent = world
        .control(&format!("events/{event}/deliver"), json!({}))
        .await;
    assert_eq!(sent["deliveries"][0]["status"], 200);
    assert_eq!(pending(&world).await, 1);
    world.advances(5).await;
    everything_is_delivered(&world).await;

    assert_eq!(receiver.letters().len(), 3);
}

/// It failed, and that was all: somebody who looks may ask again.
#[tokio::test]
async fn a_resend_that_fails_is_not_retried() {
    let world = World::with_webhook("http://127.0.0.1:1/".to_owned(), SECRET).await;
    world.buys("amount=100&currency=usd").await;
    failed(&world, 1).await;
    let event = the_event(&world, "payment_intent.created").await;
    let endpoint = world.get("/v1/webhook_endpoints").await.body["data"][0]["id"].clone();

    let form = format!("webhook_endpoint={}", endpoint.as_str().unwrap());
    world
        .post(&format!("/v1/events/{event}/retry"), &form)
        .await;
    failed(&world, 2).await;

    assert_eq!(attempts(&world).await[0]["next_attempt_at"], Value::Null);
    world.advances(4 * 60 * 60).await;
    failed(&world, 3).await;
    let retried = |attempt: &Value| attempt["next_attempt_at"].is_string();
    assert!(retried(&attempts(&world).await[0]), "the automatic one");
}

#[tokio::test]
async fn a_resend_that_fails_makes_nothing_undelivered() {
    let receiver = Receiver::open().await;
    receiver.answers(&[200, 500]);
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world.buys("amount=100&currency=usd").await;
    everything_is_delivered(&world).await;
    let event = the_event(&world, "payment_intent.created").await;
    let endpoint = world.get("/v1/webhook_endpoints").await.body["data"][0]["id"].clone();

    let form = format!("webhook_endpoint={}", endpoint.as_str().unwrap());
    world
        .post(&format!("/v1/events/{event}/retry"), &form)
        .await;
    failed(&world, 2).await;

    assert_eq!(attempts(&world).await[0]["status"], 500);
    assert_eq!(pending(&world).await, 0);
    assert!(types(&world, "delivery_success=false").await.is_empty());
}

#[tokio::test]
async fn what_cannot_be_resent_is_refused() {
    let world = World::with_webhook("http://127.0.0.1:1/".to_owned(), SECRET).await;
    world.buys("amount=100&currency=usd").await;
    failed(&world, 1).await;
    let event = the_event(&world, "payment_intent.created").await;
    let endpoints = world.get("/v1/webhook_endpoints").await.body;
    let endpoint = endpoints["data"][0]["id"].as_str().unwrap();
    let resend = format!("/v1/events/{event}/retry");
    let to_it = format!("webhook_endpoint={endpoint}");

    let nobody = world.post(&resend, "webhook_endpoint=we_nobody").await;
    assert_eq!(
        (nobody.status, &nobody.error()["code"]),
        (400, &json!("resource_missing"))
    );
    assert_eq!(
        world.post(&resend, "").await.error()["code"],
        "parameter_missing"
    );
    assert_eq!(
        world
            .post("/v1/events/evt_nobody/retry", &to_it)
            .await
            .status,
        404
    );
    world
        .post(
            &format!("/v1/webhook_endpoints/{endpoint}"),
            "disabled=true",
        )
        .await;
    assert_eq!(world.post(&resend, &to_it).await.status, 400);
    world
        .post(
            &format!("/v1/webhook_endpoints/{endpoint}"),
            "disabled=false",
        )
        .await;
    world.advances(31 * DAY).await;
    assert_eq!(world.post(&resend, &to_it).await.status, 404);
}

#[tokio::test]
async fn the_journal_tells_which_fault_struck_each_attempt_and_survives_a_restart() {
    let receiver = Receiver::open().await;
    let world = World::on_disk(vec![receiver.target()]).await;
    for fault in [
        json!({"fault": "drop"}),
        json!({"fault": "duplicate", "copies": 2}),
        json!({"fault": "bad_signature"}),
        json!({"fault": "delay", "delay_ms": 600_000}),
        json!({"fault": "reorder"}),
    ] {
        let mut fault = fault;
        fault["on"] = json!({"webhook": "payment_intent.created"});
        world.faults(fault).await;
        world.buys("amount=100&currency=usd").await;
    }
    eventually("every fault has struck", || async {
        world.get("/_control/faults").await.body["data"] == json!([])
    })
    .await;
    // Those that wait are not attempted yet, and go on waiting in the next process.
    failed(&world, 4).await;
    let world = world.restart().await;
    world.advances(600).await;
    failed(&world, 7).await;
    everything_is_delivered(&world).await;

    let faults: Vec<Value> = attempts(&world)
        .await
        .iter()
        .map(|attempt| attempt["fault"].clone())
        .collect();
    let count = |name: Value| faults.iter().filter(|fault| **fault == name).count();
    for (fault, lines) in [
        ("drop", 1),
        ("duplicate", 2),
        ("bad_signature", 1),
        ("delay", 1),
        ("reorder", 1),
    ] {
        assert_eq!(count(json!(fault)), lines, "{fault}: {faults:?}");
    }
    assert_eq!(count(Value::Null), 1, "the retry of what was dropped");
    eventually("all five have arrived", || async {
        receiver.letters().len() == 6
    })
    .await;
}
