//! What happens by itself later, and how a test need not wait for it.

use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};

use super::{
    receiver::Receiver,
    world::{Answer, PURCHASE, World, eventually},
};

const DAY: i64 = 24 * 60 * 60;

#[tokio::test]
async fn the_balance_transaction_comes_a_moment_after_the_payment() {
    let world = World::open().await;
    let paid = world.buys_with_key(PURCHASE, "wish").await;
    let charge = charge_of(&world, &paid).await;
    assert_eq!(charge["balance_transaction"], Value::Null);

    world.advances(2).await;
    eventually("the charge is updated", || async {
        count(&world, "charge.updated").await == 1
    })
    .await;

    let event = world.get("/v1/events?type=charge.updated").await.body["data"][0].clone();
    let charge = charge_of(&world, &paid).await;
    assert!(charge["balance_transaction"].is_string());
    assert_eq!(event["data"]["object"], charge);
    let before = json!({ "balance_transaction": null });
    assert_eq!(event["data"]["previous_attributes"], before);
    assert_eq!(
        event["request"],
        json!({ "id": null, "idempotency_key": null })
    );
    // A repeat of the request is answered as the first, from before.
    let again = world.buys_with_key(PURCHASE, "wish").await;
    assert_eq!(again.bytes, paid.bytes);
}

#[tokio::test]
async fn with_synchronous_capture_the_balance_transaction_is_there_at_once() {
    let world = World::open().await;

    let paid = world
        .buys(&format!("{PURCHASE}&capture_method=automatic"))
        .await;

    let charge = charge_of(&world, &paid).await;
    assert!(charge["balance_transaction"].is_string());
    assert_eq!(count(&world, "charge.updated").await, 0);
    world.settles().await;
    assert_eq!(count(&world, "charge.updated").await, 0);
}

#[tokio::test]
async fn an_authorization_expires_after_seven_days() {
    let world = World::open().await;
    let held = world
        .buys(&format!("{PURCHASE}&capture_method=manual"))
        .await;

    world.advances(7 * DAY - 60).await;
    world.buys(PURCHASE).await;
    world.advances(30).await;
    eventually("what is due has happened", || async {
        count(&world, "charge.updated").await == 1
    })
    .await;
    assert_eq!(intent(&world, &held).await["status"], "requires_capture");
    world.advances(30).await;
    eventually("it expires", || async {
        intent(&world, &held).await["status"] == "canceled"
    })
    .await;

    let expired = intent(&world, &held).await;
    assert_eq!(expired["cancellation_reason"], "automatic");
    assert_eq!(expired["amount_capturable"], 0);
    assert!(expired["canceled_at"].is_i64());
    let charge = charge_of(&world, &held).await;
    assert_eq!(charge["refunded"], true);
    assert_eq!(charge["amount_refunded"], 4200);
    assert_eq!(count(&world, "payment_intent.canceled").await, 1);
    assert_eq!(count(&world, "charge.expired").await, 1);
}

#[tokio::test]
async fn an_authorization_that_was_canceled_does_not_expire_again() {
    let world = World::open().await;
    let held = world
        .buys(&format!("{PURCHASE}&capture_method=manual"))
        .await;
    let canceled = world
        .post(&format!("/v1/payment_intents/{}/cancel", held.id()), "")
        .await;

    assert_eq!(settled(&world, json!({})).await, 1);

    assert_eq!(intent(&world, &held).await, canceled.body);
    assert_eq!(count(&world, "payment_intent.canceled").await, 1);
    assert_eq!(count(&world, "charge.expired").await, 0);
}

