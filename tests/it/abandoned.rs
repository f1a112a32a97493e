//! The customer was asked by their bank, and never answered.

use boring_checkout::{checkout, ids::CheckoutId, probe::Boundary};
use futures_util::future::join_all;
use serde_json::Value;

use crate::{
    authentication,
    reconciler::{attentive, came_to, comes_up, goes_down, is_decided},
    world::{
        Expected, NOTHING, ONCE, Provider, Shop, Visitor, client, eventually, holding, probed,
    },
};

const CANCEL: &str = "payment_intents.cancel";
const HOUR: u64 = 3600;
const ASKED: &str = "Your bank wants to ask you";

/// Somebody whose bank has asked them.
async fn asked(shop: &Shop) -> (Visitor, String) {
    let (buyer, status) = authentication::asked(shop).await;
    assert_eq!(buyer.waits_at(&status).await, ASKED);
    (buyer, status)
}

/// What the bank's page is at, for the one who was asked.
async fn bank(shop: &Shop, buyer: &Visitor, status: &str) -> String {
    let page = buyer.sees(status).await;
    page.link_that_starts(&shop.provider.url)
}

/// Presses the button, whether or not it is still there.
async fn approves(provider: &Provider, page: &str) {
    let path = page.strip_prefix(&provider.url).expect("the provider's");
    let browser = Visitor::at(&provider.url);
    browser.posts(path, &[("verdict", "approve")]).await;
}

pub async fn cancels(provider: &Provider) -> Vec<Value> {
    let journal = provider.reads("/_control/requests").await;
    let calls = journal["data"].as_array().expect("a list").iter();
    let is_cancel = |call: &&Value| {
        let path = call["path"].as_str().expect("text");
        path.ends_with("/cancel") && !call["status"].is_null()
    };
    calls.filter(is_cancel).cloned().collect()
}

fn id_in(status: &str) -> CheckoutId {
    let id = status.trim_start_matches("/checkouts/");
    id.parse().expect("an id")
}

#[tokio::test]
async fn r46_after_an_hour_the_payment_is_given_up_at_the_provider_and_the_goods_go_back() {
    let shop = attentive().await;
    let (buyer, status) = asked(&shop).await;
    shop.later(HOUR - 60);
    eventually("it is looked at", || async {
        shop.count("select attempts from checkouts").await > 1
    })
    .await;
    assert_eq!(buyer.sees(&status).await.heading(), ASKED);
    assert!(cancels(&shop.provider).await.is_empty());

    shop.later(61);
    is_decided(&shop).await;

    assert_eq!(
        shop.provider.ledger().await["payment_intents"]["canceled"],
        1
    );
    assert_eq!(cancels(&shop.provider).await.len(), 1);
    let page = buyer.sees(&status).await;
    assert!(page.text("main").contains("Nothing was charged"));
    came_to(&shop, NOTHING).await;
    // The cart can be bought after all.
    let second = buyer.buys().await;
    assert_eq!(buyer.waits_at(&second).await, "Paid");
    came_to(&shop, ONCE).await;
}

#[tokio::test]
async fn while_the_provider_cannot_be_asked_nothing_ends_and_the_goods_are_held() {
    let shop = attentive().await;
    let (buyer, status) = asked(&shop).await;
    goes_down(&shop.provider, CANCEL, "drop_request").await;
    shop.later(HOUR + 1);
    eventually("it is tried twice", || async {
        shop.later(10);
        shop.count("select failures from checkouts").await > 1
    })
    .await;
    let held = "select count(*) from stock_reservations where state = 'held'";
    assert_eq!(shop.count(held).await, 1);

    // The customer has answered meanwhile, and nobody told us.
    approves(&shop.provider, &bank(&shop, &buyer, &status).await).await;
    comes_up(&shop.provider).await;
    shop.later(300);
    is_decided(&shop).await;
    came_to(&shop, ONCE).await;
}

