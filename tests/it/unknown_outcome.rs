//! The provider's answer is lost, late, or an error. Unknown is not failed.

use boring_checkout::checkout::{self, model};
use serde_json::{Value, json};

use crate::world::{NOTHING, ONCE, Shop};

const CREATE: &str = "payment_intents.create";
const CHECKING: &str = "We are checking your payment";

/// A shop that gives up on a call quickly, so that the stories are short.
async fn impatient() -> Shop {
    Shop::open_with(&["--provider-timeout", "300ms", "--lease", "1s"]).await
}

async fn every_create(shop: &Shop, fault: &str) {
    let fault = json!({"on": {"operation": CREATE}, "fault": fault, "times": 1000});
    shop.provider.fault(fault).await;
}

/// All calls that create carry one key.
async fn one_key(shop: &Shop) {
    let calls = shop.provider.calls("POST", "/v1/payment_intents").await;
    let key = |call: &Value| call["idempotency_key"].clone();
    assert!(
        calls.iter().all(|call| key(call) == key(&calls[0])),
        "{calls:?}"
    );
}

#[tokio::test]
async fn one_lost_answer_is_retried_with_the_same_key() {
    for fault in [
        "drop_request",
        "drop_response",
        "error_before",
        "rate_limit",
        "hang",
    ] {
        let shop = impatient().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        shop.provider.next(CREATE, fault).await;

        let status = buyer.buys().await;

        assert_eq!(buyer.waits_at(&status).await, "Paid", "{fault}");
        one_key(&shop).await;
        shop.expects(ONCE).await;
    }
}

#[tokio::test]
async fn r05_r12_lost_answers_until_the_retries_run_out_then_the_same_form_again() {
    for fault in ["drop_request", "drop_response"] {
        let shop = impatient().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        shop.provider.loses_webhooks().await;
        every_create(&shop, fault).await;
        let form = buyer.opens_checkout().await;
        let first = buyer.submits(&form).await.location().to_owned();
        assert_eq!(buyer.sees(&first).await.heading(), CHECKING, "{fault}");

        shop.provider.mends().await;
        shop.later(60);
        assert_eq!(buyer.submits(&form).await.location(), first);
        assert_eq!(buyer.sees(&first).await.heading(), "Paid", "{fault}");
        one_key(&shop).await;
        shop.provider
            .control("clock", json!({"advance_seconds": 3600}))
            .await;
        shop.expects(ONCE).await;
    }
}

#[tokio::test]
async fn r05_lost_answers_then_a_fresh_form() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let other_tab = buyer.opens_checkout().await;
    every_create(&shop, "drop_request").await;
    let first = buyer.buys().await;
    assert_eq!(buyer.sees(&first).await.heading(), CHECKING);

    assert_eq!(buyer.sees("/checkout").await.location(), first);
    assert_eq!(buyer.submits(&other_tab).await.location(), first);
    let cart = buyer.sees("/cart").await;
    assert!(
        cart.html.contains(&first),
        "the cart is shown as in payment"
    );
    assert!(
        !cart.html.contains("href=\"/checkout\""),
        "and cannot be paid again"
    );

    shop.provider.mends().await;
    shop.later(60);
    assert_eq!(buyer.sees(&first).await.heading(), "Paid");
    one_key(&shop).await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn lost_answers_then_only_the_status_page_is_watched() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    every_create(&shop, "drop_request").await;
    let status = buyer.buys().await;
    let page = buyer.sees(&status).await;
    assert_eq!(page.heading(), CHECKING);
    assert!(
        page.html.contains("http-equiv=\"refresh\""),
        "it refreshes itself"
    );
    assert!(!page.html.contains("Pay €"), "there is no pay button");
    for word in ["failed", "not charged"] {
        assert!(
            !page.text("main").contains(word),
            "it does not say {word:?}"
        );
    }

    shop.provider.mends().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r06_a_slow_success_is_not_a_failure() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    shop.provider
        .fault(json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 1500}))
        .await;
    let form = buyer.opens_checkout().await;

    let first = buyer.submits(&form).await.location().to_owned();
    for _ in 0..2 {
        assert_eq!(buyer.submits(&form).await.location(), first);
    }

    assert_eq!(buyer.waits_at(&first).await, "Paid");
    one_key(&shop).await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r13_a_stored_500_with_a_charge_is_looked_up() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    shop.provider.loses_webhooks().await;
    shop.provider.next(CREATE, "error_after").await;

    let status = buyer.buys().await;

    assert_eq!(buyer.sees(&status).await.heading(), "Paid");
    let creates = shop.provider.calls("POST", "/v1/payment_intents").await;
    assert_eq!(creates.len(), 1, "a stored answer is not asked for again");
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r13_a_stored_500_of_a_decline_is_looked_up() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    shop.provider.loses_webhooks().await;
    shop.provider.next(CREATE, "error_after").await;
    let form = buyer.opens_checkout().await;

    let status = buyer
        .submits(&form.with("payment_method", "pm_card_chargeDeclined"))
        .await;

    assert!(
        buyer
            .sees(status.location())
            .await
            .text("main")
            .contains("declined")
    );
    shop.provider.catches_up().await;
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn r15_no_answer_and_no_charge_and_no_look_up_stays_open_and_holds_the_stock() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    shop.provider
        .fault(json!({"on": {"operation": "*"}, "fault": "drop_request", "times": 10_000}))
        .await;
    let status = buyer.buys().await;
    for _ in 0..4 {
        shop.later(60);
        assert_eq!(buyer.sees(&status).await.heading(), CHECKING);
    }
    let held = shop
        .count("select count(*) from stock_reservations where state = 'held'")
        .await;
    assert_eq!(held, 1);

    shop.provider.mends().await;
    shop.later(45);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r19_a_key_in_use_is_asked_again_with_the_same_body() {
    let shop = Shop::open_with(&["--provider-timeout", "200ms", "--lease", "5s"]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    shop.provider
        .fault(json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 700}))
        .await;

    let status = buyer.buys().await;

    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let calls = shop.provider.calls("POST", "/v1/payment_intents").await;
    let conflicts = calls.iter().filter(|call| call["status"] == 409).count();
    assert!(conflicts > 0, "no repeat met the running first: {calls:?}");
    one_key(&shop).await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r52_a_cart_is_kept_after_a_failure_and_used_up_once_by_a_success() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 2).await;
    let form = buyer.opens_checkout().await;
    buyer
        .submits(&form.with("payment_method", "pm_card_chargeDeclined"))
        .await;
    let cart = buyer.sees("/cart").await;
    assert!(
        cart.text("main").contains("Plain black tea"),
        "the cart is intact"
    );
    assert!(
        cart.html.contains("href=\"/checkout\""),
        "and there is a way to retry"
    );

    buyer.buys().await;
    assert!(
        !buyer
            .sees("/cart")
            .await
            .text("main")
            .contains("Plain black tea")
    );
    shop.expects(crate::world::Expected {
        charges: 1,
        orders: 1,
        sold: 2,
    })
    .await;
}