#[tokio::test]
async fn everything_can_be_settled_at_once_or_one_thing_alone() {
    let world = World::open().await;
    let first = world.buys(PURCHASE).await;
    let second = world.buys(PURCHASE).await;

    assert_eq!(settled(&world, json!({ "object": first.id() })).await, 1);
    assert!(charge_of(&world, &first).await["balance_transaction"].is_string());
    assert!(charge_of(&world, &second).await["balance_transaction"].is_null());
    assert_eq!(settled(&world, json!({ "object": first.id() })).await, 0);
    // The second payment's turn, and then both amounts become available.
    assert_eq!(settled(&world, json!({})).await, 3);
    assert!(charge_of(&world, &second).await["balance_transaction"].is_string());
    assert_eq!(settled(&world, json!({})).await, 0);
    assert_eq!(count(&world, "charge.updated").await, 2);
    let refused = world.try_control("settle", json!({ "objekt": "pi" })).await;
    assert_eq!(refused.status, 400);
}

#[tokio::test]
async fn an_object_that_nobody_knows_cannot_be_settled() {
    let world = World::open().await;
    let bought = world.buys(PURCHASE).await;
    let mistyped = format!("{}x", bought.id());

    let refused = world
        .try_control("settle", json!({ "object": mistyped }))
        .await;

    assert_eq!(refused.status, 404);
    assert_eq!(refused.error()["code"], "resource_missing");
    assert_eq!(refused.error()["param"], "object");
    let message = refused.error()["message"].as_str().unwrap();
    assert_eq!(message, format!("No such object: '{mistyped}'"));
    assert!(charge_of(&world, &bought).await["balance_transaction"].is_null());
}

#[tokio::test]
async fn what_is_settled_by_many_at_once_happens_once() {
    let world = World::open().await;
    for _ in 0..5 {
        world.buys(PURCHASE).await;
    }

    let everybody =
        futures_util::future::join_all((0..8).map(|_| settled(&world, json!({})))).await;

    // Each payment has a balance transaction, which becomes available in its turn.
    assert_eq!(everybody.iter().sum::<i64>(), 10);
    assert_eq!(count(&world, "charge.updated").await, 5);
}

#[tokio::test]
async fn the_schedule_survives_a_restart_and_its_events_are_delivered() {
    let receiver = Receiver::open().await;
    let world = World::on_disk(vec![receiver.target()]).await;
    let paid = world.buys(PURCHASE).await;

    let world = world.restart().await;
    world.advances(2).await;
    receiver.gets(4).await;

    assert_eq!(receiver.count("charge.updated"), 1);
    assert!(charge_of(&world, &paid).await["balance_transaction"].is_string());
}

#[tokio::test]
async fn an_effect_that_breaks_keeps_no_other_from_happening() {
    let world = World::on_disk(Vec::new()).await;
    // As a newer version would have left it.
    let mut db = SqliteConnection::connect(&world.database_url())
        .await
        .unwrap();
    sqlx::query("insert into scheduled (due_at, effect, object_id) values (0, 'explode', 'pi_1')")
        .execute(&mut db)
        .await
        .unwrap();

    world.buys(PURCHASE).await;
    world.advances(2).await;

    eventually("the charge is updated", || async {
        count(&world, "charge.updated").await == 1
    })
    .await;
}

#[tokio::test]
async fn a_reset_forgets_what_was_to_happen() {
    let world = World::open().await;
    world.buys(PURCHASE).await;

    world.control("reset", json!({})).await;

    assert_eq!(settled(&world, json!({})).await, 0);
}

async fn settled(world: &World, what: Value) -> i64 {
    world.control("settle", what).await["settled"]
        .as_i64()
        .unwrap()
}

async fn intent(world: &World, bought: &Answer) -> Value {
    world
        .get(&format!("/v1/payment_intents/{}", bought.id()))
        .await
        .body
}

async fn charge_of(world: &World, bought: &Answer) -> Value {
    let id = bought.body["latest_charge"].as_str().unwrap();
    world.get(&format!("/v1/charges/{id}")).await.body
}

async fn count(world: &World, kind: &str) -> usize {
    let events = world
        .get(&format!("/v1/events?limit=100&type={kind}"))
        .await
        .body;
    events["data"].as_array().unwrap().len()
}
