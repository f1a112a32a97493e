//! One checkout's whole story on one page.

use std::time::Duration;

use serde_json::json;

use crate::{
    authentication, refund_notices,
    world::{Expected, NOTHING, ONCE, Page, Shop, client, eventually},
};

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
        "Call payment_intents.create",
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
    let calls = calls(&page);
    assert_eq!(
        calls.first().map(String::as_str),
        Some("payment_intents.create no answer after 4 requests, attempt 1")
    );
    assert!(
        calls.contains(&"payment_intents.create 200 succeeded, attempt 2".to_owned()),
        "{calls:?}"
    );
    let story = page.text(".admin-story");
    for said in ["buyer@example.com", "€4.90", "order_confirmation"] {
        assert!(story.contains(said), "{said} in {story}");
    }
    assert!(page.text("main").contains("TEA-01 1 sold"), "{}", page.html);
    shop.expects(ONCE).await;
}

/// The calls of the provider that a story tells: what was called, and how it ended.
fn calls(page: &Page) -> Vec<String> {
    let moments = page.texts(".moment p:last-child");
    let calls = moments.iter().filter_map(|it| it.strip_prefix("Call "));
    calls.map(str::to_owned).collect()
}

async fn told(shop: &Shop, status: &str) -> Vec<String> {
    calls(&shop.operator().sees(&format!("/admin{status}")).await)
}

#[tokio::test]
async fn a_payment_that_is_asked_after_and_given_up_is_told_call_by_call() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    let (buyer, status) = authentication::asked(&shop).await;
    shop.later(5);
    buyer.sees(&status).await;
    shop.app().till.clock.advance(Duration::from_hours(2));
    assert_eq!(buyer.waits_at(&status).await, "This checkout was canceled");
    assert_eq!(
        told(&shop, &status).await,
        [
            "payment_intents.create 200 requires_action, attempt 1",
            "payment_intents.retrieve 200 requires_action, attempt 2",
            "payment_intents.retrieve 200 requires_action, attempt 3",
            "payment_intents.cancel 200 canceled, attempt 3",
        ]
    );
    shop.has(NOTHING).await;
}

#[tokio::test]
async fn a_stored_error_and_the_look_up_behind_it_are_told_of_payments_and_refunds() {
    let shop = Shop::open_with_workers(&["--lease", "300ms"]).await;
    shop.provider
        .next("payment_intents.create", "error_after")
        .await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.settles().await;
    let mut expected = vec![
        "payment_intents.create 500 api_error, attempt 1",
        "payment_intents.list 200, attempt 1",
    ];
    assert_eq!(told(&shop, &status).await, expected);

    shop.provider.loses_webhooks().await;
    shop.provider.next("refunds.create", "error_after").await;
    let operator = shop.operator();
    let orders = operator.sees("/admin/orders").await;
    let order = orders.link_that_starts("/admin/orders/");
    let form = operator.sees(&format!("{order}/refunds/new")).await;
    operator
        .submits(&format!("{order}/refunds"), &form.fields())
        .await;
    shop.later(10);
    refund_notices::is(&shop, "succeeded", 1).await;
    expected.extend([
        "refunds.create 500 api_error, attempt 1",
        "refunds.list 200, attempt 2",
    ]);
    assert_eq!(told(&shop, &status).await, expected);
    shop.provider.mends().await;
    shop.expects(ONCE).await;
}

/// A provider that is away for days is asked again and again, and nobody reads all of that.
#[tokio::test]
async fn of_very_many_attempts_the_first_ones_and_the_last_are_told() {
    let shop = Shop::open_with(&["--lease", "100ms"]).await;
    let away = json!({"on": {"operation": "payment_intents.create"}, "fault": "drop_request", "times": 99});
    shop.provider.fault(away).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    shop.alters("update checkouts set attempts = 199").await;
    for attempt in [2, 3] {
        shop.later(10);
        buyer.sees(&status).await;
        eventually("it was asked in vain", || async {
            shop.count("select failures from checkouts").await == attempt
        })
        .await;
    }
    shop.provider.mends().await;
    shop.later(10);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let told = told(&shop, &status).await;
    let attempts: Vec<&str> = told
        .iter()
        .filter_map(|call| call.rsplit_once(", ").map(|(_, attempt)| attempt))
        .collect();
    assert_eq!(
        attempts,
        ["attempt 1", "attempt 200", "attempt 202"],
        "{told:?}"
    );
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
    assert_eq!(
        calls(&page),
        ["payment_intents.create 402 card_declined, attempt 1"]
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
