//! Refunds: a part or all of the money, and never more.

use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

#[tokio::test]
async fn a_payment_is_refunded_in_parts_until_nothing_is_left() {
    let world = World::open().await;
    let paid = world.buys(PURCHASE).await;
    let charge = paid.body["latest_charge"].as_str().unwrap();

    let first = world
        .refunds(&format!(
            "payment_intent={}&amount=1200&reason=requested_by_customer&metadata[order]=7",
            paid.id()
        ))
        .await;
    let after_first = world.get(&format!("/v1/charges/{charge}")).await;
    let second = world.refunds(&format!("charge={charge}")).await;
    let after_second = world.get(&format!("/v1/charges/{charge}")).await;
    let third = world.refunds(&format!("charge={charge}")).await;

    assert_eq!(first.status, 200, "{}", first.body);
    assert_eq!(first.body["object"], "refund");
    assert_eq!(first.body["status"], "succeeded");
    assert_eq!(first.body["amount"], 1200);
    assert_eq!(first.body["currency"], "usd");
    assert_eq!(first.body["charge"], charge);
    assert_eq!(first.body["payment_intent"], paid.body["id"]);
    assert_eq!(first.body["reason"], "requested_by_customer");
    assert_eq!(first.body["metadata"], json!({ "order": "7" }));
    assert_eq!(first.body.get("failure_reason"), None);
    assert_eq!(after_first.body["amount_refunded"], 1200);
    assert_eq!(after_first.body["refunded"], false);
    assert_eq!(second.body["amount"], 3000);
    assert_eq!(after_second.body["amount_refunded"], 4200);
    assert_eq!(after_second.body["refunded"], true);
    assert_eq!(third.status, 400);
    assert_eq!(third.error()["code"], "charge_already_refunded");
    assert_eq!(third.error().get("param"), None);
    let intent = world
        .get(&format!("/v1/payment_intents/{}", paid.id()))
        .await;
    assert_eq!(intent.body["status"], "succeeded");
    let tally = json!({ "total": 2, "succeeded": 2, "amount_succeeded": 4200 });
    assert_eq!(world.ledger().await["refunds"], tally);
}

#[tokio::test]
async fn what_cannot_be_refunded_is_refused_and_changes_nothing() {
    let world = World::open().await;
    let paid = world.buys(PURCHASE).await;
    let authorized = world
        .buys(&format!("{PURCHASE}&capture_method=manual"))
        .await;
    let open = world.buys("amount=100&currency=usd").await;
    let declined = world
        .buys(&PURCHASE.replace("pm_card_visa", "pm_card_chargeDeclined"))
        .await;
    let (paid, open) = (paid.id(), open.id());
    let authorized_charge = authorized.body["latest_charge"].as_str().unwrap();
    let authorized = authorized.id();
    let failed_charge = declined.error()["charge"].as_str().unwrap();
    // The form, then code and param of the error.
    let rows = [
        (format!("payment_intent={paid}&amount=4201"), "-", "amount"),
        (
            format!("payment_intent={paid}&amount=0"),
            "parameter_invalid_integer",
            "amount",
        ),
        (
            format!("payment_intent={paid}&amount=-1"),
            "parameter_invalid_integer",
            "amount",
        ),
        (
            format!("payment_intent={paid}&amount=x"),
            "parameter_invalid_integer",
            "amount",
        ),
        (format!("payment_intent={paid}&reason=whim"), "-", "reason"),
        (
            format!("payment_intent={paid}&ammount=1"),
            "parameter_unknown",
            "ammount",
        ),
        (
            format!("payment_intent={paid}&charge=ch_x"),
            "parameters_exclusive",
            "-",
        ),
        ("amount=1".to_owned(), "parameter_missing", "-"),
        (
            "payment_intent=pi_nobody".to_owned(),
            "resource_missing",
            "payment_intent",
        ),
        ("charge=ch_nobody".to_owned(), "resource_missing", "charge"),
        (format!("payment_intent={authorized}"), "-", "-"),
        (format!("charge={authorized_charge}"), "-", "-"),
        (format!("payment_intent={open}"), "-", "-"),
        (
            format!("charge={failed_charge}"),
            "charge_not_refundable",
            "-",
        ),
    ];
    for (form, code, param) in rows {
        let refused = world.refunds(&form).await;

        assert_eq!(refused.status, 400, "{form}");
        let given = |field: &str| refused.error()[field].as_str().unwrap_or("-");
        assert_eq!(given("type"), "invalid_request_error", "{form}");
        assert_eq!(given("code"), code, "{form}");
        assert_eq!(given("param"), param, "{form}");
    }
    assert_eq!(world.ledger().await["refunds"]["total"], 0);
    let all = world
        .refunds(&format!("payment_intent={paid}&amount=4200"))
        .await;
    assert_eq!(all.body["status"], "succeeded");
}

