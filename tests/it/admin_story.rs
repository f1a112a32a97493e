//! One checkout's whole story on one page.

use serde_json::json;

use crate::world::{Expected, ONCE, Shop, client};

#[tokio::test]
async fn a_purchase_whose_answers_were_lost_is_told_from_beginning_to_end() {
    let shop = Shop::open_with_workers(&[]).await;
    let lost = json!({"on": {"operation": "payment_intents.create"}, "fault": "drop_response", "times": 4});
    shop.provider.fault(lost).await;
    let late = json!({"on": {"webhook": "payment_intent.succeeded"}, "fault": "drop", "times": 1});
    shop.provider.fault(late).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.provider.catches_up().await;
    shop.settles().await;
    shop.finishes().await;

    let page = shop.operator().sees(&format!("/admin{status}")).await;
    let told = page.texts(".moment strong");
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let happened = |what: &str| {
        let at = told.iter().position(|it| *it == what);
        at.unwrap_or_else(|| panic!("{what} is not in {told:?}"))
    };
    let order = [
        "Submitted",
        "Attempt 1 left it undecided",
        "Ended as paid",
        "Order placed",
        "Heard by mailer",
        "Mail sent",
    ];
    let places = order.map(happened);
    assert!(places.is_sorted(), "{told:?}");
    happened("Shipped");
    happened("Event payment_intent.succeeded");
    let times = page.attributes(".moment time", "datetime");
    assert!(times.is_sorted(), "{times:?}");
    assert!(
        page.texts(".moment time")
            .iter()
            .all(|time| time.ends_with(" UTC"))
    );
    let story = page.text(".admin-story");
    for said in [
        "the provider does not answer",
        "buyer@example.com",
        "€4.90",
        "order_confirmation",
    ] {
        assert!(story.contains(said), "{said} in {story}");
    }
    assert!(page.text("main").contains("TEA-01 1 sold"), "{}", page.html);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_decline_is_told_with_its_reason_and_its_stock_released() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 2).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_chargeDeclinedInsufficientFunds");
    let status = buyer.submits(&form).await.location().to_owned();
    buyer.waits_at(&status).await;
    let page = shop.operator().sees(&format!("/admin{status}")).await;
    let story = page.text(".admin-story");
    assert!(
        story.contains("Ended as declined insufficient_funds"),
        "{story}"
    );
    assert!(page.text("main").contains("TEA-01 2 released"));
    let nothing = Expected {
        charges: 0,
        orders: 0,
        sold: 0,
    };
    shop.expects(nothing).await;
}

/// As somebody at the provider's dashboard does.
async fn refunds(shop: &Shop, intent: &str, amount: i64) {
    let request = client()
        .post(format!("{}/v1/refunds", shop.provider.url))
        .bearer_auth("sk_test_boring")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("payment_intent={intent}&amount={amount}"));
    assert_eq!(request.send().await.expect("an answer").status(), 200);
}

/// A refund that somebody makes at the provider, an order's page and its story.
#[tokio::test]
async fn an_order_shows_what_was_given_back() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 2).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.settles().await;
    let intent: String = shop
        .db()
        .query("select payment_intent_id from payments")
        .fetch_scalar()
        .await
        .expect("a payment");
    refunds(&shop, &intent, 300).await;
    shop.settles().await;
    shop.finishes().await;

    let operator = shop.operator();
    let list = operator.sees("/admin/orders").await;
    assert!(list.text("tbody tr").contains("€3.00"), "{}", list.html);
    let order = operator
        .sees(&list.link_that_starts("/admin/orders/"))
        .await;
    assert!(
        order.text(".badge").starts_with("Partially refunded"),
        "{}",
        order.html
    );
    assert!(
        order.text("main").contains("€6.80"),
        "what is left: {}",
        order.html
    );
    assert!(order.text("tbody").contains("succeeded"));
    let refunds = operator.sees("/admin/refunds").await;
    let number = order.text(".order-number");
    assert!(
        refunds.text("tbody tr").contains(&number),
        "{}",
        refunds.html
    );
    let story = operator
        .sees(&order.link_that_starts("/admin/checkouts/"))
        .await;
    assert!(
        story.text(".admin-story").contains("Refund made €3.00"),
        "{}",
        story.html
    );
    shop.expects(Expected { sold: 2, ..ONCE }).await;
}
