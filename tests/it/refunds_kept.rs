//! Refunds that the provider tells of and that do not fit: kept until they do, or until nobody can ask for them any more.

use serde_json::{Value, json};

use crate::{
    outbox::another_shop,
    refund_notices::{KEPT, OPEN, came_to, gives_back, is, paid},
    world::{Letter, Shop},
};

const MONTH: u64 = 31 * 24 * 3600;

async fn tells(shop: &Shop, event: &Value) {
    let now = shop.app().till.clock.now().timestamp();
    let letter = Letter::of(event).dated(&now);
    assert_eq!(letter.to(&shop.url).await.status, 200);
}

/// Of a payment that is not ours, or that we have not heard of yet.
async fn tells_of_a_strangers(shop: &Shop, n: u32) {
    let told = json!({
        "id": format!("evt_{n}"), "object": "event", "type": "refund.created", "livemode": false,
        "data": {"object": {"id": format!("re_{n}"), "object": "refund", "amount": 100, "currency": "eur",
            "payment_intent": format!("pi_{n}"), "status": "succeeded", "metadata": {}}},
    });
    tells(shop, &told).await;
}

/// Somebody's workers publish and send all that there is.
async fn is_published(shop: &Shop) {
    let other = another_shop(shop, &[]).await;
    shop.finishes().await;
    other.stop().await;
}

#[tokio::test]
async fn what_is_ours_is_kept_until_it_fits_and_a_strangers_is_forgotten_after_a_month() {
    let shop = Shop::open().await;
    let (_, intent) = paid(&shop, "pm_card_refundFail").await;
    shop.settles().await;
    shop.provider.loses_webhooks().await;
    // The bank sends the first one back, so that there is money for the second; of that we hear late.
    gives_back(&shop, &intent, 300).await;
    shop.provider.control("settle", json!({})).await;
    gives_back(&shop, &intent, 300).await;
    let created = shop.provider.events("refund.created").await;
    let failed = shop.provider.events("refund.failed").await.remove(0);
    tells(&shop, &created[1]).await;
    tells(&shop, &created[0]).await;
    assert_eq!(shop.count(KEPT).await, 1);
    tells_of_a_strangers(&shop, 1).await;
    assert_eq!(shop.count(KEPT).await, 2);
    is_published(&shop).await;

    shop.later(MONTH);
    tells_of_a_strangers(&shop, 2).await;
    let first = "select count(*) from unbooked_refunds where provider_id = 're_1'";
    assert_eq!(shop.count(first).await, 0, "a month old, and nobody's");
    assert_eq!(shop.count(KEPT).await, 2);

    tells(&shop, &failed).await;
    is(&shop, "failed", 1).await;
    is(&shop, "succeeded", 1).await;
    assert_eq!(shop.count(KEPT).await, 1);
    is_published(&shop).await;
    assert_eq!(shop.count(OPEN).await, 1, "that the first has come back");
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    came_to(&shop, 1, 300).await;
}
