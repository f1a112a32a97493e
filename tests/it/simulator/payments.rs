//! Payment intents and their charges.

use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

#[tokio::test]
async fn a_purchase_is_paid_and_can_be_looked_at_from_every_side() {
    let world = World::open().await;

    let paid = world
        .buys(&format!(
            "{PURCHASE}&metadata[order]=7&description=two+teas"
        ))
        .await;

    assert_eq!(paid.status, 200);
    assert_eq!(paid.body["status"], "succeeded");
    assert_eq!(paid.body["amount_received"], 4200);
    assert_eq!(paid.body["metadata"], json!({ "order": "7" }));
    assert_eq!(paid.body["next_action"], Value::Null);
    assert!(
        paid.body["payment_method"]
            .as_str()
            .unwrap()
            .starts_with("pm_1")
    );
    let again = world
        .get(&format!("/v1/payment_intents/{}", paid.id()))
        .await;
    assert_eq!(again.body, paid.body);
    let charge = world
        .get(&format!(
            "/v1/charges/{}",
            paid.body["latest_charge"].as_str().unwrap()
        ))
        .await;
    assert_eq!(charge.body["status"], "succeeded");
    assert_eq!(charge.body["captured"], true);
    assert_eq!(charge.body["payment_intent"], paid.body["id"]);
    assert_eq!(charge.body["metadata"], json!({ "order": "7" }));
    assert_eq!(charge.body["description"], "two teas");
    world.settles().await;
    let narrowed = world.get("/_control/ledger?metadata[order]=7").await.body;
    assert_eq!(narrowed["payment_intents"]["amount_succeeded"], 4200);
    assert_eq!(narrowed["events"], 4);
    let nobodys = world.get("/_control/ledger?metadata[order]=8").await.body;
    assert_eq!(nobodys["payment_intents"]["total"], 0);
    assert_eq!(nobodys["events"], 0);
}

#[tokio::test]
async fn each_card_is_declined_in_its_own_words() {
    // The card, then code, decline_code, param and advice_code of the error.
    let rows = "
        chargeDeclined                           card_declined    generic_decline        -         try_again_later
        visa_chargeDeclined                      card_declined    generic_decline        -         try_again_later
        chargeDeclinedInsufficientFunds          card_declined    insufficient_funds     -         try_again_later
        visa_chargeDeclinedInsufficientFunds     card_declined    insufficient_funds     -         try_again_later
        visa_chargeDeclinedLostCard              card_declined    lost_card              -         do_not_try_again
        visa_chargeDeclinedStolenCard            card_declined    stolen_card            -         do_not_try_again
        chargeDeclinedExpiredCard                expired_card     expired_card           exp_month confirm_card_data
        chargeDeclinedIncorrectCvc               incorrect_cvc    incorrect_cvc          cvc       confirm_card_data
        chargeDeclinedProcessingError            processing_error processing_error       -         try_again_later
        chargeDeclinedFraudulent                 card_declined    fraudulent             -         -
        visa_chargeDeclinedVelocityLimitExceeded card_declined    card_velocity_exceeded -         -";
    let world = World::open().await;
    for row in rows.lines().skip(1) {
        let [card, code, decline_code, param, advice_code] = cells(row);

        let form = PURCHASE.replace("pm_card_visa", &format!("pm_card_{card}"));
        let declined = world.buys(&form).await;

        let error = declined.error();
        let given = |field: &str| error[field].as_str().unwrap_or("-");
        assert_eq!(declined.status, 402, "{card}");
        assert_eq!(given("type"), "card_error", "{card}");
        assert_eq!(given("code"), code, "{card}");
        assert_eq!(given("decline_code"), decline_code, "{card}");
        assert_eq!(given("param"), param, "{card}");
        assert_eq!(given("advice_code"), advice_code, "{card}");
        let intent = &error["payment_intent"];
        assert_eq!(intent["status"], "requires_payment_method", "{card}");
        assert_eq!(intent["payment_method"], Value::Null, "{card}");
        let last_error = &intent["last_payment_error"];
        assert_eq!(
            last_error["payment_method"], error["payment_method"],
            "{card}"
        );
        let charge = world.get(&format!("/v1/charges/{}", given("charge"))).await;
        assert_eq!(charge.body["status"], "failed", "{card}");
        assert_eq!(charge.body["outcome"]["reason"], decline_code, "{card}");
    }
    assert_eq!(world.succeeded().await, 0);
}