#[tokio::test]
async fn an_authorization_that_was_released_has_been_refunded_already() {
    let world = World::open().await;
    let form = format!("{PURCHASE}&capture_method=manual");
    let (canceled, expired) = (world.buys(&form).await, world.buys(&form).await);
    let cancel = format!("/v1/payment_intents/{}/cancel", canceled.id());
    world.post(&cancel, "").await;
    world.settles_object(expired.id()).await;

    for released in [canceled, expired] {
        let charge = released.body["latest_charge"].as_str().unwrap();
        let shown = world.get(&format!("/v1/charges/{charge}")).await;
        assert_eq!(shown.body["refunded"], true);
        let refused = world.refunds(&format!("charge={charge}")).await;
        assert_eq!(refused.status, 400);
        assert_eq!(refused.error()["code"], "charge_already_refunded");
    }
    assert_eq!(world.ledger().await["refunds"]["total"], 0);
}

#[tokio::test]
async fn two_refunds_at_once_never_exceed_the_payment() {
    let world = World::on_disk(Vec::new()).await;
    for _ in 0..10 {
        let paid = world.buys(PURCHASE).await;
        let form = format!("payment_intent={}&amount=2500", paid.id());

        let (one, other) = tokio::join!(world.refunds(&form), world.refunds(&form));

        let (won, lost) = if one.status == 200 {
            (one, other)
        } else {
            (other, one)
        };
        assert_eq!(won.body["amount"], 2500);
        assert_eq!(lost.status, 400, "{}", lost.body);
        assert_eq!(lost.error()["param"], "amount");
        let charge = paid.body["latest_charge"].as_str().unwrap();
        let charge = world.get(&format!("/v1/charges/{charge}")).await;
        assert_eq!(charge.body["amount_refunded"], 2500);
    }
    let refunds = &world.ledger().await["refunds"];
    assert_eq!(refunds["amount_succeeded"], 25_000);
    assert_eq!(refunds["total"], 10);
}

#[tokio::test]
async fn a_repeated_refund_gives_back_once() {
    let world = World::open().await;
    let paid = world.buys(PURCHASE).await;
    let form = format!("payment_intent={}&amount=4000", paid.id());
    let lost = json!({ "on": { "operation": "refunds.create" }, "fault": "drop_response" });
    world.faults(lost).await;

    let headers = [("idempotency-key", "give-back-1")];
    let unanswered = world
        .try_call(reqwest::Method::POST, "/v1/refunds", &form, &headers)
        .await;
    let again = world
        .post_with_key("/v1/refunds", &form, "give-back-1")
        .await;
    let refused = world
        .post_with_key("/v1/refunds", &form, "give-back-2")
        .await;
    let refused_again = world
        .post_with_key("/v1/refunds", &form, "give-back-2")
        .await;

    assert!(unanswered.is_err());
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.body["amount"], 4000);
    assert_eq!(refused.error()["param"], "amount");
    assert_eq!(refused_again.header("idempotent-replayed"), Some("true"));
    assert_eq!(refused_again.bytes, refused.bytes);
    assert_eq!(world.ledger().await["refunds"]["amount_succeeded"], 4000);
}

#[tokio::test]
async fn events_tell_of_a_refund_in_order() {
    let world = World::open().await;
    let paid = world.buys(PURCHASE).await;
    world.settles().await;
    let before = world.events().await.len();

    let form = format!("payment_intent={}&amount=1200", paid.id());
    let refund = world.post_with_key("/v1/refunds", &form, "give-back").await;

    let told = world.events().await.split_off(before);
    let types: Vec<&Value> = told.iter().map(|event| &event["type"]).collect();
    assert_eq!(
        types,
        [
            "refund.created",
            "charge.refunded",
            "refund.updated",
            "charge.refund.updated"
        ]
    );
    for event in &told {
        assert_eq!(event["request"]["id"], refund.header("request-id").unwrap());
        assert_eq!(event["request"]["idempotency_key"], "give-back");
    }
    assert_eq!(told[0]["data"]["object"]["id"], refund.body["id"]);
    assert_eq!(told[1]["data"]["object"]["amount_refunded"], 1200);
    assert_eq!(
        told[1]["data"]["previous_attributes"],
        json!({ "amount_refunded": 0 })
    );
    assert_eq!(told[2]["data"]["object"], refund.body);
    assert_eq!(told[3]["data"]["object"], refund.body);
    let previous = json!({
        "destination_details": { "card": { "reference": null, "reference_status": "pending" } }
    });
    assert_eq!(told[2]["data"]["previous_attributes"], previous);
}

