//! Endpoints that wait for nobody else.

use std::time::Duration;

use boring_checkout::simulator::SimulatorConfig;
use futures_util::future::join_all;
use serde_json::Value;

use super::{
    receiver::Receiver,
    world::{PURCHASE, World, eventually},
};

#[tokio::test]
async fn an_endpoint_that_never_answers_delays_nobody() {
    const PURCHASES: usize = 50;
    let (silent, quick) = (Receiver::silent().await, Receiver::open().await);
    let world = World::with(SimulatorConfig {
        // The silent one stands first in every queue.
        webhooks: vec![silent.target(), quick.target()],
        // Nobody's patience ends before the test.
        webhook_timeout: Duration::from_secs(600),
        ..SimulatorConfig::default()
    })
    .await;
    let backlog = PURCHASES * 4;

    let answers = join_all((0..PURCHASES).map(|_| world.buys(PURCHASE))).await;
    quick.gets(backlog).await;
    world.buys("amount=100&currency=usd").await;
    quick.gets(backlog + 1).await;

    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(quick.letters().len(), backlog + 1);
    // A few at a time, and no more until they are answered.
    silent.gets(8).await;
    assert_eq!(silent.letters().len(), 8);
}

#[tokio::test]
async fn a_long_backlog_of_retries_delays_nobody_either() {
    let quick = Receiver::open().await;
    let world = World::on_disk(vec![quick.target()]).await;
    let nobody = "url=http://127.0.0.1:1/&enabled_events[]=charge.succeeded";
    world.post("/v1/webhook_endpoints", nobody).await;
    join_all((0..40).map(|_| world.buys(PURCHASE))).await;
    quick.gets(160).await;
    eventually("everything has failed", || async {
        failures(&world).await == 40
    })
    .await;

    world.advances(4 * 60 * 60).await;
    world.buys("amount=100&currency=usd").await;

    quick.gets(161).await;
}

async fn failures(world: &World) -> usize {
    let journal = world.get("/_control/deliveries").await.body;
    let attempts = journal["data"].as_array().unwrap().clone();
    let has_failed = |attempt: &&Value| attempt["error"].is_string();
    attempts.iter().filter(has_failed).count()
}
