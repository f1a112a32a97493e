//! What a confirm may say, and when it is the shop's server that has the last word.

use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

const OPEN: &str = "amount=4200&currency=usd&payment_method_types[]=card";

async fn confirms(world: &World, intent: &Answer, form: &str) -> Answer {
    let path = format!("/v1/payment_intents/{}/confirm", intent.id());
    world.post(&path, form).await
}

/// The customer says yes on the bank's page.
async fn approves(world: &World, intent: &Answer) {
    let page = intent.body["next_action"]["redirect_to_url"]["url"]
        .as_str()
        .unwrap();
    let pressed = world
        .client()
        .post(page)
        .header("content-type", "application/x-www-form-urlencoded")
        .body("verdict=approve")
        .send()
        .await;
    // It leads to the shop, which is not there.
    drop(pressed);
}

#[tokio::test]
async fn a_confirm_can_complete_what_the_create_left_out() {
    let world = World::open().await;
    let open = world.buys(OPEN).await;

    let held = confirms(
        &world,
        &open,
        "payment_method=pm_card_visa&capture_method=manual&receipt_email=a@b.example\
         &shipping[name]=A&shipping[address][line1]=1+High+Street&setup_future_usage=on_session&use_stripe_sdk=true",
    )
    .await;

    assert_eq!(held.body["status"], "requires_capture", "{}", held.body);
    assert_eq!(held.body["receipt_email"], "a@b.example");
    assert_eq!(held.body["shipping"]["name"], "A");
    assert_eq!(held.body["setup_future_usage"], "on_session");
    let charge = held.body["latest_charge"].as_str().unwrap();
    let charge = world.get(&format!("/v1/charges/{charge}")).await.body;
    assert_eq!(charge["receipt_email"], "a@b.example");
    assert_eq!(charge["captured"], false);
}

#[tokio::test]
async fn a_confirm_refuses_what_it_does_not_take() {
    let world = World::open().await;
    let open = world.buys(OPEN).await;
    for (form, code, param) in [
        ("amount=100", json!("parameter_unknown"), "amount"),
        ("metadata[k]=v", json!("parameter_unknown"), "metadata"),
        ("return_url=nowhere", json!("url_invalid"), "return_url"),
        ("off_session=perhaps", Value::Null, "off_session"),
        ("capture_method=never", Value::Null, "capture_method"),
        ("receipt_email=@", json!("email_invalid"), "receipt_email"),
        (
            "shipping[name]=A",
            json!("parameter_missing"),
            "shipping[address]",
        ),
        ("payment_method_types[]=sepa_debit", Value::Null, "currency"),
    ] {
        let refused = confirms(
            &world,
            &open,
            &format!("payment_method=pm_card_visa&{form}"),
        )
        .await;
        assert_eq!(refused.status, 400, "{form}");
        assert_eq!(refused.error()["code"], code, "{form}");
        assert_eq!(refused.error()["param"], param, "{form}");
    }
    let still = world
        .get(&format!("/v1/payment_intents/{}", open.id()))
        .await;
    assert_eq!(still.body, open.body);
}

#[tokio::test]
async fn a_create_that_does_not_confirm_takes_nothing_of_a_confirm() {
    let world = World::open().await;
    for param in [
        "error_on_requires_action",
        "mandate_data",
        "off_session",
        "return_url",
    ] {
        let refused = world.buys(&format!("{OPEN}&{param}=true")).await;
        assert_eq!(refused.status, 400, "{param}");
        assert_eq!(refused.error()["param"], param);
    }
    assert_eq!(world.ledger().await["payment_intents"]["total"], 0);
}

#[tokio::test]
async fn the_statement_of_a_card_takes_a_suffix_only() {
    let world = World::open().await;

    let refused = world
        .buys(&format!("{PURCHASE}&statement_descriptor=GOOD+TEA"))
        .await;
    let paid = world
        .buys(&format!("{PURCHASE}&statement_descriptor_suffix=TEA"))
        .await;

    assert_eq!(refused.status, 400);
    assert_eq!(refused.error()["param"], "statement_descriptor");
    assert_eq!(
        refused.error()["payment_intent"]["status"],
        "requires_confirmation"
    );
    let charge = paid.body["latest_charge"].as_str().unwrap();
    let charge = world.get(&format!("/v1/charges/{charge}")).await.body;
    assert_eq!(charge["statement_descriptor_suffix"], "TEA");
    let printed = charge["calculated_statement_descriptor"].as_str().unwrap();
    assert!(printed.ends_with("* TEA"), "{printed}");
    assert_eq!(world.succeeded().await, 1);
}

const MANUAL: &str = "amount=4200&currency=usd&payment_method_types[]=card&confirmation_method=manual\
     &confirm=true&payment_method=pm_card_authenticationRequired&return_url=http://127.0.0.1:1/back";

#[tokio::test]
async fn with_manual_confirmation_an_approved_payment_waits_for_the_server() {
    let world = World::open().await;
    let waiting = world.buys(MANUAL).await;
    assert_eq!(waiting.body["status"], "requires_action");

    approves(&world, &waiting).await;
    let approved = world
        .get(&format!("/v1/payment_intents/{}", waiting.id()))
        .await;
    assert_eq!(approved.body["status"], "requires_confirmation");
    assert_eq!(approved.body["latest_charge"], Value::Null);
    assert_eq!(world.succeeded().await, 0);
    let paid = confirms(&world, &waiting, "").await;

    assert_eq!(paid.body["status"], "succeeded", "{}", paid.body);
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn an_approval_is_for_what_was_approved() {
    let world = World::open().await;
    for change in [
        "amount=9900",
        "payment_method=pm_card_threeDSecure2Required",
    ] {
        let waiting = world.buys(MANUAL).await;
        approves(&world, &waiting).await;
        let path = format!("/v1/payment_intents/{}", waiting.id());
        assert_eq!(world.post(&path, change).await.status, 200, "{change}");

        let again = confirms(&world, &waiting, "return_url=http://127.0.0.1:1/back").await;

        assert_eq!(again.body["status"], "requires_action", "{change}");
    }
    assert_eq!(world.succeeded().await, 0);
}

#[tokio::test]
async fn a_refused_change_leaves_the_approval_and_nothing_else_behind() {
    let world = World::open().await;
    let waiting = world.buys(MANUAL).await;
    approves(&world, &waiting).await;
    let cards = world.get("/v1/payment_methods?limit=100").await.bytes;

    let path = format!("/v1/payment_intents/{}", waiting.id());
    let refused = world
        .post(&path, "amount=5000&payment_method=pm_usBankAccount_success")
        .await;

    assert_eq!(refused.status, 400, "{}", refused.body);
    assert_eq!(
        world.get("/v1/payment_methods?limit=100").await.bytes,
        cards
    );
    let paid = confirms(&world, &waiting, "").await;
    assert_eq!(paid.body["status"], "succeeded", "{}", paid.body);
}
