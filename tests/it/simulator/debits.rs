//! Bank debits: taken at once, decided on later.

use serde_json::{Value, json};

use super::{
    receiver::{Receiver, SECRET, everything_is_delivered},
    world::{Answer, World, eventually},
};

const MANDATE: &str = "mandate_data[customer_acceptance][type]=online\
     &mandate_data[customer_acceptance][online][ip_address]=203.0.113.10\
     &mandate_data[customer_acceptance][online][user_agent]=tests";

fn debit(method: &str) -> String {
    let (currency, kind) = if method.starts_with("pm_us") {
        ("usd", "us_bank_account")
    } else {
        ("eur", "sepa_debit")
    };
    format!(
        "amount=4200&currency={currency}&confirm=true&payment_method={method}&payment_method_types[]={kind}&{MANDATE}"
    )
}

async fn read(world: &World, intent: &Answer) -> Value {
    let path = format!("/v1/payment_intents/{}?expand[]=latest_charge", intent.id());
    world.get(&path).await.body
}

async fn types(world: &World) -> Vec<String> {
    let events = world.get("/v1/events?limit=100").await.body;
    let newest_first = events["data"].as_array().unwrap().iter().rev();
    newest_first
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_debit_is_processing_until_the_money_arrives() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;

    let taken = world.buys(&debit("pm_usBankAccount_success")).await;

    assert_eq!(taken.status, 200, "{}", taken.body);
    assert_eq!(taken.body["status"], "processing");
    assert_eq!(taken.body["amount_received"], 0);
    assert_eq!(
        taken.body["payment_method_types"],
        json!(["us_bank_account"])
    );
    let charge = read(&world, &taken).await["latest_charge"].clone();
    assert!(charge["id"].as_str().unwrap().starts_with("py_"));
    assert_eq!(charge["status"], "pending");
    assert_eq!(charge["paid"], false);
    assert_eq!(charge["balance_transaction"], Value::Null);
    let details = &charge["payment_method_details"];
    assert_eq!(details["type"], "us_bank_account");
    assert_eq!(details["us_bank_account"]["last4"], "6789");
    assert_eq!(world.succeeded().await, 0);

    world.advances(17).await;
    assert_eq!(read(&world, &taken).await["status"], "processing");
    world.advances(3).await;
    eventually("the money arrives", || async {
        read(&world, &taken).await["status"] == "succeeded"
    })
    .await;

    let paid = read(&world, &taken).await;
    assert_eq!(paid["amount_received"], 4200);
    assert_eq!(paid["latest_charge"]["status"], "succeeded");
    assert_eq!(paid["latest_charge"]["paid"], true);
    assert_eq!(paid["latest_charge"]["amount_captured"], 4200);
    let told = [
        "payment_intent.created",
        "payment_intent.processing",
        "charge.pending",
        "charge.succeeded",
        "payment_intent.succeeded",
    ];
    assert_eq!(types(&world).await, told);
    everything_is_delivered(&world).await;
    assert_eq!(receiver.letters().len(), told.len());
    let balance = paid["latest_charge"]["balance_transaction"]
        .as_str()
        .unwrap();
    let balance = world
        .get(&format!("/v1/balance_transactions/{balance}"))
        .await
        .body;
    assert_eq!(balance["type"], "payment");
    assert_eq!(balance["status"], "available");
}