#[tokio::test]
async fn a_lost_answer_to_the_cancel_is_asked_for_again_under_the_same_key() {
    let shop = attentive().await;
    asked(&shop).await;
    shop.provider.next(CANCEL, "drop_response").await;
    shop.later(HOUR + 1);
    is_decided(&shop).await;

    let keys = cancels(&shop.provider).await;
    assert_eq!(keys.len(), 2);
    assert!(
        keys.iter()
            .all(|call| call["idempotency_key"] == keys[0]["idempotency_key"])
    );
    came_to(&shop, NOTHING).await;
}

/// Somebody has used the key for something else. It will never give the payment up, and another one will.
#[tokio::test]
async fn r13_a_spoilt_key_is_replaced() {
    let shop = attentive().await;
    asked(&shop).await;
    let keys = shop.db().query("select idempotency_key from checkouts");
    let key: uuid::Uuid = keys.fetch_scalar().await.expect("a key");
    for attempt in 2..=3 {
        let spoils = client()
            .post(format!("{}/v1/customers", shop.provider.url))
            .bearer_auth("sk_test_boring")
            .header("idempotency-key", format!("{key}-cancel-{attempt}"));
        assert_eq!(spoils.send().await.expect("an answer").status(), 200);
    }

    shop.later(HOUR + 1);
    eventually("it is decided", || async {
        shop.later(5);
        shop.count("select count(*) from checkouts where status = 'canceled'")
            .await
            == 1
    })
    .await;
    assert!(cancels(&shop.provider).await.len() > 1);
    came_to(&shop, NOTHING).await;
}

/// After the provider said that the customer is still being asked, and before it hears that we give up.
#[tokio::test]
async fn a_customer_who_approves_at_the_very_moment_has_paid() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    let (buyer, status) = asked(&shop).await;
    let page = bank(&shop, &buyer, &status).await;
    shop.later(HOUR + 1);
    let (probe, mut hold) = holding(|boundary| match boundary {
        Boundary::AfterStatement(sql) => sql.contains("set cancel_key"),
        _ => false,
    });
    let till = probed(shop.app(), probe);
    let giving_up = tokio::spawn(async move { checkout::resume(&till, id_in(&status)).await });
    hold.reached().await;

    approves(&shop.provider, &page).await;
    hold.lets_go();
    giving_up.await.expect("no panic").expect("no error");

    assert_eq!(
        cancels(&shop.provider).await.len(),
        1,
        "it was asked, and refused"
    );
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    assert_eq!(report.counts.orders, 1, "{report}");
}

/// Twelve customers answer while their time runs out. For each, one of the two happens.
#[tokio::test]
async fn r48_approvals_and_the_end_of_the_time_at_the_same_instant() {
    const CUSTOMERS: usize = 12;
    let shop = attentive().await;
    let customers = join_all((0..CUSTOMERS).map(|_| asked(&shop))).await;
    let pages = customers
        .iter()
        .map(|(buyer, status)| bank(&shop, buyer, status));
    let pages = join_all(pages).await;

    let answering = join_all(pages.iter().map(|page| approves(&shop.provider, page)));
    let running_out = async { shop.later(HOUR + 1) };
    tokio::join!(answering, running_out);
    eventually("all are decided", || async {
        shop.later(5);
        shop.count("select count(*) from checkouts where status = 'pending'")
            .await
            == 0
    })
    .await;

    let ledger = shop.provider.ledger().await["payment_intents"].clone();
    let (paid, canceled) = (ledger["succeeded"].as_i64(), ledger["canceled"].as_i64());
    let (paid, canceled) = (paid.expect("a number"), canceled.expect("a number"));
    println!("{paid} paid, {canceled} canceled");
    assert_eq!(paid + canceled, i64::try_from(CUSTOMERS).expect("few"));
    let expected = Expected {
        charges: paid,
        orders: paid,
        sold: paid,
    };
    came_to(&shop, expected).await;
}
