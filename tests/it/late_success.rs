//! Money that arrives for a checkout which had ended otherwise. It goes back, by itself and once.

use boring_checkout::{audit::Counts, refunds::refunder::Refunder, workers::Workers};
use serde_json::{Value, json};

use crate::world::{Page, Provider, Shop, Visitor, client, eventually};

const REFUND: &str = "refunds.create";
const OPEN: &str = "select count(*) from discrepancies where resolved_at is null";
const FOUND: &str = "select count(*) from discrepancies where kind = 'paid_after_the_end'";

pub async fn shop() -> Shop {
    Shop::open_with_workers(&["--provider-timeout", "1s", "--lease", "300ms"]).await
}

async fn calls(provider: &Provider, path: &str, body: &str) -> Page {
    let call = client()
        .post(format!("{}{path}", provider.url))
        .bearer_auth("sk_test_boring")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body.to_owned());
    Page::of(call.send().await.expect("an answer")).await
}

/// Somebody whose card was declined, and the payment intent that wants another one.
pub async fn declined(shop: &Shop) -> (Visitor, String, String) {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_chargeDeclined");
    let status = buyer.submits(&form).await.location().to_owned();
    let ended = "select count(*) from checkouts where status = 'declined'";
    eventually("it is declined", || async { shop.count(ended).await == 1 }).await;
    let intent = shop.db().query("select payment_intent_id from checkouts");
    let intent = intent.fetch_scalar().await.expect("an id");
    (buyer, status, intent)
}

/// It is paid after all, on a page of the provider's that was still open.
pub async fn is_paid(shop: &Shop, intent: &str, card: &str) {
    let confirm = format!("/v1/payment_intents/{intent}/confirm");
    let body = format!("payment_method={card}&return_url=http://shop.example");
    let paid = calls(&shop.provider, &confirm, &body).await;
    assert_eq!(paid.status, 200, "{}", paid.html);
}

pub async fn is_given_back(shop: &Shop) {
    eventually("it is found", || async { shop.count(FOUND).await == 1 }).await;
    eventually("it is given back", || async {
        // Whatever waits for its next try.
        shop.later(3);
        shop.count(OPEN).await == 0
    })
    .await;
}

/// The money came, and went back, once; there is no order, and nothing is sold.
pub async fn nothing_came_of_it(shop: &Shop) {
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    let Counts {
        provider_succeeded,
        orders,
        refunds,
        ..
    } = report.counts;
    assert_eq!((provider_succeeded, orders, refunds), (1, 0, 1), "{report}");
    let refunds = shop.provider.ledger().await["refunds"].clone();
    assert_eq!(refunds["succeeded"], 1);
    assert_eq!(refunds["amount_succeeded"], 490);
    let sold = "select cast(coalesce(sum(stocked - stock), 0) as bigint) from products";
    assert_eq!(shop.count(sold).await, 0);
}

#[tokio::test]
async fn r48_a_payment_after_a_decline_goes_back() {
    let shop = shop().await;
    let (buyer, status, intent) = declined(&shop).await;

    is_paid(&shop, &intent, "pm_card_visa").await;
    is_given_back(&shop).await;

    assert_eq!(
        buyer.sees(&status).await.heading(),
        "The payment was declined"
    );
    nothing_came_of_it(&shop).await;
    // The cart is still the customer's.
    let second = buyer.buys().await;
    assert_eq!(buyer.waits_at(&second).await, "Paid");
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    assert_eq!(report.counts.orders, 1);
}

/// A request of ours that was a day on its way, when its checkout had been given up as never charged.
#[tokio::test]
async fn r48_a_charge_that_comes_into_being_a_day_later_goes_back() {
    let shop = shop().await;
    let lost = json!({"on": {"operation": "*"}, "fault": "drop_request", "times": 1_000_000});
    shop.provider.fault(lost).await;
    shop.visitor().with_cart("TEA-01", 1).await.buys().await;
    shop.later(25 * 3600);
    shop.provider.mends().await;
    let ended = "select count(*) from checkouts where status = 'canceled'";
    eventually("it is given up", || async {
        shop.later(300);
        shop.count(ended).await == 1
    })
    .await;
    let request = shop.db().query("select provider_request from checkouts");
    let request: String = request.fetch_scalar().await.expect("the body");

    let paid = calls(&shop.provider, "/v1/payment_intents", &request).await;
    assert_eq!(paid.status, 200);
    shop.later(61);
    is_given_back(&shop).await;
    nothing_came_of_it(&shop).await;
}

