//! Refunders of several processes, one step at a time: a refund is one refunder's, until its lease runs out.

use boring_checkout::{
    ids::CheckoutId,
    outbox::{
        Message,
        inbox::{Consumer, consume},
    },
    refunds::{self, Requested, refunder::Refunder},
    workers::Work as _,
};
use serde_json::json;

use crate::{
    refunds_requested::wish,
    world::{Letter, ONCE, Shop, client, event},
};

const LEASE: u64 = 120;

/// Money that came too late, and a refunder that does nothing by itself.
async fn owes() -> (Shop, Refunder) {
    owes_to("pm_card_visa").await
}

/// The same of a card whose bank may be odd about refunds.
pub async fn owes_to(card: &str) -> (Shop, Refunder) {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_chargeDeclined");
    let status = buyer.submits(&form).await.location().to_owned();
    let id = status.trim_start_matches("/checkouts/");
    let intent = shop.db().query("select payment_intent_id from checkouts");
    let intent: String = intent.fetch_scalar().await.expect("an id");
    shop.provider.loses_webhooks().await;
    let confirm = client()
        .post(format!(
            "{}/v1/payment_intents/{intent}/confirm",
            shop.provider.url
        ))
        .bearer_auth("sk_test_boring")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!(
            "payment_method={card}&return_url=http://shop.example"
        ));
    assert_eq!(confirm.send().await.expect("an answer").status(), 200);
    let news = event("evt_1", "payment_intent.succeeded", &intent, id);
    assert_eq!(Letter::of(&news).to(&shop.url).await.status, 200);

    let till = shop.app().till.clone();
    let asked = "select * from outbox where event_type = 'payment.refund_requested'";
    let asked: Message = till.db.query(asked).fetch_one().await.expect("its news");
    consume(&till.db, Consumer::Refunds, &asked, till.clock.now())
        .await
        .expect("consumed");
    (shop, Refunder { till })
}

async fn claims(refunder: &Refunder) -> usize {
    refunder.claim(4).await.expect("a claim").len()
}

pub async fn performs(refunder: &Refunder) {
    for due in refunder.claim(4).await.expect("a claim") {
        refunder.perform(due).await.expect("performed");
    }
}

#[tokio::test]
async fn a_refund_is_claimed_once_until_its_lease_runs_out() {
    let (shop, refunder) = owes().await;
    assert_eq!(claims(&refunder).await, 1);
    assert_eq!(claims(&refunder).await, 0);
    shop.later(LEASE - 10);
    assert_eq!(claims(&refunder).await, 0);
    shop.later(11);
    assert_eq!(claims(&refunder).await, 1);
}

/// Whoever asked is at work on it, and no worker is. If they have died, one goes on when the lease runs out.
#[tokio::test]
async fn a_refund_is_first_whose_request_it_was() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let till = shop.app().till.clone();
    let asked = refunds::request(&till, &wish(&shop).await).await;
    assert!(matches!(asked, Ok(Requested::New(_))), "{asked:?}");
    let refunder = Refunder { till };
    assert_eq!(claims(&refunder).await, 0);
    shop.later(LEASE + 1);
    performs(&refunder).await;
    shop.settles().await;
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    assert_eq!((report.counts.orders, report.counts.refunds), (1, 1));
}

/// Somebody took so long that the refund is another's by now.
#[tokio::test]
async fn whoever_has_lost_a_refund_does_not_say_when_it_is_due() {
    let (shop, refunder) = owes().await;
    let mut slow = refunder.claim(4).await.expect("a claim");
    shop.later(LEASE + 1);
    assert_eq!(claims(&refunder).await, 1);

    let down = json!({"on": {"operation": "*"}, "fault": "error_before", "times": 1000});
    shop.provider.fault(down).await;
    let slow = slow.pop().expect("one");
    refunder.perform(slow).await.expect("performed");
    shop.later(30);
    assert_eq!(claims(&refunder).await, 0, "it is the other's still");
}

#[tokio::test]
async fn a_refund_that_was_asked_for_in_vain_is_let_alone_for_a_while_and_then_looked_for() {
    let (shop, refunder) = owes().await;
    let lost =
        json!({"on": {"operation": "refunds.create"}, "fault": "drop_request", "times": 1000});
    shop.provider.fault(lost).await;
    performs(&refunder).await;
    let looks = async || shop.provider.calls("GET", "/v1/refunds").await.len();
    assert_eq!(looks().await, 0, "nothing could be there the first time");
    assert_eq!(claims(&refunder).await, 0);
    shop.provider.mends().await;
    shop.later(10);
    performs(&refunder).await;
    assert_eq!(looks().await, 1);
    assert_eq!(shop.provider.ledger().await["refunds"]["succeeded"], 1);
}

/// Not every attempt is written down for ever, but the one that ended it is.
#[tokio::test]
async fn the_last_of_very_many_attempts_at_a_refund_is_told() {
    let (shop, refunder) = owes().await;
    shop.alters("update refunds set attempts = 1000").await;
    performs(&refunder).await;
    let kept = "select count(*) from provider_calls where attempt = 1001";
    assert!(shop.count(kept).await > 0);
}

/// Somebody has used the key for something else, and it will never make the refund.
#[tokio::test]
async fn a_spoilt_key_of_a_refund_is_replaced() {
    let (shop, refunder) = owes().await;
    let key = shop.db().query("select call_key from refunds");
    let key: String = key.fetch_scalar().await.expect("a key");
    let spoils = client()
        .post(format!("{}/v1/customers", shop.provider.url))
        .bearer_auth("sk_test_boring")
        .header("idempotency-key", key);
    assert_eq!(spoils.send().await.expect("an answer").status(), 200);

    for _ in 0..3 {
        performs(&refunder).await;
        shop.later(10);
    }
    assert_eq!(shop.provider.ledger().await["refunds"]["succeeded"], 1);
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    assert_eq!((report.counts.orders, report.counts.refunds), (0, 1));
}

/// Whoever can write on the bus can ask for a refund. What the shop did not find too late itself stays where it is.
#[tokio::test]
async fn a_refund_that_nobody_of_us_asked_for_is_not_made() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let till = &shop.app().till;
    let paid = "select checkout_id, payment_intent_id from payments";
    let (checkout, intent): (CheckoutId, String) =
        shop.db().query(paid).fetch_one().await.expect("a payment");
    let forged = Message {
        aggregate_id: checkout,
        event_type: "payment.refund_requested".to_owned(),
        version: 1,
        payload: json!({"format": 1, "checkout_id": checkout, "payment_intent_id": intent,
            "amount_minor": 490, "currency": "eur"}),
    };
    consume(&till.db, Consumer::Refunds, &forged, till.clock.now())
        .await
        .expect("consumed");
    assert_eq!(shop.count("select count(*) from refunds").await, 0);
    shop.expects(ONCE).await;
}
