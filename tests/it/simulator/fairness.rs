//! Endpoints that wait for nobody else.

use std::time::Duration;

use boring_checkout::simulator::SimulatorConfig;
use futures_util::future::join_all;

use super::{
    receiver::Receiver,
    world::{PURCHASE, World},
};

#[tokio::test]
async fn an_endpoint_that_never_answers_delays_nobody() {
    const PURCHASES: usize = 50;
    let (silent, quick) = (Receiver::silent().await, Receiver::open().await);
    let world = World::with(SimulatorConfig {
        // The silent one stands first in every queue.
        webhooks: vec![silent.target(), quick.target()],
        // Nobody's patience ends before the test.
        webhook_timeout: Duration::from_mins(10),
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
    // So many at a time, and no more until they are answered.
    silent.gets(32).await;
    assert_eq!(silent.letters().len(), 32);
}
