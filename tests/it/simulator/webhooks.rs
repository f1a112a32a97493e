//! Events on their way to a receiver.

use std::time::Duration;

use boring_checkout::simulator::{SimulatorConfig, WebhookTarget};
use chrono::DateTime;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    receiver::{Receiver, SECRET, attempts, everything_is_delivered, failed, is_genuine, pending},
    world::{PURCHASE, World},
};

#[tokio::test]
async fn every_event_arrives_signed() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    // Whatever the simulator's clock says, a signature is of this moment.
    world.advances(1_000_000).await;

    let paid = world.buys_with_key(PURCHASE, "wish").await;
    world.settles().await;
    everything_is_delivered(&world).await;

    let letters = receiver.letters();
    assert_eq!(letters.len(), 4);
    assert!(letters.iter().all(is_genuine));
    let succeeded = letters
        .iter()
        .find(|letter| letter.event["type"] == "payment_intent.succeeded")
        .unwrap();
    assert_eq!(succeeded.event["data"]["object"], paid.body);
    assert_eq!(succeeded.event["request"]["idempotency_key"], "wish");
    assert_eq!(succeeded.event["pending_webhooks"], 1);
    let journal = attempts(&world).await;
    assert_eq!(journal.len(), 4);
    assert_eq!(journal[0]["status"], 200);
    assert_eq!(journal[0]["url"], receiver.url());
}

#[tokio::test]
async fn a_replayed_request_sends_no_second_webhook() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;

    world.buys_with_key(PURCHASE, "k").await;
    world.buys_with_key(PURCHASE, "k").await;
    world.settles().await;
    everything_is_delivered(&world).await;

    assert_eq!(world.ledger().await["events"], 4);
    assert_eq!(receiver.letters().len(), 4);
}

#[tokio::test]
async fn an_event_is_sent_again_until_it_is_accepted() {
    let receiver = Receiver::open().await;
    receiver.answers(&[500, 302]);
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world.buys("amount=100&currency=usd").await;

    for (sent, seconds) in [(1, 5), (2, 300)] {
        failed(&world, sent).await;
        world.advances(seconds).await;
    }
    everything_is_delivered(&world).await;

    assert_eq!(receiver.count("payment_intent.created"), 3);
    let statuses: Vec<Value> = attempts(&world)
        .await
        .iter()
        .map(|attempt| attempt["status"].clone())
        .collect();
    assert_eq!(statuses, [json!(200), json!(302), json!(500)]);
    let numbers: Vec<Value> = attempts(&world)
        .await
        .iter()
        .map(|attempt| attempt["attempt"].clone())
        .collect();
    assert_eq!(numbers, [json!(3), json!(2), json!(1)]);
}

#[tokio::test]
async fn a_receiver_that_was_down_gets_everything_later() {
    let receiver = Receiver::open().await;
    let (address, url) = (receiver.address, receiver.url());
    drop(receiver);
    let world = World::with_webhook(url, SECRET).await;
    world.buys(PURCHASE).await;
    world.settles().await;
    failed(&world, 4).await;
    assert!(
        attempts(&world)
            .await
            .iter()
            .all(|attempt| attempt["error"].is_string())
    );

    let receiver = Receiver::open_at(address).await;
    world.advances(5).await;
    everything_is_delivered(&world).await;

    assert_eq!(receiver.letters().len(), 4);
}

#[tokio::test]
async fn deliveries_survive_a_restart() {
    let receiver = Receiver::open().await;
    receiver.answers(&[500; 4]);
    let world = World::on_disk(vec![receiver.target()]).await;
    world.buys(PURCHASE).await;
    world.settles().await;
    failed(&world, 4).await;

    let world = world.restart().await;
    world.advances(5).await;
    everything_is_delivered(&world).await;

    assert_eq!(receiver.letters().len(), 8);
    assert_eq!(receiver.count("payment_intent.succeeded"), 2);
}

#[tokio::test]
async fn a_delivery_is_retried_three_times_over_a_few_hours_and_then_given_up() {
    let world = World::on_disk(vec![nobody()]).await;
    world.buys("amount=100&currency=usd").await;
    failed(&world, 1).await;
    // Neither the attempts nor the schedule are forgotten.
    let world = world.restart().await;

    for (retry, seconds) in [(1, 5), (2, 5 * 60), (3, 3 * 60 * 60)] {
        let last = attempts(&world).await[0].clone();
        assert_eq!(time(&last, "next_attempt_at") - time(&last, "at"), seconds);
        world.advances(seconds).await;
        failed(&world, retry + 1).await;
    }

    let made = attempts(&world).await;
    for pair in made.windows(2) {
        assert!(time(&pair[0], "at") >= time(&pair[1], "next_attempt_at"));
    }
    assert_eq!(made[0]["attempt"], 4);
    assert_eq!(made[0]["next_attempt_at"], Value::Null);
    assert_eq!(pending(&world).await, 1, "it never arrived");
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_none() {
    let silent = Receiver::silent().await;
    let world = World::with(SimulatorConfig {
        webhooks: vec![silent.target()],
        webhook_timeout: Duration::from_millis(50),
        ..SimulatorConfig::default()
    })
    .await;

    world.buys("amount=100&currency=usd").await;
    failed(&world, 1).await;

    let attempt = attempts(&world).await[0].clone();
    assert_eq!(attempt["error"], "timed out");
    assert_eq!(attempt["status"], Value::Null);
    assert!(attempt["next_attempt_at"].is_string());
}

/// Nobody listens on this port.
fn nobody() -> WebhookTarget {
    WebhookTarget {
        url: "http://127.0.0.1:1/hook".to_owned(),
        secret: SECRET.to_owned(),
    }
}

/// Unix seconds.
fn time(attempt: &Value, name: &str) -> i64 {
    let text = attempt[name].as_str().unwrap();
    DateTime::parse_from_rfc3339(text).unwrap().timestamp()
}

#[tokio::test]
async fn an_event_can_be_delivered_again_by_hand() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world.buys("amount=100&currency=usd").await;
    everything_is_delivered(&world).await;
    let event = receiver.letters()[0].event["id"]
        .as_str()
        .unwrap()
        .to_owned();

    let sent = world
        .control(&format!("events/{event}/deliver"), json!({"copies": 3}))
        .await;

    assert_eq!(sent["deliveries"].as_array().unwrap().len(), 3);
    assert_eq!(sent["deliveries"][0]["status"], 200);
    let letters = receiver.letters();
    assert_eq!(letters.len(), 4);
    assert!(
        letters
            .iter()
            .all(|letter| letter.event["id"] == event.as_str())
    );
    assert_eq!(
        world
            .try_control("events/evt_nobody/deliver", json!({}))
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn one_url_is_one_endpoint_however_often_it_is_configured() {
    let receiver = Receiver::open().await;
    let old = WebhookTarget {
        url: receiver.url(),
        secret: "whsec_old".to_owned(),
    };
    let folder = TempDir::new().unwrap();
    let database_url = format!("sqlite://{}", folder.path().join("provider.db").display());
    drop(World::at(&database_url, vec![old]).await);
    let world = World::at(&database_url, vec![receiver.target()]).await;

    world.buys("amount=100&currency=usd").await;
    everything_is_delivered(&world).await;

    assert_eq!(receiver.letters().len(), 1);
    assert!(is_genuine(&receiver.letters()[0]));
}

#[test]
fn a_secret_is_not_shown() {
    let target = WebhookTarget {
        url: "http://shop.example/hook".to_owned(),
        secret: SECRET.to_owned(),
    };
    assert!(!format!("{target:?}").contains(SECRET));
}
