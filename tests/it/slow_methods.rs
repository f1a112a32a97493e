//! A bank account is debited: the money is under way for days, and the bank may refuse it in the end.

use serde_json::json;

use crate::{
    amounts::sells_tea_for,
    world::{NOTHING, ONCE, Shop, Visitor},
};

const WAITS: &str = "We are checking your payment";

/// Somebody who pays by debit, and the status page that they are shown.
async fn debited(shop: &Shop, method: &str) -> (Visitor, String) {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await.with("payment_method", method);
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.sees(&status).await.heading(), WAITS);
    (buyer, status)
}

/// The bank has decided.
async fn time_passes(shop: &Shop) {
    shop.provider
        .control("clock", json!({"advance_seconds": 60}))
        .await;
}

#[tokio::test]
async fn the_form_offers_what_can_pay_in_its_currency() {
    let of_everywhere = ["pm_card_visa", "pm_card_threeDSecure2Required"];
    let of_one = ["pm_sepaDebit_success_de", "pm_usBankAccount_success"];
    for (currency, fits) in [
        ("eur", [true, false]),
        ("usd", [false, true]),
        ("jpy", [false, false]),
    ] {
        let flags = ["--currency", currency, "--tax-rates", ""];
        let shop = Shop::open_with(&flags).await;
        sells_tea_for(&shop, 1000).await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let page = buyer.sees("/checkout").await;
        let offered = page.attributes("input[name=payment_method]", "value");
        let is_offered = |method: &str| offered.iter().any(|it| it == method);
        assert!(of_everywhere.into_iter().all(is_offered), "{offered:?}");
        assert_eq!(of_one.map(is_offered), fits, "{currency}: {offered:?}");
    }
}

/// Whoever has a card has agreed to nothing that the provider need hear of.
#[tokio::test]
async fn a_debit_is_sent_with_its_mandate_and_a_card_with_none() {
    for (method, has_mandate) in [("pm_sepaDebit_success_de", true), ("pm_card_visa", false)] {
        let shop = Shop::open().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        buyer.submits(&form.with("payment_method", method)).await;
        let request = shop.db().query("select provider_request from checkouts");
        let request: String = request.fetch_scalar().await.expect("the body");
        assert_eq!(request.contains("mandate"), has_mandate, "{request}");
    }
}

#[tokio::test]
async fn the_money_arrives_and_the_provider_says_so() {
    let shop = Shop::open().await;
    let (buyer, status) = debited(&shop, "pm_sepaDebit_success_de").await;
    // The goods are held, the form leads to the purchase under way, and nothing is sent before the money is here.
    assert_eq!(buyer.sees("/checkout").await.location(), status);
    assert_eq!(shop.count("select count(*) from orders").await, 0);

    time_passes(&shop).await;

    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn the_money_arrives_and_nobody_hears_of_it() {
    let shop = Shop::open_with_workers(&[]).await;
    shop.provider.loses_webhooks().await;
    let (_gone, _) = debited(&shop, "pm_sepaDebit_success_de").await;

    time_passes(&shop).await;

    // Not the customer, who has closed the page, but the reconciler looks again.
    shop.later(10);
    crate::world::eventually("it is paid", || async {
        shop.count("select count(*) from orders").await == 1
    })
    .await;
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn the_bank_refuses_and_another_method_is_chosen() {
    let shop = Shop::open().await;
    let (buyer, status) = debited(&shop, "pm_sepaDebit_failed_de").await;
    assert_eq!(shop.provider.charged().await, 0);

    time_passes(&shop).await;

    assert_eq!(buyer.waits_at(&status).await, "The payment was declined");
    let page = buyer.sees(&status).await;
    let says = page.text("main");
    assert!(says.contains("The bank refused the debit."), "{says}");
    shop.expects(NOTHING).await;

    let form = buyer.opens_checkout().await;
    let card = form.with("payment_method", "pm_card_visa");
    let bought = buyer.submits(&card).await.location().to_owned();
    assert_eq!(buyer.waits_at(&bought).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_lost_answer_debits_once() {
    let shop = Shop::open_with(&["--provider-timeout", "500ms"]).await;
    shop.provider
        .next("payment_intents.create", "drop_response")
        .await;
    let (buyer, status) = debited(&shop, "pm_sepaDebit_success_de").await;
    time_passes(&shop).await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn an_account_of_another_currency_cannot_be_chosen() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let page = buyer.sees("/checkout").await;
    assert!(page.html.contains("pm_sepaDebit_success_de"));
    assert!(!page.html.contains("pm_usBankAccount"));

    let american = form.with("payment_method", "pm_usBankAccount_success");
    let refused = buyer.submits(&american).await;

    assert_eq!(refused.status, 422);
    assert!(refused.text("main").contains("Choose how to pay."));
    shop.expects(NOTHING).await;
}
