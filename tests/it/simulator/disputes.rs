//! Disputes: the bank of a customer takes the money back.

use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

#[tokio::test]
async fn a_disputed_payment_cannot_be_refunded() {
    let world = World::open().await;
    let (paid, dispute) = disputed(&world, "pm_card_createDispute").await;

    let refused = world
        .refunds(&format!("payment_intent={}", paid.id()))
        .await;

    assert_eq!(dispute["object"], "dispute");
    assert_eq!(dispute["status"], "needs_response");
    assert_eq!(dispute["reason"], "fraudulent");
    assert_eq!(dispute["amount"], 4200);
    assert_eq!(dispute["payment_intent"], paid.body["id"]);
    assert_eq!(dispute["charge"], paid.body["latest_charge"]);
    assert_eq!(dispute["is_charge_refundable"], false);
    assert_eq!(dispute["balance_transactions"][0]["amount"], -4200);
    assert_eq!(dispute["balance_transactions"][0]["net"], -5700);
    assert_eq!(refused.status, 400);
    assert_eq!(refused.error()["code"], "charge_disputed");
    assert_eq!(refused.error().get("param"), None);
    assert_eq!(charge_of(&world, &paid).await["disputed"], true);
    assert_eq!(world.ledger().await["refunds"]["total"], 0);
    let told = told_of_disputes(&world).await;
    assert_eq!(
        told,
        ["charge.dispute.created", "charge.dispute.funds_withdrawn"]
    );
    let event = world
        .get("/v1/events?type=charge.dispute.created")
        .await
        .body["data"][0]
        .clone();
    assert_eq!(event["request"]["id"], Value::Null);
    assert_eq!(event["data"]["object"], dispute);
}

#[tokio::test]
async fn a_payment_captured_later_is_disputed_then() {
    let world = World::open().await;
    let form = PURCHASE.replace("pm_card_visa", "pm_card_createDispute");
    let held = world.buys(&format!("{form}&capture_method=manual")).await;
    assert_eq!(world.get("/v1/disputes").await.body["data"], json!([]));

    let capture = format!("/v1/payment_intents/{}/capture", held.id());
    world.post(&capture, "amount_to_capture=3000").await;
    world.settles_object(held.id()).await;

    let disputes = world.get("/v1/disputes").await;
    assert_eq!(disputes.body["data"][0]["amount"], 3000);
}

#[tokio::test]
async fn the_card_says_what_the_dispute_is_about() {
    let world = World::open().await;

    let (_, dispute) = disputed(&world, "pm_card_createDisputeProductNotReceived").await;

    assert_eq!(dispute["reason"], "product_not_received");
    assert_eq!(dispute["status"], "needs_response");
    let card = &dispute["payment_method_details"]["card"];
    assert_eq!(
        (&card["brand"], &card["network"]),
        (&json!("visa"), &json!("visa"))
    );
}

#[tokio::test]
async fn an_inquiry_takes_no_money_and_ends_with_a_refund() {
    let world = World::open().await;
    let (paid, inquiry) = disputed(&world, "pm_card_createDisputeInquiry").await;
    let path = path_of(&inquiry);
    let form = format!("payment_intent={}", paid.id());

    let in_part = world.refunds(&format!("{form}&amount=100")).await;
    let still_open = world.get(&path).await;
    let close = world.post(&format!("{path}/close"), "").await;
    let in_full = world.refunds(&form).await;
    let closed = world.get(&path).await;

    assert_eq!(inquiry["status"], "warning_needs_response");
    assert_eq!(inquiry["balance_transactions"], json!([]));
    assert_eq!(inquiry["is_charge_refundable"], true);
    assert_eq!(in_part.status, 200);
    assert_eq!(still_open.body["status"], "warning_needs_response");
    assert_eq!(close.status, 400);
    assert_eq!(in_full.body["amount"], 4100);
    assert_eq!(closed.body["status"], "warning_closed");
    let told = told_of_disputes(&world).await;
    assert_eq!(told, ["charge.dispute.created", "charge.dispute.closed"]);
}

#[tokio::test]
async fn whoever_closes_a_dispute_has_lost_it() {
    let world = World::open().await;
    let (_, dispute) = disputed(&world, "pm_card_createDispute").await;
    let path = path_of(&dispute);

    let closed = world.post(&format!("{path}/close"), "").await;
    let twice = world.post(&format!("{path}/close"), "").await;
    let answered = world.post(&path, "evidence[customer_name]=Ada").await;

    assert_eq!(closed.body["status"], "lost");
    assert_eq!((twice.status, answered.status), (400, 400));
    assert_eq!(world.get(&path).await.body, closed.body);
    let told = told_of_disputes(&world).await;
    assert_eq!(told.last().unwrap(), "charge.dispute.closed");
}

