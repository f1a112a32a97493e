//! A payment that came too late, and somebody at the provider's dashboard who gives it back before the shop does.

use serde_json::json;

use crate::{
    late_success::{
        calls, declined, is_given_back, is_paid, is_told_once, nothing_came_of_it, shop,
    },
    outbox::another_shop,
    refund_leases::{owes_to, performs},
    refund_notices::KEPT,
    world::{Letter, Shop, eventually},
};

const REFUND: &str = "refunds.create";

/// By hand, at the provider.
async fn gives_back(shop: &Shop, body: &str) {
    let made = calls(&shop.provider, "/v1/refunds", body).await;
    assert_eq!(made.status, 200, "{}", made.html);
}

/// It was given back before the shop knew that it had come.
#[tokio::test]
async fn what_was_given_back_before_the_shop_knew_of_it_is_its_refund() {
    let shop = shop().await;
    let (_, _, intent) = declined(&shop).await;
    let lost = json!({"on": {"webhook": "payment_intent.succeeded"}, "fault": "drop", "times": 1});
    shop.provider.fault(lost).await;
    is_paid(&shop, &intent, "pm_card_visa").await;
    gives_back(&shop, &format!("payment_intent={intent}")).await;
    eventually("it is kept", || async { shop.count(KEPT).await == 1 }).await;

    shop.later(61);
    is_given_back(&shop).await;
    assert_eq!(shop.count(KEPT).await, 0);
    is_told_once(&shop).await;
    nothing_came_of_it(&shop).await;
}

/// What the shop has written down and not yet made, as somebody else's refund of the same money.
const THEIRS: &str =
    "select count(*) from refunds where kind = 'late_payment' and provider_id is not null";

async fn intent(shop: &Shop) -> String {
    let intent = shop.db().query("select payment_intent_id from refunds");
    intent.fetch_scalar().await.expect("an id")
}

/// The provider's own news of the refund, which was lost.
async fn is_told(shop: &Shop, kind: &str) {
    let event = shop.provider.events(kind).await.remove(0);
    assert_eq!(Letter::of(&event).to(&shop.url).await.status, 200);
}

/// Workers of another process publish, and send what is to be sent.
async fn is_explained(shop: &Shop) {
    let other = another_shop(shop, &["--public-url", &shop.url]).await;
    is_told_once(shop).await;
    other.stop().await;
    shop.provider.mends().await;
    nothing_came_of_it(shop).await;
}

/// The shop knows of it, and its own call has not arrived.
#[tokio::test]
async fn what_is_given_back_before_our_own_call_arrives_is_its_refund() {
    let (shop, refunder) = owes_to("pm_card_visa").await;
    let lost = json!({"on": {"operation": REFUND}, "fault": "drop_request", "times": 4});
    shop.provider.fault(lost).await;
    performs(&refunder).await;
    let intent = intent(&shop).await;
    // One that has failed, a part, and one in another currency are not it.
    for (n, amount, currency, status) in [
        (11, 490, "eur", "failed"),
        (12, 489, "eur", "succeeded"),
        (13, 490, "usd", "succeeded"),
    ] {
        let told = json!({
            "id": format!("evt_{n}"), "object": "event", "type": "refund.updated", "livemode": false,
            "data": {"object": {"id": format!("re_{n}"), "object": "refund", "amount": amount, "currency": currency,
                "payment_intent": intent, "status": status, "metadata": {}}},
        });
        assert_eq!(Letter::of(&told).to(&shop.url).await.status, 200);
    }
    assert_eq!(shop.count(THEIRS).await, 0);

    gives_back(&shop, &format!("payment_intent={intent}")).await;
    is_told(&shop, "refund.created").await;
    is_told(&shop, "refund.updated").await;
    assert_eq!(shop.count(THEIRS).await, 1);
    shop.later(10);
    performs(&refunder).await;
    is_explained(&shop).await;
}

/// No webhook tells of it: our own call is refused, or is never made again, since the reason is looked for.
#[tokio::test]
async fn what_nobody_tells_of_is_found_at_the_provider() {
    for lost in [0, 4] {
        let (shop, refunder) = owes_to("pm_card_visa").await;
        if lost > 0 {
            let lost = json!({"on": {"operation": REFUND}, "fault": "drop_request", "times": lost});
            shop.provider.fault(lost).await;
            performs(&refunder).await;
        }
        let intent = intent(&shop).await;
        gives_back(&shop, &format!("payment_intent={intent}")).await;
        shop.later(10);
        performs(&refunder).await;
        is_explained(&shop).await;
    }
}

/// The bank takes its time with the refund of the dashboard. Until it has arrived, somebody should know.
#[tokio::test]
async fn what_takes_days_at_the_dashboard_is_open_until_it_has_arrived() {
    let (shop, refunder) = owes_to("pm_card_pendingRefund").await;
    let intent = intent(&shop).await;
    gives_back(&shop, &format!("payment_intent={intent}")).await;
    is_told(&shop, "refund.created").await;
    for _ in 0..3 {
        performs(&refunder).await;
        shop.later(10);
        let waits =
            "select count(*) from refunds where status = 'pending' and provider_id is not null";
        assert_eq!(shop.count(waits).await, 1);
    }
    assert!(!shop.report().await.ok);
    shop.provider.control("settle", json!({})).await;
    performs(&refunder).await;
    is_explained(&shop).await;
}

/// The bank sends back what was given back at the dashboard. It is a person's again, as when we had made it.
#[tokio::test]
async fn what_comes_back_from_the_dashboard_is_a_persons() {
    let (shop, refunder) = owes_to("pm_card_refundFail").await;
    let intent = intent(&shop).await;
    gives_back(&shop, &format!("payment_intent={intent}")).await;
    performs(&refunder).await;
    let open = "select count(*) from discrepancies where resolved_at is null";
    assert_eq!(shop.count(open).await, 0);
    shop.provider.control("settle", json!({})).await;
    is_told(&shop, "refund.failed").await;
    assert_eq!(shop.count(open).await, 1);
    assert!(!shop.report().await.ok);
}

/// A part of it is no end: somebody has to give the rest back, and the audit says so.
#[tokio::test]
async fn a_part_that_is_given_back_by_hand_leaves_the_rest_to_a_person() {
    let shop = shop().await;
    let (buyer, status, intent) = declined(&shop).await;
    let lost = json!({"on": {"webhook": "payment_intent.succeeded"}, "fault": "drop", "times": 1});
    shop.provider.fault(lost).await;
    is_paid(&shop, &intent, "pm_card_visa").await;
    gives_back(&shop, &format!("payment_intent={intent}&amount=200")).await;
    shop.later(61);
    let failed = "select count(*) from refunds where status = 'failed'";
    eventually("ours is refused", || async {
        shop.count(failed).await == 1
    })
    .await;
    assert!(!shop.report().await.ok);
    let page = buyer.sees(&status).await;
    assert!(
        page.text("main")
            .contains("could not be given back by itself")
    );
}
