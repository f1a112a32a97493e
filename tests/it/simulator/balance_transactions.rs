//! What a payment adds to the balance.

use serde_json::{Value, json};

use super::world::{PURCHASE, World, eventually};

#[tokio::test]
async fn a_payment_adds_its_amount_less_a_fee_to_the_balance() {
    let world = World::open().await;
    let paid = world
        .buys(&format!(
            "{PURCHASE}&capture_method=automatic&description=two+teas&expand[]=latest_charge.balance_transaction"
        ))
        .await;

    let transaction = paid.body["latest_charge"]["balance_transaction"].clone();

    assert_eq!(transaction["object"], "balance_transaction");
    assert_eq!(transaction["amount"], 4200);
    assert_eq!(transaction["fee"], 152);
    assert_eq!(transaction["net"], 4048);
    assert_eq!(transaction["currency"], "usd");
    assert_eq!(transaction["type"], "charge");
    assert_eq!(transaction["reporting_category"], "charge");
    assert_eq!(transaction["description"], "two teas");
    assert_eq!(transaction["source"], paid.body["latest_charge"]["id"]);
    assert_eq!(transaction["fee_details"][0]["amount"], 152);
    let path = format!("/v1/balance_transactions/{}", text(&transaction["id"]));
    assert_eq!(world.get(&path).await.body, transaction);
    let with_source = world.get(&format!("{path}?expand[]=source")).await.body;
    assert_eq!(with_source["source"]["object"], "charge");
}

#[tokio::test]
async fn money_is_pending_for_two_days() {
    let world = World::open().await;
    world
        .buys(&format!("{PURCHASE}&capture_method=automatic"))
        .await;
    let newest = async || world.get("/v1/balance_transactions").await.body["data"][0].clone();
    let pending = newest().await;
    assert_eq!(pending["status"], "pending");
    let wait = pending["available_on"].as_i64().unwrap() - pending["created"].as_i64().unwrap();
    assert_eq!(wait, 2 * 24 * 60 * 60);

    world.advances(wait).await;

    eventually("the money is available", || async {
        newest().await["status"] == "available"
    })
    .await;
}

#[tokio::test]
async fn a_test_card_spares_a_test_the_wait() {
    let world = World::open().await;
    let form = PURCHASE.replace("pm_card_visa", "pm_card_bypassPending");
    world
        .buys(&format!("{form}&capture_method=automatic"))
        .await;

    let newest = world.get("/v1/balance_transactions").await.body["data"][0].clone();

    assert_eq!(newest["status"], "available");
    assert_eq!(newest["available_on"], newest["created"]);
}

#[tokio::test]
async fn balance_transactions_are_found_by_what_is_behind_them() {
    let world = World::open().await;
    let dollars = world.buys(PURCHASE).await;
    world.buys(&PURCHASE.replace("usd", "eur")).await;
    world
        .buys(&PURCHASE.replace("pm_card_visa", "pm_card_chargeDeclined"))
        .await;
    world.settles().await;
    let found = async |query: &str| {
        let list = world
            .get(&format!("/v1/balance_transactions?{query}"))
            .await
            .body;
        list["data"].as_array().unwrap().len()
    };

    assert_eq!(found("").await, 2);
    assert_eq!(found("currency=eur").await, 1);
    assert_eq!(found("type=charge").await, 2);
    assert_eq!(found("type=refund").await, 0);
    let charge = text(&dollars.body["latest_charge"]);
    assert_eq!(found(&format!("source={charge}")).await, 1);
    assert_eq!(found("limit=1").await, 1);
    let unknown = world.get("/v1/balance_transactions/txn_nobody").await;
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.error()["code"], json!("resource_missing"));
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