#[tokio::test]
async fn a_pending_refund_succeeds_later() {
    let world = World::open().await;
    let paid = world
        .buys(&PURCHASE.replace("pm_card_visa", "pm_card_pendingRefund"))
        .await;
    world.settles().await;

    let refund = world
        .refunds(&format!("payment_intent={}", paid.id()))
        .await;
    let pending = world.ledger().await;
    let before = world.events().await.len();
    world.settles_object(refund.id()).await;

    assert_eq!(refund.body["status"], "pending");
    assert_eq!(refund.body["pending_reason"], "processing");
    assert_eq!(
        pending["refunds"],
        json!({ "total": 1, "succeeded": 0, "amount_succeeded": 0 })
    );
    let succeeded = world.get(&format!("/v1/refunds/{}", refund.id())).await;
    assert_eq!(succeeded.body["status"], "succeeded");
    assert_eq!(succeeded.body.get("pending_reason"), None);
    let told = world.events().await.split_off(before);
    let types: Vec<&Value> = told.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["refund.updated", "charge.refund.updated"]);
    assert_eq!(told[0]["data"]["previous_attributes"]["status"], "pending");
    assert_eq!(told[0]["request"]["id"], Value::Null);
}

#[tokio::test]
async fn a_refund_that_fails_later_leaves_the_money_where_it_was() {
    let world = World::open().await;
    let paid = world
        .buys(&PURCHASE.replace("pm_card_visa", "pm_card_refundFail"))
        .await;
    world.settles().await;
    let form = format!("payment_intent={}", paid.id());

    let refund = world.refunds(&form).await;
    let before = world.events().await.len();
    world.settles_object(refund.id()).await;

    assert_eq!(refund.body["status"], "succeeded");
    let failed = world.get(&format!("/v1/refunds/{}", refund.id())).await;
    assert_eq!(failed.body["status"], "failed");
    assert_eq!(failed.body["failure_reason"], "expired_or_canceled_card");
    assert!(failed.body["failure_balance_transaction"].is_string());
    let told = world.events().await.split_off(before);
    let types: Vec<&Value> = told.iter().map(|event| &event["type"]).collect();
    assert_eq!(
        types,
        ["refund.failed", "refund.updated", "charge.refund.updated"]
    );
    assert_eq!(told[0]["data"]["object"], failed.body);
    let charge = world
        .get(&format!(
            "/v1/charges/{}",
            text(&paid.body["latest_charge"])
        ))
        .await;
    assert_eq!(charge.body["amount_refunded"], 0);
    assert_eq!(charge.body["refunded"], false);
    assert_eq!(world.refunds(&form).await.body["amount"], 4200);
}

#[tokio::test]
async fn a_debit_is_refunded_once_it_has_succeeded_and_by_a_transfer() {
    let world = World::open().await;
    let form = "amount=4200&currency=eur&confirm=true&payment_method=pm_sepaDebit_success_de\
                &payment_method_types[]=sepa_debit&mandate_data[customer_acceptance][type]=offline";
    let debited = world.buys(form).await;
    let charge = text(&debited.body["latest_charge"]);

    let by_intent = world
        .refunds(&format!("payment_intent={}", debited.id()))
        .await;
    let by_charge = world.refunds(&format!("charge={charge}")).await;
    world.settles().await;
    let refund = world.refunds(&format!("charge={charge}&amount=200")).await;
    world.settles().await;

    assert_eq!(debited.body["status"], "processing");
    assert_eq!((by_intent.status, by_charge.status), (400, 400));
    assert_eq!(refund.body["status"], "pending");
    assert!(refund.id().starts_with("pyr_"));
    let settled = world.get(&format!("/v1/refunds/{}", refund.id())).await;
    assert_eq!(settled.body["status"], "succeeded");
    let way = &settled.body["destination_details"]["eu_bank_transfer"];
    assert_eq!(way["reference_status"], "available");
    let transaction = text(&refund.body["balance_transaction"]);
    let path = format!("/v1/balance_transactions/{transaction}");
    assert_eq!(world.get(&path).await.body["type"], "payment_refund");
}

