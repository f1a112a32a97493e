//! Each way in which a delivery can go wrong.

use futures_util::future::join_all;
use serde_json::json;

use super::{
    receiver::{Receiver, SECRET, everything_is_delivered, failed, is_genuine, pending},
    world::{PURCHASE, World, eventually},
};

#[tokio::test]
async fn a_duplicated_event_arrives_as_often_as_asked() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world.faults(json!({"on": {"webhook": "payment_intent.succeeded"}, "fault": "duplicate", "copies": 5})).await;

    world.buys(PURCHASE).await;
    everything_is_delivered(&world).await;

    assert_eq!(receiver.count("payment_intent.succeeded"), 5);
    assert_eq!(receiver.count("charge.succeeded"), 1);
}

#[tokio::test]
async fn a_dropped_event_is_retried() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world
        .faults(json!({"on": {"webhook": "payment_intent.created"}, "fault": "drop"}))
        .await;

    world.buys("amount=100&currency=usd").await;
    failed(&world, 1).await;
    assert_eq!(receiver.letters().len(), 0);
    world.advances(5).await;
    everything_is_delivered(&world).await;

    assert_eq!(receiver.letters().len(), 1);
}

#[tokio::test]
async fn a_reordered_event_arrives_after_a_later_one() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world
        .faults(json!({"on": {"webhook": "payment_intent.created"}, "fault": "reorder"}))
        .await;

    let first = world.buys("amount=100&currency=usd").await;
    let second = world.buys("amount=200&currency=usd").await;
    everything_is_delivered(&world).await;

    let order: Vec<String> = receiver
        .letters()
        .iter()
        .map(|letter| {
            letter.event["data"]["object"]["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(order, [second.id(), first.id()]);
}

#[tokio::test]
async fn a_badly_signed_event_is_not_genuine_and_its_retry_is() {
    let receiver = Receiver::open().await;
    receiver.answers(&[400]);
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world
        .faults(json!({"on": {"webhook": "*"}, "fault": "bad_signature"}))
        .await;

    world.buys("amount=100&currency=usd").await;
    failed(&world, 1).await;
    world.advances(5).await;
    everything_is_delivered(&world).await;

    let genuine: Vec<bool> = receiver.letters().iter().map(is_genuine).collect();
    assert_eq!(genuine, [false, true]);
}

#[tokio::test]
async fn a_delayed_event_is_overtaken() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world.faults(json!({"on": {"webhook": "payment_intent.created"}, "fault": "delay", "delay_ms": 600_000})).await;

    world.buys(PURCHASE).await;
    receiver.gets(3).await;

    assert_eq!(receiver.count("payment_intent.created"), 0);
    assert_eq!(pending(&world).await, 1);
}

#[tokio::test]
async fn those_that_are_delayed_leave_their_places_to_others() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world
        .faults(json!({"on": {"webhook": "*"}, "fault": "drop", "times": 50}))
        .await;
    join_all((0..50).map(|_| world.buys("amount=100&currency=usd"))).await;
    failed(&world, 50).await;

    // All fifty are due at once, more than are sent at a time, and nearly all of them are to wait.
    world
        .faults(json!({"on": {"webhook": "*"}, "fault": "delay", "delay_ms": 600_000, "times": 46}))
        .await;
    world.advances(5).await;

    receiver.gets(4).await;
    eventually("the others wait", || async { pending(&world).await == 46 }).await;
    assert_eq!(receiver.letters().len(), 4);
}
