//! Taking the money that an authorization holds.

use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

async fn holds(world: &World) -> Answer {
    let held = world
        .buys(&format!("{PURCHASE}&capture_method=manual"))
        .await;
    assert_eq!(held.body["status"], "requires_capture");
    held
}

async fn captures(world: &World, intent: &Answer, form: &str) -> Answer {
    let path = format!("/v1/payment_intents/{}/capture", intent.id());
    world.post(&path, form).await
}

async fn charge_of(world: &World, intent: &Answer) -> Value {
    let id = intent.body["latest_charge"].as_str().unwrap();
    let path = format!("/v1/charges/{id}?expand[]=balance_transaction");
    world.get(&path).await.body
}

#[tokio::test]
async fn a_capture_takes_what_was_held() {
    let world = World::open().await;
    let held = holds(&world).await;
    let before = charge_of(&world, &held).await;
    assert_eq!(before["captured"], false);
    assert_eq!(before["amount_captured"], 0);
    assert_eq!(before["balance_transaction"], Value::Null);
    assert_eq!(world.succeeded().await, 0);

    let captured = captures(&world, &held, "final_capture=true&metadata[k]=v").await;

    assert_eq!(captured.status, 200, "{}", captured.body);
    assert_eq!(captured.body["status"], "succeeded");
    assert_eq!(captured.body["amount_received"], 4200);
    assert_eq!(captured.body["amount_capturable"], 0);
    assert_eq!(captured.body["metadata"], json!({ "k": "v" }));
    let charge = charge_of(&world, &held).await;
    assert_eq!(charge["captured"], true);
    assert_eq!(charge["amount_captured"], 4200);
    assert_eq!(charge["balance_transaction"]["amount"], 4200);
    let events = world.get("/v1/events?limit=2").await.body["data"].clone();
    assert_eq!(events[1]["type"], "charge.captured");
    assert_eq!(events[0]["type"], "payment_intent.succeeded");
    assert_eq!(events[0]["data"]["object"], captured.body);
    assert_eq!(
        world.ledger().await["payment_intents"]["amount_succeeded"],
        4200
    );
    // The authorization is used up, so it does not expire either.
    world.settles().await;
    let later = world
        .get(&format!("/v1/payment_intents/{}", held.id()))
        .await;
    assert_eq!(later.body, captured.body);
}

#[tokio::test]
async fn a_part_can_be_captured_and_the_rest_is_released() {
    let world = World::open().await;
    let held = holds(&world).await;

    let captured = captures(&world, &held, "amount_to_capture=1500").await;

    assert_eq!(captured.body["status"], "succeeded");
    assert_eq!(captured.body["amount"], 4200);
    assert_eq!(captured.body["amount_received"], 1500);
    assert_eq!(captured.body["amount_capturable"], 0);
    let charge = charge_of(&world, &held).await;
    assert_eq!(charge["amount"], 4200);
    assert_eq!(charge["amount_captured"], 1500);
    assert_eq!(charge["balance_transaction"]["amount"], 1500);
    assert_eq!(
        world.ledger().await["payment_intents"]["amount_succeeded"],
        1500
    );
}

#[tokio::test]
async fn no_more_than_was_held_can_be_captured_and_only_once() {
    let world = World::open().await;
    let held = holds(&world).await;
    for (form, code, param) in [
        (
            "amount_to_capture=4201",
            "amount_too_large",
            "amount_to_capture",
        ),
        (
            "amount_to_capture=0",
            "parameter_invalid_integer",
            "amount_to_capture",
        ),
        (
            "amount_to_capture=-1",
            "parameter_invalid_integer",
            "amount_to_capture",
        ),
        (
            "amount_to_capture=all",
            "parameter_invalid_integer",
            "amount_to_capture",
        ),
        (
            "final_capture=false",
            "payment_intent_invalid_parameter",
            "final_capture",
        ),
        ("amount=4200", "parameter_unknown", "amount"),
    ] {
        let refused = captures(&world, &held, form).await;
        assert_eq!(refused.status, 400, "{form}");
        assert_eq!(refused.error()["code"], code, "{form}");
        assert_eq!(refused.error()["param"], param, "{form}");
    }
    assert_eq!(world.succeeded().await, 0);
    assert_eq!(
        captures(&world, &held, "amount_to_capture=4200")
            .await
            .status,
        200
    );

    let again = captures(&world, &held, "amount_to_capture=4200").await;

    assert_eq!(again.status, 400);
    assert_eq!(again.error()["code"], "payment_intent_unexpected_state");
    assert_eq!(again.error()["payment_intent"]["status"], "succeeded");
    assert_eq!(
        world.ledger().await["payment_intents"]["amount_succeeded"],
        4200
    );
}

#[tokio::test]
async fn only_an_authorization_can_be_captured() {
    let world = World::open().await;
    let open = world.buys("amount=4200&currency=usd").await;
    let waiting = world
        .buys(&format!(
            "{}&return_url=https://a.example",
            PURCHASE.replace("pm_card_visa", "pm_card_threeDSecure2Required")
        ))
        .await;
    let canceled = holds(&world).await;
    world
        .post(&format!("/v1/payment_intents/{}/cancel", canceled.id()), "")
        .await;
    for (intent, status) in [
        (&open, "requires_payment_method"),
        (&waiting, "requires_action"),
        (&canceled, "canceled"),
    ] {
        let refused = captures(&world, intent, "").await;
        assert_eq!(refused.status, 400, "{status}");
        assert_eq!(refused.error()["code"], "payment_intent_unexpected_state");
        assert_eq!(refused.error()["payment_intent"]["status"], status);
        assert_eq!(refused.error().get("param"), None);
    }
    assert_eq!(world.succeeded().await, 0);
}