#[tokio::test]
async fn evidence_is_submitted_once_and_the_bank_decides() {
    let world = World::open().await;
    let (paid, dispute) = disputed(&world, "pm_card_createDispute").await;
    let path = path_of(&dispute);

    let drafted = world
        .post(
            &path,
            "evidence[customer_name]=Ada&submit=false&metadata[k]=v",
        )
        .await;
    let submitted = world
        .post(&path, "evidence[uncategorized_text]=winning_evidence")
        .await;
    let twice = world.post(&path, "evidence[customer_name]=Bob").await;
    world.settles_object(submitted.id()).await;
    let won = world.get(&path).await;
    let refunded = world
        .refunds(&format!("payment_intent={}", paid.id()))
        .await;

    assert_eq!(drafted.body["status"], "needs_response");
    assert_eq!(drafted.body["evidence_details"]["has_evidence"], true);
    let method = |answer: &Answer| answer.body["evidence_details"]["submission_method"].clone();
    assert_eq!(method(&drafted), "not_submitted");
    assert_eq!(method(&submitted), "manual");
    assert_eq!(drafted.body["metadata"], json!({ "k": "v" }));
    assert_eq!(submitted.body["status"], "under_review");
    assert_eq!(submitted.body["evidence"]["customer_name"], "Ada");
    assert_eq!(submitted.body["evidence_details"]["submission_count"], 1);
    assert_eq!(twice.status, 400);
    assert_eq!(won.body["status"], "won");
    assert_eq!(won.body["balance_transactions"][1]["amount"], 4200);
    assert_eq!(refunded.body["amount"], 4200);
    let told = told_of_disputes(&world).await;
    let order = [
        "charge.dispute.created",
        "charge.dispute.funds_withdrawn",
        "charge.dispute.updated",
        "charge.dispute.updated",
        "charge.dispute.funds_reinstated",
        "charge.dispute.closed",
    ];
    assert_eq!(told, order);
}

#[tokio::test]
async fn losing_evidence_loses() {
    let world = World::open().await;
    let (paid, dispute) = disputed(&world, "pm_card_createDispute").await;
    let path = path_of(&dispute);

    let submitted = world
        .post(&path, "evidence[uncategorized_text]=losing_evidence")
        .await;
    world.settles_object(submitted.id()).await;

    assert_eq!(world.get(&path).await.body["status"], "lost");
    let refused = world
        .refunds(&format!("payment_intent={}", paid.id()))
        .await;
    assert_eq!(refused.error()["code"], "charge_disputed");
}

#[tokio::test]
async fn nobody_disputes_what_was_given_back() {
    let world = World::open().await;
    let form = PURCHASE.replace("pm_card_visa", "pm_card_createDispute");
    let paid = world.buys(&form).await;
    world
        .refunds(&format!("payment_intent={}", paid.id()))
        .await;

    world.settles().await;

    assert_eq!(world.get("/v1/disputes").await.body["data"], json!([]));
}

#[tokio::test]
async fn disputes_are_listed_and_found() {
    let world = World::open().await;
    let (paid, first) = disputed(&world, "pm_card_createDispute").await;
    let (_, second) = disputed(&world, "pm_card_createDispute").await;

    let all = world.get("/v1/disputes").await;
    let of_paid = format!(
        "/v1/disputes?payment_intent={}&expand[]=data.charge",
        paid.id()
    );
    let of_paid = world.get(&of_paid).await;

    assert_eq!(all.body["data"], json!([second, first]));
    assert_eq!(of_paid.body["data"][0]["id"], first["id"]);
    assert_eq!(of_paid.body["data"][0]["charge"]["disputed"], true);
    assert_eq!(of_paid.body["data"].as_array().unwrap().len(), 1);
    assert_eq!(world.get("/v1/disputes/du_nobody").await.status, 404);
    let unknown = world.post(&path_of(&first), "evidence[alibi]=x").await;
    assert_eq!(unknown.error()["param"], "evidence[alibi]");
}

/// A payment with this card, and the dispute about it.
async fn disputed(world: &World, card: &str) -> (Answer, Value) {
    let paid = world.buys(&PURCHASE.replace("pm_card_visa", card)).await;
    assert_eq!(paid.body["status"], "succeeded");
    world.settles().await;
    let path = format!("/v1/disputes?payment_intent={}", paid.id());
    let dispute = world.get(&path).await.body["data"][0].clone();
    (paid, dispute)
}

fn path_of(dispute: &Value) -> String {
    format!("/v1/disputes/{}", dispute["id"].as_str().unwrap())
}

async fn charge_of(world: &World, paid: &Answer) -> Value {
    let charge = paid.body["latest_charge"].as_str().unwrap();
    world.get(&format!("/v1/charges/{charge}")).await.body
}

async fn told_of_disputes(world: &World) -> Vec<String> {
    let mut told = world.told_since(0).await;
    told.retain(|kind| kind.starts_with("charge.dispute."));
    told
}