#[tokio::test]
async fn after_a_decline_another_card_pays_the_same_intent() {
    let world = World::open().await;
    let declined = world
        .buys(&PURCHASE.replace("pm_card_visa", "pm_card_chargeDeclined"))
        .await;
    let path = format!(
        "/v1/payment_intents/{}/confirm",
        declined.error()["payment_intent"]["id"].as_str().unwrap()
    );

    let without_a_card = world.post(&path, "").await;
    let paid = world.post(&path, "payment_method=pm_card_mastercard").await;
    let twice = world.post(&path, "payment_method=pm_card_mastercard").await;

    assert_eq!(
        without_a_card.error()["code"],
        "payment_intent_unexpected_state"
    );
    assert_eq!(paid.body["status"], "succeeded");
    assert_eq!(paid.body["last_payment_error"], Value::Null);
    assert_eq!(twice.status, 400);
    assert_eq!(twice.error()["code"], "payment_intent_unexpected_state");
    assert_eq!(twice.error()["payment_intent"], paid.body);
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn an_intent_can_be_canceled_until_it_is_paid() {
    let world = World::open().await;
    let open = world.buys("amount=100&currency=eur").await;
    let authorized = world
        .buys(&format!("{PURCHASE}&capture_method=manual"))
        .await;
    let paid = world.buys(PURCHASE).await;
    let cancel = |intent: &Answer| format!("/v1/payment_intents/{}/cancel", intent.id());

    let canceled = world
        .post(&cancel(&open), "cancellation_reason=abandoned")
        .await;
    let released = world.post(&cancel(&authorized), "").await;
    let refused = world.post(&cancel(&paid), "").await;

    assert_eq!(canceled.body["status"], "canceled");
    assert_eq!(canceled.body["cancellation_reason"], "abandoned");
    assert_eq!(authorized.body["status"], "requires_capture");
    assert_eq!(authorized.body["amount_capturable"], 4200);
    assert_eq!(released.body["amount_capturable"], 0);
    assert_eq!(refused.status, 400);
    assert_eq!(refused.error()["payment_intent"]["status"], "succeeded");
    assert_eq!(world.post(&cancel(&open), "").await.status, 400);
}

#[tokio::test]
async fn what_cannot_be_charged_is_refused_at_the_door() {
    let world = World::open().await;
    let rows = [
        ("currency=usd", "parameter_missing", "amount"),
        ("amount=&currency=usd", "parameter_missing", "amount"),
        (
            "amount=ten&currency=usd",
            "parameter_invalid_integer",
            "amount",
        ),
        (
            "amount=1.5&currency=usd",
            "parameter_invalid_integer",
            "amount",
        ),
        (
            "amount=0&currency=usd",
            "parameter_invalid_integer",
            "amount",
        ),
        (
            "amount=-5&currency=usd",
            "parameter_invalid_integer",
            "amount",
        ),
        ("amount=49&currency=usd", "amount_too_small", "amount"),
        (
            "amount=100000000&currency=usd",
            "amount_too_large",
            "amount",
        ),
        ("amount=100", "parameter_missing", "currency"),
        (
            "amount=100&currency=usd&payment_method=pm_nobody",
            "resource_missing",
            "payment_method",
        ),
        (
            "amount=100&currency=usd&customer=cus_nobody",
            "resource_missing",
            "customer",
        ),
        (
            "amount=100&currency=usd&ammount=1",
            "parameter_unknown",
            "ammount",
        ),
        (
            "amount=100&currency=usd&automatic_payment_methods[on]=true&automatic_payment_methods[enabled]=true",
            "parameter_unknown",
            "automatic_payment_methods[on]",
        ),
    ];
    for (form, code, param) in rows {
        let refused = world.buys(form).await;
        assert_eq!(refused.status, 400, "{form}");
        assert_eq!(refused.error()["type"], "invalid_request_error", "{form}");
        assert_eq!(refused.error()["code"], code, "{form}");
        assert_eq!(refused.error()["param"], param, "{form}");
    }
    let unknown_currency = world.buys("amount=100&currency=xyz").await;
    assert_eq!(unknown_currency.error()["param"], "currency");
    let long_value = format!("amount=100&currency=usd&metadata[k]={}", "v".repeat(501));
    assert_eq!(world.buys(&long_value).await.status, 400);
    assert_eq!(world.ledger().await["payment_intents"]["total"], 0);
}

#[tokio::test]
async fn without_a_return_url_a_confirm_that_may_redirect_is_refused_but_leaves_its_intent() {
    let world = World::open().await;
    let form = "amount=100&currency=usd&confirm=true&payment_method=pm_card_visa";

    let refused = world.buys(form).await;
    let never = world
        .buys(&format!("{form}&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never"))
        .await;

    assert_eq!(refused.status, 400);
    assert_eq!(refused.error().get("code"), None);
    assert_eq!(
        refused.error()["payment_intent"]["status"],
        "requires_confirmation"
    );
    assert_eq!(never.body["status"], "succeeded");
    assert_eq!(world.ledger().await["payment_intents"]["total"], 2);
}

fn cells(row: &str) -> [&str; 5] {
    let cells: Vec<&str> = row.split_whitespace().collect();
    cells.try_into().expect("five cells in a row")
}

#[tokio::test]
async fn goods_go_to_an_address_that_has_every_field() {
    let world = World::open().await;
    let to = |shipping: &str| format!("{PURCHASE}&{shipping}");

    let paid = world
        .buys(&to("shipping[name]=A+Buyer&shipping[address][line1]=1+High+Street&shipping[address][country]=US"))
        .await;

    let shipping = json!({
        "address": {
            "city": null,
            "country": "US",
            "line1": "1 High Street",
            "line2": null,
            "postal_code": null,
            "state": null
        },
        "carrier": null,
        "name": "A Buyer",
        "phone": null,
        "tracking_number": null
    });
    assert_eq!(paid.body["shipping"], shipping);
    let charge = format!(
        "/v1/charges/{}",
        paid.body["latest_charge"].as_str().unwrap()
    );
    assert_eq!(world.get(&charge).await.body["shipping"], shipping);
    for (bad, param) in [
        ("shipping[address][line1]=1+High+Street", "shipping[name]"),
        ("shipping[name]=A+Buyer", "shipping[address]"),
        (
            "shipping[name]=A+Buyer&shipping[address][planet]=Mars",
            "shipping[address][planet]",
        ),
        (
            "shipping[name]=A+Buyer&shipping[address][line1]=1&shipping[by]=ship",
            "shipping[by]",
        ),
    ] {
        let refused = world.buys(&to(bad)).await;
        assert_eq!(refused.status, 400, "{bad}");
        assert_eq!(refused.error()["param"], param, "{bad}");
    }
    assert_eq!(world.succeeded().await, 1);
}
