//! Answers of the provider that say nothing about the payment. None of them is a reason to say "not charged".

use std::time::Duration;

use axum::http::StatusCode;
use boring_checkout::provider::{self, Outcome};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::world::{ONCE, Shop, Visitor};

const CREATE: &str = "payment_intents.create";
const CHECKING: &str = "We are checking your payment";

async fn impatient() -> Shop {
    Shop::open_with(&["--provider-timeout", "500ms", "--lease", "1s"]).await
}

fn refusal(operation: &str, fault: &str, status: u16) -> Value {
    json!({"on": {"operation": operation}, "fault": fault, "status": status})
}

/// The purchase is found by its metadata, and paid once.
async fn is_found(shop: &Shop, buyer: &Visitor, status: &str) {
    assert_eq!(buyer.waits_at(status).await, "Paid");
    shop.provider.mends().await;
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_refused_retry_does_not_undo_the_first_request() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    shop.provider.loses_webhooks().await;
    shop.provider.next(CREATE, "drop_response").await;
    shop.provider
        .fault(refusal(CREATE, "error_before", 400))
        .await;

    let status = buyer.buys().await;

    is_found(&shop, &buyer, &status).await;
}

#[tokio::test]
async fn a_stored_error_of_any_status_is_looked_up() {
    for code in [400, 402, 404, 429, 500, 503] {
        let shop = impatient().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        shop.provider.loses_webhooks().await;
        shop.provider
            .fault(refusal(CREATE, "error_after", code))
            .await;

        let status = buyer.buys().await;

        is_found(&shop, &buyer, &status).await;
    }
}

/// A provider that answers every call the same.
async fn parrot(status: u16, body: Value) -> provider::Provider {
    let status = StatusCode::from_u16(status).expect("a status");
    let answer = move || async move { (status, axum::Json(body)) };
    let router = axum::Router::new().fallback(answer);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(axum::serve(listener, router).into_future());
    let (key, timeout) = ("sk_test_boring".into(), Duration::from_secs(5));
    provider::Provider::new(&url, key, timeout).expect("a URL")
}

/// A claim is no proof: only this checkout's own payment tells how it stands.
#[tokio::test]
async fn an_answer_that_is_not_about_the_payment_of_the_checkout_says_nothing_of_it() {
    let declined = json!({"type": "card_error", "code": "card_declined"});
    let intent = |status: &str, checkout: &str, error: &Value| {
        json!({
            "id": "pi_1", "amount": 490, "currency": "eur", "status": status,
            "metadata": {"checkout_id": checkout}, "last_payment_error": error,
        })
    };
    let refusal = |intent: Value| {
        let mut error = declined.clone();
        error["payment_intent"] = intent;
        json!({"error": error})
    };
    let wants_card = "requires_payment_method";
    let none = Value::Null;
    for (status, body, is_told) in [
        (402, refusal(intent(wants_card, "ours", &declined)), true),
        (402, json!({"error": declined}), false),
        (402, refusal(intent(wants_card, "ours", &none)), false),
        (
            402,
            refusal(intent(wants_card, "another", &declined)),
            false,
        ),
        (200, intent("succeeded", "ours", &none), true),
        (200, intent("succeeded", "another", &none), false),
    ] {
        let provider = parrot(status, body.clone()).await;
        let create = provider.create_payment_intent("key", "ours", "", Duration::ZERO);
        let outcome = create.await;
        let told = !matches!(outcome, Outcome::Unknown(_));
        assert_eq!(told, is_told, "{outcome:?} of {body}");
    }
}

#[tokio::test]
async fn a_refused_look_at_a_payment_that_is_waited_for_ends_nothing() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_threeDSecure2Required");
    let status = buyer.submits(&form).await.location().to_owned();

    for code in [400, 402, 404, 500] {
        let refused = refusal("payment_intents.retrieve", "error_before", code);
        shop.provider.fault(refused).await;
        shop.later(20);
        assert_eq!(
            buyer.sees(&status).await.heading(),
            "Your bank wants to ask you",
            "{code}"
        );
    }
    let held = "select count(*) from stock_reservations where state = 'held'";
    assert_eq!(shop.count(held).await, 1);
}

/// Nobody pays, nobody charges: but a while has to pass in which the payment could still turn up.
#[tokio::test]
async fn a_payment_that_is_not_found_is_given_up_only_after_a_while() {
    let shop = impatient().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let refused =
        json!({"on": {"operation": CREATE}, "fault": "error_before", "status": 400, "times": 1000});
    shop.provider.fault(refused).await;
    // The first request leaves long after the submission, so the submission's time tells nothing.
    let status = buyer.buys().await;
    assert_eq!(buyer.sees(&status).await.heading(), CHECKING);

    for _ in 0..4 {
        shop.later(60);
        assert_eq!(buyer.sees(&status).await.heading(), CHECKING);
    }
    shop.later(11 * 60);
    let page = buyer.sees(&status).await;
    assert!(
        page.text("main").contains("Nothing was charged"),
        "{}",
        page.text("main")
    );
    let creates = shop
        .provider
        .calls("POST", "/v1/payment_intents")
        .await
        .len();
    assert!(creates <= 4, "the key was sent again: {creates}");
    assert!(shop.report().await.ok);
}
