//! The customer's bank wants to ask the customer first.

use serde_json::Value;

use crate::world::{NOTHING, ONCE, Page, Shop, Visitor, eventually};

const ASKED: &str = "Your bank wants to ask you";

/// Somebody who has pressed Pay with a card that needs authentication: the visitor, and their status page.
pub async fn asked(shop: &Shop) -> (Visitor, String) {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_threeDSecure2Required");
    let status = buyer.submits(&form).await.location().to_owned();
    (buyer, status)
}

/// Presses a button on the provider's page, and returns where it leads, within the shop.
pub async fn answers(shop: &Shop, page: &Page, verdict: &str) -> String {
    let asks = page.link_that_starts(&shop.provider.url);
    let asks = asks
        .strip_prefix(&shop.provider.url)
        .expect("the provider's")
        .to_owned();
    let browser = Visitor::at(&shop.provider.url);
    let pressed = browser.posts(&asks, &[("verdict", verdict)]).await;
    let back = pressed.location();
    back.strip_prefix(&shop.url)
        .expect("the way back")
        .to_owned()
}

#[tokio::test]
async fn an_approved_payment_is_bought_once_also_when_the_customer_comes_back_twice() {
    let shop = Shop::open().await;
    let (buyer, status) = asked(&shop).await;
    let page = buyer.sees(&status).await;
    assert_eq!(page.heading(), ASKED);

    let back = answers(&shop, &page, "approve").await;
    assert!(back.starts_with(&status));
    eventually("it is paid", || async {
        buyer.sees(&back).await.heading() == "Paid"
    })
    .await;
    assert_eq!(buyer.sees(&back).await.heading(), "Paid");

    shop.expects(ONCE).await;
}

#[tokio::test]
async fn an_approved_payment_is_found_without_a_webhook() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    let (buyer, status) = asked(&shop).await;
    let page = buyer.sees(&status).await;
    answers(&shop, &page, "approve").await;

    shop.later(5);
    assert_eq!(buyer.sees(&status).await.heading(), "Paid");

    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_refused_payment_is_declined_and_the_cart_is_kept() {
    let shop = Shop::open().await;
    let (buyer, status) = asked(&shop).await;
    let page = buyer.sees(&status).await;

    let back = answers(&shop, &page, "refuse").await;
    eventually("it is declined", || async {
        buyer
            .sees(&back)
            .await
            .text("main")
            .contains("was declined")
    })
    .await;
    shop.expects(NOTHING).await;

    assert_eq!(buyer.opens_checkout().await.field("quoted_total"), "490");
}

#[tokio::test]
async fn a_customer_who_has_not_answered_yet_holds_the_stock_and_is_not_charged() {
    let shop = Shop::open().await;
    let (buyer, status) = asked(&shop).await;

    for _ in 0..3 {
        shop.later(5);
        assert_eq!(buyer.sees(&status).await.heading(), ASKED);
    }

    assert_eq!(
        shop.provider.ledger().await["payment_intents"]["succeeded"],
        Value::from(0)
    );
    let held = shop
        .count("select count(*) from stock_reservations where state = 'held'")
        .await;
    assert_eq!(held, 1);
    assert!(shop.report().await.ok, "waiting is not a violation");
}
