//! A secret is rolled, and no receiver notices.

use std::time::Duration;

use boring_checkout::simulator::ControlError;
use serde_json::json;

use super::{
    receiver::{Letter, Receiver, SECRET, everything_is_delivered},
    world::World,
};

const DAY: i64 = 24 * 60 * 60;

/// A simulator with one endpoint, and the endpoint's id.
async fn with_endpoint(receiver: &Receiver) -> (World, String) {
    let world = World::on_disk(vec![receiver.target()]).await;
    let endpoints = world.get("/v1/webhook_endpoints").await.body;
    let id = endpoints["data"][0]["id"].as_str().unwrap().to_owned();
    (world, id)
}

async fn roll(world: &World, id: &str, overlap_seconds: i64) -> String {
    let wanted = json!({ "overlap_seconds": overlap_seconds });
    let rolled = world
        .control(&format!("webhook_endpoints/{id}/roll"), wanted)
        .await;
    assert_eq!(rolled["id"], id);
    rolled["secret"].as_str().unwrap().to_owned()
}

/// The letter that tells of something that happens now.
async fn next_letter(world: &World, receiver: &Receiver) -> Letter {
    world.buys("amount=100&currency=usd").await;
    everything_is_delivered(world).await;
    receiver.letters().last().unwrap().clone()
}

fn expects(letter: &Letter, secrets: &[&str]) {
    let expected: Vec<String> = secrets
        .iter()
        .map(|secret| letter.signature_of(secret))
        .collect();
    assert_eq!(letter.signatures().1, expected);
}

#[tokio::test]
async fn both_secrets_sign_until_the_overlap_ends() {
    let receiver = Receiver::open().await;
    let (world, id) = with_endpoint(&receiver).await;

    let new = roll(&world, &id, DAY).await;
    // Neither the rotation nor its end is forgotten.
    let world = world.restart().await;
    expects(&next_letter(&world, &receiver).await, &[&new, SECRET]);
    world.advances(DAY - 60).await;
    expects(&next_letter(&world, &receiver).await, &[&new, SECRET]);
    world.advances(60).await;

    expects(&next_letter(&world, &receiver).await, &[&new]);
}

#[tokio::test]
async fn a_secret_can_end_at_once() {
    let receiver = Receiver::open().await;
    let (world, id) = with_endpoint(&receiver).await;
    let first = roll(&world, &id, DAY).await;
    let second = roll(&world, &id, 3600).await;
    expects(
        &next_letter(&world, &receiver).await,
        &[&second, &first, SECRET],
    );

    let rolled = world.levers().roll_secret(&id, Duration::ZERO).await;
    let rolled = rolled.unwrap();
    let last = rolled.secret.clone();

    assert!(!format!("{rolled:?}").contains(&last));
    expects(&next_letter(&world, &receiver).await, &[&last]);
}

/// An attempt is signed with what is valid when it is made, not when the event was.
#[tokio::test]
async fn a_retry_is_signed_anew() {
    let receiver = Receiver::open().await;
    receiver.answers(&[500]);
    let (world, id) = with_endpoint(&receiver).await;
    world.buys("amount=100&currency=usd").await;
    receiver.gets(1).await;

    let new = roll(&world, &id, 0).await;
    world.advances(5).await;
    everything_is_delivered(&world).await;

    let letters = receiver.letters();
    expects(&letters[0], &[SECRET]);
    expects(&letters[1], &[&new]);
}

#[tokio::test]
async fn a_roll_says_when_the_old_secret_ends_and_takes_a_day_at_most() {
    let receiver = Receiver::open().await;
    let (world, id) = with_endpoint(&receiver).await;
    let lever = format!("webhook_endpoints/{id}/roll");

    let by_default = world.try_control(&lever, json!({})).await.body;
    let ends = by_default["old_secret_expires_at"].as_str().unwrap();
    let ends = chrono::DateTime::parse_from_rfc3339(ends).unwrap();
    let in_seconds = ends.timestamp() - chrono::Utc::now().timestamp();
    assert!((DAY - 60..=DAY).contains(&in_seconds), "{in_seconds}");

    for wrong in [
        json!({"overlap_seconds": DAY + 1}),
        json!({"overlap_seconds": -1}),
        json!({"overlap": 0}),
        json!({"overlap_seconds": "soon"}),
    ] {
        assert_eq!(world.try_control(&lever, wrong).await.status, 400);
    }
    let nobody = "webhook_endpoints/we_nobody/roll";
    assert_eq!(world.try_control(nobody, json!({})).await.status, 404);
    let levers = world.levers();
    let refused = levers.roll_secret("we_nobody", Duration::ZERO).await;
    assert!(matches!(refused, Err(ControlError::NoSuchEndpoint(_))));
    let current = by_default["secret"].as_str().unwrap();
    expects(&next_letter(&world, &receiver).await, &[current, SECRET]);
    // Every active secret makes the header longer.
    for _ in 2..8 {
        roll(&world, &id, DAY).await;
    }
    let too_many = world.try_control(&lever, json!({})).await;
    assert_eq!(too_many.status, 400);
    assert_eq!(too_many.error()["param"], "overlap_seconds");
    roll(&world, &id, 0).await;
}
