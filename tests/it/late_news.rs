//! News of money for a checkout that had ended, which is not what was agreed. None of it is given back by itself.

use boring_checkout::{
    checkout::{self, Status, Verdict},
    ids::CheckoutId,
    provider::Outcome,
    provider_calls::Attempt,
};
use serde_json::{Value, json};

use crate::{
    abandoned::cancels,
    authentication,
    reconciler::{attentive, came_to, comes_up, goes_down, is_decided},
    world::{Letter, NOTHING, Shop, event, eventually},
};

const SUCCEEDED: &str = "payment_intent.succeeded";
const REFUNDS: &str = "select count(*) from outbox where event_type = 'payment.refund_requested'";
const LATE: &str = "select count(*) from discrepancies
                    where kind = 'paid_after_the_end' and resolved_at is null";

/// Somebody whose card was declined; the id of the checkout.
async fn declined(shop: &Shop) -> String {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_chargeDeclined");
    let status = buyer.submits(&form).await.location().to_owned();
    let heading = buyer.sees(&status).await.heading();
    assert_eq!(heading, "The payment was declined");
    id_in(&status).to_owned()
}

fn id_in(status: &str) -> &str {
    status.trim_start_matches("/checkouts/")
}

/// It is heard, and put aside for a person.
async fn is_put_aside(shop: &Shop, news: &Value) {
    let before = shop.count(LATE).await;
    assert_eq!(Letter::of(news).to(&shop.url).await.status, 200);
    assert_eq!(shop.count(LATE).await, before + 1);
    assert_eq!(shop.count(REFUNDS).await, 0);
}

#[tokio::test]
async fn a_second_payment_is_not_taken_on() {
    let shop = Shop::open().await;
    let id = declined(&shop).await;
    let intents = "select count(*) from checkouts where payment_intent_id = 'pi_another'";
    is_put_aside(&shop, &event("evt_1", SUCCEEDED, "pi_another", &id)).await;
    assert_eq!(shop.count(intents).await, 0);
}

#[tokio::test]
async fn a_payment_of_another_amount_is_not_given_back() {
    let shop = Shop::open().await;
    let id = declined(&shop).await;
    let intent = shop.db().query("select payment_intent_id from checkouts");
    let intent: String = intent.fetch_scalar().await.expect("an id");
    let mut news = event("evt_1", SUCCEEDED, &intent, &id);
    news["data"]["object"]["amount_received"] = json!(1);
    is_put_aside(&shop, &news).await;
}

/// A person has to know which of the two it is.
#[tokio::test]
async fn another_amount_for_what_is_paid_and_a_second_payment_of_it_are_told_apart() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let intent = shop.db().query("select payment_intent_id from checkouts");
    let intent: String = intent.fetch_scalar().await.expect("an id");
    let mut other_amount = event("evt_1", SUCCEEDED, &intent, id_in(&status));
    other_amount["data"]["object"]["amount_received"] = json!(1);
    let second = event("evt_2", SUCCEEDED, "pi_another", id_in(&status));
    for news in [other_amount, second] {
        assert_eq!(Letter::of(&news).to(&shop.url).await.status, 200);
    }
    let kinds = shop
        .db()
        .query("select kind from discrepancies order by kind");
    let kinds: Vec<(String,)> = kinds.fetch_all().await.expect("a list");
    let kinds: Vec<&str> = kinds.iter().map(|(kind,)| kind.as_str()).collect();
    assert_eq!(kinds, ["amount_differs", "second_payment"]);
}

/// It names a checkout that never had a payment, and is the payment of another.
#[tokio::test]
async fn the_payment_of_a_purchase_is_not_given_back_for_another() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let intent = shop.db().query("select payment_intent_id from checkouts");
    let intent: String = intent.fetch_scalar().await.expect("an id");
    goes_down(&shop.provider, "*", "drop_request").await;
    let other = shop.visitor().with_cart("TEA-01", 1).await.buys().await;
    let other: CheckoutId = id_in(&other).parse().expect("an id");
    let now = shop.app().till.clock.now();
    let ended = checkout::record(
        shop.db(),
        &Attempt::at_checkout(other, 1, Vec::new()),
        &Outcome::NeverCharged,
        now,
    )
    .await;
    assert_eq!(ended.expect("recorded"), Verdict::Concluded);

    is_put_aside(
        &shop,
        &event("evt_1", SUCCEEDED, &intent, &other.to_string()),
    )
    .await;
    shop.provider.mends().await;
    assert_eq!(shop.report().await.counts.orders, 1);
}

/// A look-up that found nothing, and a payment that was heard of since.
#[tokio::test]
async fn what_has_a_payment_by_now_does_not_end_as_never_charged() {
    let shop = Shop::open().await;
    let (buyer, status) = authentication::asked(&shop).await;
    let id = id_in(&status).parse().expect("an id");
    let now = shop.app().till.clock.now();
    let ended = checkout::record(
        shop.db(),
        &Attempt::at_checkout(id, 1, Vec::new()),
        &Outcome::NeverCharged,
        now,
    )
    .await;
    assert_eq!(ended.expect("recorded"), Verdict::Nothing);
    let heading = buyer.sees(&status).await.heading();
    assert_eq!(heading, "Your bank wants to ask you");
    assert!(shop.report().await.ok);
}

/// However often it is looked for meanwhile, the ten minutes begin with the first time.
#[tokio::test]
async fn a_payment_that_is_looked_for_again_and_again_is_given_up_in_time() {
    let shop = attentive().await;
    goes_down(&shop.provider, "*", "drop_request").await;
    shop.visitor().with_cart("TEA-01", 1).await.buys().await;
    shop.later(25 * 3600);
    comes_up(&shop.provider).await;
    let undecided = "select count(*) from checkouts where status = 'pending'";
    eventually("it is given up", || async {
        // In steps that are shorter than the wait between two looks.
        shop.later(5);
        shop.count(undecided).await == 0
    })
    .await;
    let looks = shop.count("select attempts from checkouts").await;
    assert!(looks > 3, "{looks}");
    came_to(&shop, NOTHING).await;
    let canceled = shop.db().query("select status from checkouts");
    assert_eq!(
        canceled.fetch_scalar::<Status>().await.expect("one"),
        Status::Canceled
    );
}

/// Over many attempts, and not only within one: what was answered to an earlier one is found under its key.
#[tokio::test]
async fn a_payment_is_given_up_under_one_key_however_often_it_is_tried() {
    let shop = attentive().await;
    let (buyer, status) = authentication::asked(&shop).await;
    assert_eq!(buyer.waits_at(&status).await, "Your bank wants to ask you");
    goes_down(&shop.provider, "payment_intents.cancel", "error_before").await;
    shop.later(3601);
    eventually("it is tried twice", || async {
        shop.later(10);
        shop.count("select failures from checkouts").await > 1
    })
    .await;
    comes_up(&shop.provider).await;
    shop.later(300);
    is_decided(&shop).await;

    let keys = cancels(&shop.provider).await;
    assert!(keys.len() > 2, "{keys:?}");
    let first = &keys[0]["idempotency_key"];
    assert!(keys.iter().all(|call| call["idempotency_key"] == *first));
    came_to(&shop, NOTHING).await;
}