#[tokio::test]
async fn of_a_partial_capture_only_what_was_captured_is_refunded() {
    let world = World::open().await;
    let held = world
        .buys(&format!("{PURCHASE}&capture_method=manual"))
        .await;
    let capture = format!("/v1/payment_intents/{}/capture", held.id());
    world.post(&capture, "amount_to_capture=3000").await;
    let form = format!("payment_intent={}", held.id());

    let too_much = world.refunds(&format!("{form}&amount=3001")).await;
    let all = world.refunds(&form).await;

    assert_eq!(too_much.error()["param"], "amount");
    assert_eq!(all.body["amount"], 3000);
    let charge = format!("/v1/charges/{}", text(&held.body["latest_charge"]));
    let charge = world.get(&charge).await.body;
    assert_eq!(charge["amount_refunded"], 3000);
    assert_eq!(charge["refunded"], true);
}

#[tokio::test]
async fn only_the_metadata_of_a_refund_can_change() {
    let world = World::open().await;
    let paid = world.buys(PURCHASE).await;
    let form = format!("payment_intent={}&metadata[a]=1&metadata[b]=2", paid.id());
    let refund = world.refunds(&form).await;
    let path = format!("/v1/refunds/{}", refund.id());

    let updated = world.post(&path, "metadata[a]=&metadata[c]=3").await;
    let refused = world.post(&path, "amount=1").await;
    let not_canceled = world.post(&format!("{path}/cancel"), "").await;
    let cleared = world.post(&path, "metadata=").await;

    assert_eq!(updated.body["metadata"], json!({ "b": "2", "c": "3" }));
    assert_eq!(refused.error()["code"], "parameter_unknown");
    assert_eq!(not_canceled.status, 400);
    assert_eq!(not_canceled.error()["type"], "invalid_request_error");
    assert_eq!(cleared.body["metadata"], json!({}));
    assert_eq!(world.get(&path).await.body, cleared.body);
    let told = world.get("/v1/events?type=refund.updated").await.body["data"].clone();
    let previous = &told[1]["data"]["previous_attributes"];
    assert_eq!(previous, &json!({ "metadata": { "a": "1", "c": null } }));
    assert_eq!(world.get("/v1/refunds/re_nobody").await.status, 404);
}

#[tokio::test]
async fn refunds_are_listed_and_expanded() {
    let world = World::open().await;
    let paid = world.buys(PURCHASE).await;
    let other = world.buys(PURCHASE).await;
    let charge = text(&paid.body["latest_charge"]);
    let mut ids = Vec::new();
    for intent in [&paid, &other, &paid] {
        let refund = world
            .refunds(&format!("payment_intent={}&amount=100", intent.id()))
            .await;
        ids.insert(0, refund.body["id"].clone());
    }
    let of_paid = [ids[0].clone(), ids[2].clone()];

    let listed = async |path: &str| ids_in(&world.get(path).await);
    assert_eq!(listed("/v1/refunds").await, ids);
    assert_eq!(
        listed(&format!("/v1/refunds?payment_intent={}", paid.id())).await,
        of_paid
    );
    assert_eq!(
        listed(&format!("/v1/refunds?charge={charge}")).await,
        of_paid
    );
    assert_eq!(
        listed(&format!("/v1/charges/{charge}/refunds?limit=1")).await,
        of_paid[..1]
    );
    assert!(
        listed("/v1/refunds?created[gt]=99999999999")
            .await
            .is_empty()
    );

    let expanded = world
        .get(&format!(
            "/v1/charges/{charge}?expand[]=refunds.data.payment_intent"
        ))
        .await;
    let refunds = &expanded.body["refunds"];
    assert_eq!(refunds["object"], "list");
    assert_eq!(refunds["url"], format!("/v1/charges/{charge}/refunds"));
    assert_eq!(refunds["data"][1]["id"], ids[2]);
    assert_eq!(
        refunds["data"][1]["payment_intent"]["object"],
        "payment_intent"
    );
    let plain = world.get(&format!("/v1/charges/{charge}")).await;
    assert_eq!(plain.body.get("refunds"), None);
    let refund = world
        .refunds(&format!("charge={charge}&amount=100&expand[]=charge"))
        .await;
    assert_eq!(refund.body["charge"]["amount_refunded"], 300);
}

fn ids_in(list: &Answer) -> Vec<Value> {
    let data = list.body["data"].as_array().unwrap();
    data.iter().map(|object| object["id"].clone()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