#[tokio::test]
async fn a_debit_that_bounces_leaves_the_intent_to_another_method() {
    // The account, then the code of the intent's error and of the charge.
    let rows = "
        pm_usBankAccount_accountClosed        account_closed              account_closed
        pm_usBankAccount_noAccount            no_account                  no_account
        pm_usBankAccount_insufficientFunds    insufficient_funds          insufficient_funds
        pm_usBankAccount_debitNotAuthorized   debit_not_authorized        debit_not_authorized
        pm_usBankAccount_invalidCurrency      invalid_currency            invalid_currency
        pm_usBankAccount_weeklyLimitExceeded  charge_exceeds_weekly_limit charge_exceeds_weekly_limit
        pm_sepaDebit_failed_de                payment_intent_payment_attempt_failed incorrect_account_holder_name
        pm_sepaDebit_failedDelayed_at         payment_intent_payment_attempt_failed incorrect_account_holder_name
        pm_sepaDebit_insufficientFunds_fr     insufficient_funds          insufficient_funds
        pm_sepaDebit_exceedsWeeklyVolumeLimit_be      charge_exceeds_source_limit charge_exceeds_source_limit
        pm_sepaDebit_exceedsWeeklyTransactionLimit_ie charge_exceeds_weekly_limit charge_exceeds_weekly_limit";
    let world = World::open().await;
    for row in rows.lines().skip(1) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let [account, code, charge_code] = cells.try_into().expect("three cells in a row");
        let taken = world.buys(&debit(account)).await;
        assert_eq!(
            taken.body["status"], "processing",
            "{account}: {}",
            taken.body
        );

        world
            .control("settle", json!({ "object": taken.id() }))
            .await;

        let open = read(&world, &taken).await;
        assert_eq!(open["status"], "requires_payment_method", "{account}");
        assert_eq!(open["payment_method"], Value::Null, "{account}");
        assert_eq!(open["amount_received"], 0, "{account}");
        let error = &open["last_payment_error"];
        assert_eq!(error["code"], code, "{account}");
        assert_eq!(error["decline_code"], "generic_decline", "{account}");
        assert_eq!(error["charge"], open["latest_charge"]["id"], "{account}");
        assert_eq!(open["latest_charge"]["status"], "failed", "{account}");
        assert_eq!(
            open["latest_charge"]["failure_code"], charge_code,
            "{account}"
        );
        assert_eq!(open["latest_charge"]["balance_transaction"], Value::Null);
        let told = types(&world).await;
        assert_eq!(
            told[told.len() - 2..],
            ["charge.failed", "payment_intent.payment_failed"]
        );
    }
    assert_eq!(world.succeeded().await, 0);
}