/// A day later the provider has forgotten the key: the same request would run, and charge, again.
#[tokio::test]
async fn r13_r15_an_old_key_is_not_sent_again_and_a_charge_is_found_by_its_metadata() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    shop.provider.loses_webhooks().await;
    every_create(&shop, "drop_response").await;
    let status = buyer.buys().await;
    let creates = shop
        .provider
        .calls("POST", "/v1/payment_intents")
        .await
        .len();
    shop.provider.mends().await;
    shop.provider.loses_webhooks().await;

    shop.later(24 * 3600);
    assert_eq!(buyer.sees(&status).await.heading(), "Paid");

    let report = shop.report().await;
    assert!(report.ok, "{report}");
    assert_eq!(
        (report.counts.provider_succeeded, report.counts.orders),
        (1, 1)
    );
    let calls = shop.provider.calls("POST", "/v1/payment_intents").await;
    assert_eq!(calls.len(), creates, "nothing was created again");
}

#[tokio::test]
async fn r13_r15_r46_a_charge_that_never_was_ends_the_attempt_and_frees_the_cart_and_the_stock() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("LMP-01", 12).await;
    shop.provider.loses_webhooks().await;
    every_create(&shop, "drop_request").await;
    let status = buyer.buys().await;
    assert_eq!(
        shop.count("select stock from products where sku = 'LMP-01'")
            .await,
        0
    );
    shop.provider.mends().await;
    shop.provider.loses_webhooks().await;

    shop.later(24 * 3600);
    assert_eq!(
        buyer.sees(&status).await.heading(),
        CHECKING,
        "looked for once, in vain"
    );
    shop.later(11 * 60);
    let page = buyer.sees(&status).await;
    assert!(
        page.text("main").contains("Nothing was charged"),
        "{}",
        page.text("main")
    );
    assert_eq!(
        shop.count("select stock from products where sku = 'LMP-01'")
            .await,
        12
    );

    let second = buyer.buys().await;
    assert_ne!(second, status);
    assert_eq!(buyer.sees(&second).await.heading(), "Paid");
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    assert_eq!(
        (report.counts.provider_succeeded, report.counts.orders),
        (1, 1)
    );
}

/// Somebody was at work on it for so long that it is another's by now, who will say when it is looked at again.
#[tokio::test]
async fn whoever_has_lost_a_checkout_does_not_say_when_it_is_due() {
    let shop = impatient().await;
    shop.provider.loses_webhooks().await;
    every_create(&shop, "drop_request").await;
    let status = shop.visitor().with_cart("TEA-01", 1).await.buys().await;
    let id = status.trim_start_matches("/checkouts/");
    let id = id.parse().expect("an id");
    let slow = model::find(shop.db(), id).await.expect("read");
    let taken = "update checkouts set lease_until = '2999-01-01T00:00:00+00:00'";
    assert_eq!(shop.alters(taken).await, 1);

    let driven = checkout::drive(&shop.app().till, slow.expect("it is there")).await;
    driven.expect("driven in vain");

    let theirs = "select count(*) from checkouts where lease_until = '2999-01-01T00:00:00+00:00'";
    assert_eq!(shop.count(theirs).await, 1, "it is the other's still");
}
