//! The same request twice.

use futures_util::future::join_all;
use serde_json::json;

use super::world::{PURCHASE, World, eventually};

#[tokio::test]
async fn a_repeat_gets_the_first_answer_byte_for_byte() {
    let world = World::open().await;

    let first = world.buys_with_key(PURCHASE, "k").await;
    let again = world.buys_with_key(PURCHASE, "k").await;

    assert_eq!(again.status, 200);
    assert_eq!(again.bytes, first.bytes);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("original-request"), first.header("request-id"));
    assert_ne!(again.header("request-id"), first.header("request-id"));
    assert_eq!(again.header("stripe-should-retry"), Some("false"));
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn a_restart_forgets_no_key() {
    let world = World::on_disk(vec![]).await;
    let first = world.buys_with_key(PURCHASE, "k").await;

    let world = world.restart().await;
    let again = world.buys_with_key(PURCHASE, "k").await;

    assert_eq!(again.bytes, first.bytes);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn a_replay_is_a_snapshot_not_the_present_state() {
    let world = World::open().await;
    let first = world.buys_with_key("amount=100&currency=usd", "k").await;
    world
        .post(&format!("/v1/payment_intents/{}/cancel", first.id()), "")
        .await;

    let again = world.buys_with_key("amount=100&currency=usd", "k").await;

    assert_eq!(again.bytes, first.bytes);
}

#[tokio::test]
async fn fifty_identical_requests_at_once_make_one_intent() {
    let world = World::on_disk(vec![]).await;

    let answers = join_all((0..50).map(|_| world.buys_with_key(PURCHASE, "k"))).await;

    for answer in &answers {
        assert!(matches!(answer.status, 200 | 409), "{}", answer.body);
    }
    let paid: Vec<_> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .collect();
    assert!(!paid.is_empty());
    assert!(paid.iter().all(|answer| answer.bytes == paid[0].bytes));
    assert_eq!(world.ledger().await["payment_intents"]["total"], 1);
    // Once it is answered, the key is not in use any more, however many ask at a time.
    let repeats = join_all((0..50).map(|_| world.buys_with_key(PURCHASE, "k"))).await;
    assert!(repeats.iter().all(|answer| answer.bytes == paid[0].bytes));
}

#[tokio::test]
async fn order_and_spelling_of_parameters_do_not_matter() {
    let world = World::open().await;
    let first = world
        .buys_with_key(
            "amount=100&currency=usd&payment_method_types[]=card&description=a+b",
            "k",
        )
        .await;
    let again = world
        .buys_with_key(
            "description=a%20b&payment_method_types%5B0%5D=card&currency=usd&amount=100",
            "k",
        )
        .await;

    assert_eq!(again.bytes, first.bytes);
}

#[tokio::test]
async fn a_key_is_for_one_set_of_parameters_and_one_path() {
    let world = World::open().await;
    let first = world.buys_with_key("amount=100&currency=usd", "k").await;

    let other_amount = world.buys_with_key("amount=101&currency=usd", "k").await;
    let invalid = world.buys_with_key("amount=zero&currency=usd", "k").await;
    let other_path = world
        .post_with_key(
            &format!("/v1/payment_intents/{}/cancel", first.id()),
            "",
            "k",
        )
        .await;
    let again = world.buys_with_key("amount=100&currency=usd", "k").await;

    for refused in [&other_amount, &invalid, &other_path] {
        assert_eq!(refused.status, 400);
        assert_eq!(refused.error()["type"], "idempotency_error");
        assert_eq!(refused.error().get("code"), None);
        assert_eq!(refused.header("idempotent-replayed"), None);
    }
    assert_eq!(again.bytes, first.bytes);
    assert_eq!(again.body["status"], "requires_payment_method");
    assert_eq!(world.ledger().await["payment_intents"]["total"], 1);
}

#[tokio::test]
async fn a_key_in_use_is_409_until_its_answer_is_given() {
    let world = World::open().await;
    world
        .faults(json!({"on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 600_000}))
        .await;
    let slow = world.buys_with_key(PURCHASE, "k");
    let repeat = async {
        eventually("the slow request has been processed", || async {
            world.succeeded().await == 1
        })
        .await;
        world.buys_with_key(PURCHASE, "k").await
    };

    // The slow request's client gives up, which changes nothing: the provider is still at it.
    let repeated = tokio::select! {
        _ = slow => panic!("answered too soon"),
        repeated = repeat => repeated,
    };

    assert_eq!(repeated.status, 409);
    assert_eq!(repeated.error()["code"], "idempotency_key_in_use");
    assert_eq!(repeated.header("stripe-should-retry"), Some("true"));
    assert_eq!(world.buys_with_key(PURCHASE, "another").await.status, 200);
}

#[tokio::test]
async fn a_refusal_at_the_door_leaves_the_key_free() {
    let world = World::open().await;

    let refused = world.buys_with_key("amount=10&currency=usd", "k").await;
    let corrected = world.buys_with_key("amount=1000&currency=usd", "k").await;

    assert_eq!(refused.status, 400);
    assert_eq!(refused.header("original-request"), None);
    assert_eq!(corrected.status, 200);
}

#[tokio::test]
async fn declines_and_refusals_by_state_are_replayed() {
    let world = World::open().await;
    let form = PURCHASE.replace("pm_card_visa", "pm_card_chargeDeclined");
    let paid = world.buys(PURCHASE).await;
    let cancel = format!("/v1/payment_intents/{}/cancel", paid.id());

    let declined = world.buys_with_key(&form, "k1").await;
    let declined_again = world.buys_with_key(&form, "k1").await;
    let refused = world.post_with_key(&cancel, "", "k2").await;
    let refused_again = world.post_with_key(&cancel, "", "k2").await;

    assert_eq!(declined.status, 402);
    assert_eq!(declined_again.bytes, declined.bytes);
    assert_eq!(refused.status, 400);
    assert_eq!(refused_again.bytes, refused.bytes);
    assert_eq!(refused_again.header("idempotent-replayed"), Some("true"));
    assert_eq!(world.ledger().await["payment_intents"]["total"], 2);
}

#[tokio::test]
async fn keys_are_forgotten_after_a_day() {
    let world = World::open().await;
    let first = world.buys_with_key(PURCHASE, "k").await;

    world.advances(24 * 60 * 60 - 60).await;
    let within = world.buys_with_key(PURCHASE, "k").await;
    world.advances(60).await;
    let after = world.buys_with_key(PURCHASE, "k").await;

    assert_eq!(within.bytes, first.bytes);
    assert_ne!(after.id(), first.id());
    assert_eq!(world.succeeded().await, 2);
}

#[tokio::test]
async fn the_clock_does_not_go_back_in_a_restart() {
    let world = World::on_disk(vec![]).await;
    world.advances(1_000_000).await;
    let world = world.restart().await;

    let clock = world.get("/_control/clock").await.body;

    assert_eq!(clock["offset_seconds"], 1_000_000);
    assert_eq!(
        world
            .try_control("clock", json!({"advance_seconds": -1}))
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn a_key_has_at_most_255_characters_and_means_nothing_on_get() {
    let world = World::open().await;
    assert_eq!(
        world.buys_with_key(PURCHASE, &"k".repeat(255)).await.status,
        200
    );
    assert_eq!(
        world.buys_with_key(PURCHASE, &"k".repeat(256)).await.status,
        400
    );
    let read = world
        .call(
            reqwest::Method::GET,
            "/v1/events",
            "",
            &[("idempotency-key", "k")],
        )
        .await;
    assert_eq!(read.status, 200);
    assert_eq!(read.header("idempotency-key"), None);
}

#[tokio::test]
async fn a_refusal_by_the_state_of_things_is_kept_for_its_key() {
    let world = World::open().await;
    let intent = world.buys("amount=60&currency=usd").await;
    let intent = format!("/v1/payment_intents/{}", intent.id());
    let nobody = "/v1/payment_intents/pi_nobody/cancel";

    let too_small = world.post_with_key(&intent, "currency=hkd", "a").await;
    let missing = world.post_with_key(nobody, "", "b").await;
    world.post(&intent, "amount=500").await;

    for (path, form, key, first) in [
        (intent.as_str(), "currency=hkd", "a", too_small),
        (nobody, "", "b", missing),
    ] {
        let again = world.post_with_key(path, form, key).await;
        assert!(first.status >= 400);
        assert_eq!(again.bytes, first.bytes);
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
    }
    assert_eq!(world.get(&intent).await.body["currency"], "usd");
}

#[tokio::test]
async fn a_key_is_any_text_and_a_query_counts_as_parameters() {
    let world = World::open().await;
    let path = "/v1/payment_intents?description=tea";

    let first = world
        .post_with_key(path, "amount=100&currency=usd", "schlüssel")
        .await;
    let again = world
        .post_with_key(path, "amount=100&currency=usd", "schlüssel")
        .await;
    let other = world
        .post_with_key(
            "/v1/payment_intents",
            "amount=100&currency=usd",
            "schlüssel",
        )
        .await;
    let unknown = world
        .post("/v1/payment_intents?nonsense=1", "amount=100&currency=usd")
        .await;

    assert_eq!(first.body["description"], "tea", "{}", first.body);
    assert_eq!(again.bytes, first.bytes);
    assert_eq!(other.error()["type"], "idempotency_error");
    assert_eq!(unknown.error()["code"], "parameter_unknown");
}