#[tokio::test]
async fn after_a_bounce_the_same_intent_is_paid_from_another_account() {
    let world = World::open().await;
    let taken = world.buys(&debit("pm_sepaDebit_failed_at")).await;
    world.settles().await;
    let path = format!("/v1/payment_intents/{}/confirm", taken.id());

    let again = world
        .post(
            &path,
            &format!("payment_method=pm_sepaDebit_success_at&{MANDATE}"),
        )
        .await;
    assert_eq!(again.body["status"], "processing");
    assert_eq!(again.body["last_payment_error"], Value::Null);
    let during = world
        .post(&path, "payment_method=pm_sepaDebit_success_at")
        .await;
    assert_eq!(during.error()["code"], "payment_intent_unexpected_state");
    world.settles().await;

    assert_eq!(read(&world, &taken).await["status"], "succeeded");
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn some_debits_take_three_minutes_and_one_takes_for_ever() {
    let world = World::open().await;
    let late = world.buys(&debit("pm_sepaDebit_successDelayed_ie")).await;
    let never = world.buys(&debit("pm_usBankAccount_processing")).await;
    let soon = world.buys(&debit("pm_sepaDebit_success_ie")).await;

    world.advances(20).await;
    eventually("the quick one is paid", || async {
        read(&world, &soon).await["status"] == "succeeded"
    })
    .await;
    assert_eq!(read(&world, &late).await["status"], "processing");
    world.settles().await;

    assert_eq!(read(&world, &late).await["status"], "succeeded");
    assert_eq!(read(&world, &never).await["status"], "processing");
}

#[tokio::test]
async fn a_debit_can_be_canceled_until_the_bank_has_decided() {
    let world = World::open().await;
    let taken = world.buys(&debit("pm_usBankAccount_success")).await;
    let path = format!("/v1/payment_intents/{}/cancel", taken.id());

    let canceled = world.post(&path, "").await;
    world.settles().await;

    assert_eq!(canceled.body["status"], "canceled");
    let after = read(&world, &taken).await;
    assert_eq!(after["status"], "canceled");
    assert_eq!(after["amount_received"], 0);
    assert_eq!(after["latest_charge"]["status"], "failed");
    assert_eq!(world.succeeded().await, 0);
    let paid = world.buys(&debit("pm_usBankAccount_success")).await;
    world.settles().await;
    let too_late = world
        .post(&format!("/v1/payment_intents/{}/cancel", paid.id()), "")
        .await;
    assert_eq!(too_late.error()["code"], "payment_intent_unexpected_state");
}

#[tokio::test]
async fn no_debit_without_a_mandate() {
    let world = World::open().await;
    let form = debit("pm_sepaDebit_success_de");
    let without = form.replace(&format!("&{MANDATE}"), "");

    let refused = world.buys(&without).await;

    assert_eq!(refused.status, 400);
    assert_eq!(refused.error().get("code"), None);
    let intent = &refused.error()["payment_intent"];
    assert_eq!(intent["status"], "requires_confirmation");
    let path = format!(
        "/v1/payment_intents/{}/confirm",
        intent["id"].as_str().unwrap()
    );
    let taken = world.post(&path, MANDATE).await;
    assert_eq!(taken.body["status"], "processing");
    let charge = read(&world, &taken).await["latest_charge"].clone();
    let mandate = charge["payment_method_details"]["sepa_debit"]["mandate"]
        .as_str()
        .unwrap();
    let mandate = world.get(&format!("/v1/mandates/{mandate}")).await.body;
    assert_eq!(mandate["status"], "active");
    assert_eq!(mandate["type"], "single_use");
    assert_eq!(
        mandate["single_use"],
        json!({ "amount": 4200, "currency": "eur" })
    );
    assert_eq!(
        mandate["customer_acceptance"]["online"]["ip_address"],
        "203.0.113.10"
    );
    assert!(mandate["payment_method_details"]["sepa_debit"]["reference"].is_string());
    for (mandate, param) in [
        ("mandate_data[x]=1", "mandate_data[customer_acceptance]"),
        (
            "mandate_data[customer_acceptance][online][ip_address]=1",
            "mandate_data[customer_acceptance][type]",
        ),
        (
            "mandate_data[customer_acceptance][type]=online",
            "mandate_data[customer_acceptance][online]",
        ),
        (
            "mandate_data[customer_acceptance][type]=online&mandate_data[customer_acceptance][online][ip_address]=1",
            "mandate_data[customer_acceptance][online][user_agent]",
        ),
        (
            "mandate_data[customer_acceptance][type]=phone",
            "mandate_data[customer_acceptance][type]",
        ),
    ] {
        let refused = world.buys(&format!("{without}&{mandate}")).await;
        assert_eq!(refused.status, 400, "{mandate}");
        assert_eq!(refused.error()["param"], param, "{mandate}");
    }
}

#[tokio::test]
async fn a_method_must_be_of_a_type_that_the_intent_accepts() {
    let world = World::open().await;
    let ach = debit("pm_usBankAccount_success");
    for (form, code, param) in [
        (
            ach.replace("types[]=us_bank_account", "types[]=card"),
            json!("payment_intent_invalid_parameter"),
            "payment_method",
        ),
        (
            // What is offered without being asked for are cards.
            ach.replace("&payment_method_types[]=us_bank_account", ""),
            json!("payment_intent_invalid_parameter"),
            "payment_method",
        ),
        (
            ach.replace("pm_usBankAccount_success", "pm_card_visa"),
            json!("payment_intent_invalid_parameter"),
            "payment_method",
        ),
        (ach.replace("=usd", "=eur"), Value::Null, "currency"),
        (
            debit("pm_sepaDebit_success_de").replace("=eur", "=usd"),
            Value::Null,
            "currency",
        ),
        (
            format!("{ach}&capture_method=manual"),
            Value::Null,
            "capture_method",
        ),
        (
            ach.replace("_success", "_gold"),
            json!("resource_missing"),
            "payment_method",
        ),
    ] {
        let refused = world.buys(&form).await;
        assert_eq!(refused.status, 400, "{form}");
        assert_eq!(refused.error()["code"], code, "{form}");
        assert_eq!(refused.error()["param"], param, "{form}");
    }
    assert_eq!(world.ledger().await["payment_intents"]["total"], 0);
    let card = world.buys("amount=4200&currency=usd").await;
    let path = format!("/v1/payment_intents/{}/confirm", card.id());
    let form =
        format!("payment_method=pm_usBankAccount_success&return_url=https://a.example&{MANDATE}");
    let refused = world.post(&path, &form).await;
    assert_eq!(refused.error()["code"], "payment_intent_invalid_parameter");
    let taken = world
        .post(
            &path,
            &format!("{form}&payment_method_types[]=us_bank_account"),
        )
        .await;
    assert_eq!(taken.body["status"], "processing", "{}", taken.body);
}
