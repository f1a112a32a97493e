//! The balance, and the movements it is the sum of.

use serde_json::{Value, json};

use super::world::{PURCHASE, World};

#[tokio::test]
async fn the_balance_is_the_sum_of_what_moved() {
    let world = World::open().await;
    assert_eq!(balance(&world).await, json!({ "usd": [0, 0] }));

    // 4200 less a fee of 152.
    let paid = world.buys(PURCHASE).await;
    assert_eq!(balance(&world).await, json!({ "usd": [0, 0] }));
    world.settles_object(paid.id()).await;
    assert_eq!(balance(&world).await, json!({ "usd": [0, 4048] }));

    world
        .refunds(&format!("payment_intent={}&amount=1000", paid.id()))
        .await;
    assert_eq!(balance(&world).await, json!({ "usd": [-1000, 4048] }));
    world.settles().await;
    assert_eq!(balance(&world).await, json!({ "usd": [3048, 0] }));

    // 1000 less a fee of 59, in another currency and at once.
    let form = "amount=1000&currency=eur&confirm=true&payment_method_types[]=card&capture_method=automatic";
    world
        .buys(&format!("{form}&payment_method=pm_card_bypassPending"))
        .await;
    assert_eq!(
        balance(&world).await,
        json!({ "eur": [941, 0], "usd": [3048, 0] })
    );
}

#[tokio::test]
async fn a_refund_is_a_movement_and_its_failure_another() {
    let world = World::open().await;
    let form = PURCHASE.replace("pm_card_visa", "pm_card_refundFail");
    let paid = world.buys(&form).await;

    let form = format!(
        "payment_intent={}&amount=1000&expand[]=balance_transaction",
        paid.id()
    );
    let refund = world.refunds(&form).await;
    world.settles_object(refund.id()).await;

    let out = &refund.body["balance_transaction"];
    assert_eq!(out["amount"], -1000);
    assert_eq!(out["net"], -1000);
    assert_eq!(out["type"], "refund");
    assert_eq!(out["source"], refund.body["id"]);
    let path = format!(
        "/v1/refunds/{}?expand[]=failure_balance_transaction",
        refund.id()
    );
    let failed = world.get(&path).await;
    let back = &failed.body["failure_balance_transaction"];
    assert_eq!(back["amount"], 1000);
    assert_eq!(back["type"], "refund_failure");
    let of_refund = format!("/v1/balance_transactions?source={}", refund.id());
    let movements = world.get(&of_refund).await.body["data"].clone();
    assert_eq!(movements.as_array().unwrap().len(), 2);
}

/// By currency: what is available, and what is pending.
async fn balance(world: &World) -> Value {
    let balance = world.get("/v1/balance").await.body;
    assert_eq!(balance["object"], "balance");
    let entries = balance["available"].as_array().unwrap().iter();
    let pending = balance["pending"].as_array().unwrap().iter();
    entries
        .zip(pending)
        .map(|(available, pending)| {
            assert_eq!(available["currency"], pending["currency"]);
            let currency = available["currency"].as_str().unwrap().to_owned();
            (currency, json!([available["amount"], pending["amount"]]))
        })
        .collect()
}
