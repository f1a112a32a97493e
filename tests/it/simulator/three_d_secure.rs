//! Payments that their customer has to approve.

use serde_json::Value;

use super::world::{Answer, World};

const NEEDS_APPROVAL: &str = "amount=4200&currency=usd&confirm=true&payment_method_types[]=card\
     &payment_method=pm_card_authenticationRequired";

/// Presses a button on the bank's page and returns where the customer is sent.
async fn presses(intent: &Answer, verdict: &str) -> String {
    let page = intent.body["next_action"]["redirect_to_url"]["url"]
        .as_str()
        .unwrap();
    let browser = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let shown = browser
        .get(page)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(shown.contains("Approve") && shown.contains("Refuse"));
    let pressed = browser
        .post(page)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("verdict={verdict}"))
        .send()
        .await
        .unwrap();
    pressed.headers()["location"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_approved_payment_succeeds_and_leads_back_to_the_shop() {
    let world = World::open().await;
    let waiting = world
        .buys(&format!(
            "{NEEDS_APPROVAL}&return_url=https://shop.example/back?x=1"
        ))
        .await;
    assert_eq!(waiting.status, 200);
    assert_eq!(waiting.body["status"], "requires_action");
    assert_eq!(waiting.body["latest_charge"], Value::Null);

    let back = presses(&waiting, "approve").await;

    assert!(
        back.starts_with("https://shop.example/back?x=1&payment_intent=pi_"),
        "{back}"
    );
    assert!(back.ends_with("redirect_status=succeeded"), "{back}");
    let paid = world
        .get(&format!("/v1/payment_intents/{}", waiting.id()))
        .await;
    assert_eq!(paid.body["status"], "succeeded");
    assert_eq!(paid.body["next_action"], Value::Null);
    let event = world
        .get("/v1/events?type=payment_intent.succeeded")
        .await
        .body["data"][0]
        .clone();
    assert_eq!(event["request"]["id"], Value::Null);
}

#[tokio::test]
async fn a_refused_payment_waits_for_another_card() {
    let world = World::open().await;
    let waiting = world
        .buys(&format!(
            "{NEEDS_APPROVAL}&return_url=https://shop.example/back"
        ))
        .await;

    let back = presses(&waiting, "refuse").await;

    assert!(back.ends_with("redirect_status=failed"), "{back}");
    let open = world
        .get(&format!("/v1/payment_intents/{}", waiting.id()))
        .await;
    assert_eq!(open.body["status"], "requires_payment_method");
    assert_eq!(
        open.body["last_payment_error"]["code"],
        "payment_intent_authentication_failure"
    );
    let path = format!("/v1/payment_intents/{}/confirm", waiting.id());
    assert_eq!(
        world.post(&path, "payment_method=pm_card_visa").await.body["status"],
        "succeeded"
    );
}

#[tokio::test]
async fn a_card_may_be_declined_even_after_approval() {
    let world = World::open().await;
    let card = "pm_card_authenticationRequiredChargeDeclinedInsufficientFunds";
    let form = NEEDS_APPROVAL.replace("pm_card_authenticationRequired", card);
    let waiting = world
        .buys(&format!("{form}&return_url=https://shop.example/back"))
        .await;

    presses(&waiting, "approve").await;

    let open = world
        .get(&format!("/v1/payment_intents/{}", waiting.id()))
        .await;
    assert_eq!(open.body["status"], "requires_payment_method");
    assert_eq!(
        open.body["last_payment_error"]["decline_code"],
        "insufficient_funds"
    );
}

#[tokio::test]
async fn without_the_customer_the_payment_is_declined() {
    let world = World::open().await;

    let off_session = world
        .buys(&format!("{NEEDS_APPROVAL}&off_session=true"))
        .await;
    let unwanted = world
        .buys(&format!("{NEEDS_APPROVAL}&error_on_requires_action=true"))
        .await;

    assert_eq!(off_session.status, 402);
    assert_eq!(
        off_session.error()["decline_code"],
        "authentication_required"
    );
    assert!(off_session.error()["charge"].is_string());
    assert_eq!(unwanted.status, 402);
    assert_eq!(
        unwanted.error()["decline_code"],
        "authentication_not_handled"
    );
    assert_eq!(
        unwanted.error()["payment_intent"]["status"],
        "requires_payment_method"
    );
}

#[tokio::test]
async fn some_cards_need_no_customer_once_they_are_set_up() {
    let world = World::open().await;
    let form = |card: &str, more: &str| {
        format!(
            "{}{more}",
            NEEDS_APPROVAL.replace("pm_card_authenticationRequired", card)
        )
    };
    let absent = "&off_session=true";
    let on_setup = "pm_card_authenticationRequiredOnSetup";
    let customer = world.customer().await;
    let agrees = format!(
        "&return_url=https://shop.example/back&customer={customer}&setup_future_usage=off_session"
    );

    let too_early = world.buys(&form(on_setup, absent)).await;
    let waiting = world.buys(&form(on_setup, &agrees)).await;
    presses(&waiting, "approve").await;
    let kept = waiting.body["payment_method"].as_str().unwrap();
    let later = world
        .buys(&form(kept, &format!("&customer={customer}{absent}")))
        .await;
    let in_person = world.buys(&form(kept, &agrees)).await;
    let always = "pm_card_authenticationRequiredSetupForOffSession";
    let at_once = world.buys(&form(always, absent)).await;

    assert_eq!(too_early.error()["code"], "authentication_required");
    assert_eq!(later.body["status"], "succeeded", "{}", later.body);
    assert_eq!(in_person.body["status"], "requires_action");
    assert_eq!(at_once.body["status"], "succeeded");
}