#[tokio::test]
async fn whatever_goes_wrong_with_the_refund_it_is_made_once() {
    for fault in [
        "drop_request",
        "drop_response",
        "error_before",
        "error_after",
        "rate_limit",
        "hang",
    ] {
        let shop = shop().await;
        let (_, _, intent) = declined(&shop).await;
        // Only the answers tell, and what is asked after them.
        for on in [
            json!({"webhook": "refund.created"}),
            json!({"webhook": "refund.updated"}),
            json!({"operation": "events.list"}),
        ] {
            let fault = if on["webhook"].is_null() {
                "drop_request"
            } else {
                "drop"
            };
            let lost = json!({"on": on, "fault": fault, "times": 1000});
            shop.provider.fault(lost).await;
        }
        shop.provider
            .fault(json!({"on": {"operation": REFUND}, "fault": fault, "times": 5}))
            .await;

        is_paid(&shop, &intent, "pm_card_visa").await;
        is_given_back(&shop).await;
        println!("{fault}");
        nothing_came_of_it(&shop).await;
    }
}

#[tokio::test]
async fn told_many_times_and_with_two_refunders_it_is_given_back_once() {
    let shop = shop().await;
    let (_, _, intent) = declined(&shop).await;
    let workers = Workers::on(shop.db());
    let till = shop.app().till.clone();
    workers.start(Refunder { till });
    let slow = json!({"on": {"operation": REFUND}, "fault": "delay", "delay_ms": 200, "times": 5});
    shop.provider.fault(slow).await;

    is_paid(&shop, &intent, "pm_card_visa").await;
    let events = shop.provider.events("payment_intent.succeeded").await;
    shop.provider.delivers(&events[0], 5).await;
    is_given_back(&shop).await;
    shop.provider.delivers(&events[0], 5).await;
    let told = shop.provider.events("refund.created").await;
    shop.provider.delivers(&told[0], 5).await;

    let asked = "select count(*) from outbox where event_type = 'payment.refund_requested'";
    assert_eq!(shop.count(asked).await, 1);
    let calls = shop.provider.calls("POST", "/v1/refunds").await;
    let keys: Vec<&Value> = calls.iter().map(|call| &call["idempotency_key"]).collect();
    assert_eq!(keys.len(), 1, "{keys:?}");
    nothing_came_of_it(&shop).await;
    workers.stop().await;
}

/// Banks take their time. Until the money is back, somebody should know.
#[tokio::test]
async fn a_refund_that_takes_days_is_open_until_it_has_arrived() {
    let shop = shop().await;
    let (_, _, intent) = declined(&shop).await;
    is_paid(&shop, &intent, "pm_card_pendingRefund").await;
    eventually("it is asked for", || async {
        shop.provider.ledger().await["refunds"]["total"] == 1
    })
    .await;
    assert_eq!(shop.count(OPEN).await, 1);
    assert!(!shop.report().await.ok);

    shop.provider.control("settle", json!({})).await;
    is_given_back(&shop).await;
    nothing_came_of_it(&shop).await;
}

/// Somebody at the provider's dashboard was faster. There is nothing left to give back, and a person knows.
#[tokio::test]
async fn a_refund_that_the_provider_refuses_is_left_to_a_person() {
    let shop = shop().await;
    let (_, _, intent) = declined(&shop).await;
    let lost = json!({"on": {"webhook": "payment_intent.succeeded"}, "fault": "drop", "times": 1});
    shop.provider.fault(lost).await;
    is_paid(&shop, &intent, "pm_card_visa").await;
    let by_hand = format!("payment_intent={intent}");
    let by_hand = calls(&shop.provider, "/v1/refunds", &by_hand).await;
    assert_eq!(by_hand.status, 200);

    shop.later(61);
    let failed = "select count(*) from refunds where failure_code = 'charge_already_refunded'";
    eventually("it is refused", || async { shop.count(failed).await == 1 }).await;
    assert_eq!(shop.provider.ledger().await["refunds"]["succeeded"], 1);
    assert_eq!(shop.count(OPEN).await, 1);
    assert!(!shop.report().await.ok);
}
