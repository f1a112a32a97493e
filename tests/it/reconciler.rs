//! Nobody comes back: the customer has closed the browser, or the process has died. The workers finish what is open.

use std::time::Duration;

use boring_checkout::{
    checkout::{self, Submitted},
    simulator::{Simulator, SimulatorConfig},
};
use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use serde_json::json;

use crate::{
    buying::purchase_of,
    world::{
        Books, Database, Expected, NOTHING, ONCE, Process, Provider, Shop, Visitor, eventually,
        fresh_key,
    },
};

const CREATE: &str = "payment_intents.create";
const PENDING: &str = "select count(*) from checkouts where status = 'pending'";

/// A shop with workers that gives up on a call quickly, and hears of nothing that it does not ask for.
pub async fn attentive() -> Shop {
    let flags = ["--provider-timeout", "5s", "--lease", "300ms"];
    let shop = Shop::open_with_workers(&flags).await;
    tells_nothing(&shop.provider).await;
    shop
}

/// It answers what it is asked about a payment, and does not say by itself what happened.
async fn tells_nothing(provider: &Provider) {
    provider.loses_webhooks().await;
    goes_down(provider, "events.list", "drop_request").await;
}

pub async fn goes_down(provider: &Provider, operation: &str, fault: &str) {
    let fault = json!({"on": {"operation": operation}, "fault": fault, "times": 1_000_000});
    provider.fault(fault).await;
}

pub async fn comes_up(provider: &Provider) {
    provider.mends().await;
    tells_nothing(provider).await;
}

/// Somebody who has pressed Pay, and is gone.
async fn gone(visitor: Visitor, sku: &str) {
    visitor.with_cart(sku, 1).await.buys().await;
}

/// How often the one checkout was driven.
async fn drives(shop: &Shop) -> i64 {
    shop.count("select attempts from checkouts").await
}

/// For how long the one checkout is let alone now.
async fn rest(shop: &Shop) -> Duration {
    let query = shop.db().query("select drive_at from checkouts");
    let at: DateTime<Utc> = query.fetch_scalar().await.expect("a time");
    let rest = at - shop.app().till.clock.now();
    rest.to_std().unwrap_or_default()
}

/// Moves the clock to when the one checkout is due, and waits until it was driven again, in vain.
async fn is_driven_in_vain(shop: &Shop) -> Duration {
    let before = drives(shop).await;
    let waited = rest(shop).await;
    shop.later(waited.as_secs() + 1);
    eventually("it is driven", || async { drives(shop).await > before }).await;
    let idle = "select count(*) from checkouts where failures = attempts";
    eventually("it is given up", || async { shop.count(idle).await == 1 }).await;
    waited
}

pub async fn is_decided(shop: &Shop) {
    eventually("it is decided", || async { shop.count(PENDING).await == 0 }).await;
}

/// The audit, for a shop with workers that is further than its webhooks allow. Each order has its mail.
pub async fn came_to(shop: &Shop, expected: Expected) {
    shop.finishes().await;
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    let sold = "select cast(coalesce(sum(stocked - stock), 0) as bigint) from products";
    let found = Expected {
        charges: report.counts.provider_succeeded,
        orders: report.counts.orders,
        sold: shop.count(sold).await,
    };
    assert_eq!(found, expected, "{report}");
    assert_eq!(report.counts.emails, expected.orders, "{report}");
}

#[tokio::test]
async fn a_provider_that_is_down_for_an_hour_is_asked_less_and_less_and_then_charges_once() {
    let shop = attentive().await;
    goes_down(&shop.provider, "*", "drop_request").await;
    gone(shop.visitor(), "TEA-01").await;

    let mut waits = vec![];
    while waits.iter().sum::<Duration>() < Duration::from_hours(1) {
        waits.push(is_driven_in_vain(&shop).await);
    }
    // 1, 2, 4 … 256 seconds, then every five minutes.
    assert!(waits.len() < 24, "{waits:?}");
    assert!(
        waits.is_sorted_by(|a, b| a.as_secs() <= b.as_secs() + 1),
        "{waits:?}"
    );
    let longest = waits.last().expect("many");
    assert!((290..=300).contains(&longest.as_secs()), "{waits:?}");

    comes_up(&shop.provider).await;
    shop.later(300);
    is_decided(&shop).await;
    came_to(&shop, ONCE).await;
}

#[tokio::test]
async fn an_answer_sets_the_wait_back() {
    let shop = attentive().await;
    goes_down(&shop.provider, "*", "drop_request").await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_threeDSecure2Required");
    buyer.submits(&form).await;
    for _ in 0..4 {
        is_driven_in_vain(&shop).await;
    }

    comes_up(&shop.provider).await;
    shop.later(60);
    let reset = "select count(*) from checkouts where failures = 0 and next_action_url is not null";
    eventually("it is answered", || async { shop.count(reset).await == 1 }).await;
}

/// For 25 hours. The key is not sent again after 23: the provider may have forgotten it, and would charge again.
#[tokio::test]
async fn a_charge_whose_answer_was_lost_a_day_ago_is_found_and_not_made_again() {
    let shop = attentive().await;
    goes_down(&shop.provider, CREATE, "drop_response").await;
    gone(shop.visitor(), "TEA-01").await;
    goes_down(&shop.provider, "*", "drop_request").await;
    let day = json!({"advance_seconds": 25 * 3600});
    shop.provider.control("clock", day).await;
    shop.later(25 * 3600);
    is_driven_in_vain(&shop).await;
    assert_eq!(shop.count(PENDING).await, 1, "unknown is not failed");
    let creates = shop.provider.calls("POST", "/v1/payment_intents").await;

    comes_up(&shop.provider).await;
    shop.later(300);
    is_decided(&shop).await;

    let calls = shop.provider.calls("POST", "/v1/payment_intents").await;
    assert_eq!(calls.len(), creates.len(), "nothing was created again");
    came_to(&shop, ONCE).await;
}

#[tokio::test]
async fn a_request_that_was_lost_a_day_ago_ends_without_a_charge_and_frees_the_stock() {
    let shop = attentive().await;
    goes_down(&shop.provider, "*", "drop_request").await;
    gone(shop.visitor(), "TEA-01").await;
    shop.later(25 * 3600);
    is_driven_in_vain(&shop).await;
    assert_eq!(shop.count(PENDING).await, 1, "unknown is not failed");

    comes_up(&shop.provider).await;
    shop.later(300);
    let looked_for = "select count(*) from checkouts where look_up_since is not null";
    eventually("it is looked for", || async {
        shop.count(looked_for).await == 1
    })
    .await;
    assert_eq!(
        shop.count(PENDING).await,
        1,
        "once in vain is not yet never"
    );
    shop.later(11 * 60);
    is_decided(&shop).await;
    came_to(&shop, NOTHING).await;
}

#[tokio::test]
async fn r13_a_stored_500_with_a_charge_is_looked_up() {
    let shop = attentive().await;
    goes_down(&shop.provider, "payment_intents.list", "drop_request").await;
    shop.provider.next(CREATE, "error_after").await;
    gone(shop.visitor(), "TEA-01").await;
    assert_eq!(shop.count(PENDING).await, 1);

    comes_up(&shop.provider).await;
    shop.later(60);
    is_decided(&shop).await;
    came_to(&shop, ONCE).await;
}

#[tokio::test]
async fn a_payment_is_looked_up_on_a_busy_day_without_reading_all_of_it() {
    let shop = attentive().await;
    let provider = &shop.app().till.provider;
    for _ in 0..101 {
        let (key, lease) = (fresh_key(), Duration::from_secs(5));
        let request = "amount=490&currency=eur&payment_method_types[0]=card";
        let _ = provider
            .create_payment_intent(&key, "somebody else's", request, lease)
            .await;
    }
    shop.provider.next(CREATE, "error_after").await;
    gone(shop.visitor(), "TEA-01").await;
    is_decided(&shop).await;

    let pages = shop.provider.calls("GET", "/v1/payment_intents").await;
    assert_eq!(pages.len(), 1, "the newest hundred, among them ours");
    came_to(&shop, ONCE).await;
}

/// The key has the stored 500 of something else. There is no charge, and the key will never tell.
#[tokio::test]
async fn r13_a_stored_500_without_a_charge_ends_without_one() {
    let shop = attentive().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    shop.provider.next(CREATE, "error_after").await;
    let other = crate::world::client()
        .post(format!("{}/v1/payment_intents", shop.provider.url))
        .bearer_auth("sk_test_boring")
        .header("idempotency-key", form.field("idempotency_key"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body("amount=490&currency=eur&payment_method_types[0]=card");
    assert_eq!(other.send().await.expect("an answer").status(), 500);
    buyer.submits(&form).await;
    assert_eq!(shop.count(PENDING).await, 1);

    shop.later(11 * 60);
    is_decided(&shop).await;
    came_to(&shop, NOTHING).await;
}

/// A provider that outlives the shops, and never sends a webhook.
pub async fn quiet_provider() -> (Simulator, Provider) {
    let simulator = Simulator::start_with(SimulatorConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        database_url: "sqlite::memory:".to_owned(),
        key: "sk_test_boring".to_owned(),
        ..SimulatorConfig::default()
    });
    let simulator = simulator.await.expect("the simulator starts");
    let provider = Provider::at(&simulator.url());
    (simulator, provider)
}

const QUICK: [&str; 4] = ["--lease", "300ms", "--provider-timeout", "5s"];

#[tokio::test]
async fn r14_a_lost_answer_and_then_a_crash_and_nobody_comes_back() {
    let database = Database::fresh().await;
    let (_simulator, provider) = quiet_provider().await;
    let books = Books::of(&database, &provider).await;
    goes_down(&provider, CREATE, "drop_response").await;
    let shop = Process::shop_with_workers(&database, &provider, &QUICK).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let submission = tokio::spawn(buyer.submission(&form).send());
    eventually("it is charged", || async {
        provider.ledger().await["payment_intents"]["succeeded"] == 1
    })
    .await;
    shop.kill();
    let _ = submission.await.expect("no panic");
    assert_eq!(books.count("select count(*) from orders").await, 0);

    comes_up(&provider).await;
    let _shop = Process::shop_with_workers(&database, &provider, &QUICK).await;
    books.expect(ONCE).await;
}

/// Whoever has submitted it is at work on it, and nobody else is. If they have died, anybody goes on when the lease runs out.
#[tokio::test]
async fn a_checkout_is_first_whose_form_it_was() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let purchase = purchase_of(&shop, &buyer.opens_checkout().await).await;
    let till = &shop.app().till;
    let Ok(Submitted::New(checkout)) = checkout::submit(till, &purchase).await else {
        panic!("nobody was before it")
    };
    let asked = async || {
        let resumed = checkout::resume(till, checkout.id).await;
        resumed.expect("no error");
        shop.provider
            .calls("POST", "/v1/payment_intents")
            .await
            .len()
    };
    assert_eq!(asked().await, 0);
    shop.later(120);
    assert_eq!(asked().await, 1);
    shop.expects(ONCE).await;
}

/// Both see the same checkouts at the same moment, and each is driven by one of them.
#[tokio::test]
async fn two_processes_share_the_work() {
    const CUSTOMERS: usize = 10;
    let database = Database::fresh().await;
    let (_simulator, provider) = quiet_provider().await;
    let books = Books::of(&database, &provider).await;
    goes_down(&provider, "*", "drop_request").await;
    let shop = Process::shop(&database, &provider, &QUICK).await;
    join_all((0..CUSTOMERS).map(|_| gone(shop.visitor(), "TEA-01"))).await;
    shop.kill();
    comes_up(&provider).await;
    // Whoever comes second while the first waits for the answer is seen to ask again.
    let slow =
        json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 300, "times": 1000});
    provider.fault(slow).await;

    let patient = ["--lease", "10s", "--provider-timeout", "5s"];
    let one = Process::shop_with_workers(&database, &provider, &patient).await;
    let other = Process::shop_with_workers(&database, &provider, &patient).await;

    let n = i64::try_from(CUSTOMERS).expect("few");
    let all = Expected {
        charges: n,
        orders: n,
        sold: n,
    };
    books.expect(all).await;
    let calls = provider.calls("POST", "/v1/payment_intents").await;
    let answered = calls.iter().filter(|call| !call["status"].is_null());
    assert_eq!(
        answered.count(),
        CUSTOMERS,
        "each was asked for once: {calls:?}"
    );
    drop((one, other));
}

#[tokio::test]
async fn a_shop_that_is_asked_to_stop_finishes_what_its_workers_have_begun() {
    let database = Database::fresh().await;
    let (_simulator, provider) = quiet_provider().await;
    let books = Books::of(&database, &provider).await;
    goes_down(&provider, "*", "drop_request").await;
    let shop = Process::shop(&database, &provider, &QUICK).await;
    gone(shop.visitor(), "TEA-01").await;
    shop.kill();
    comes_up(&provider).await;
    let slow = json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 1000});
    provider.fault(slow).await;

    let patient = ["--lease", "10s", "--provider-timeout", "5s"];
    let shop = Process::shop_with_workers(&database, &provider, &patient).await;
    eventually("it is charged", || async {
        provider.ledger().await["payment_intents"]["succeeded"] == 1
    })
    .await;
    shop.asks_to_stop();
    assert!(shop.ends().await.success());

    assert_eq!(books.count("select count(*) from orders").await, 1);
    books.expect(ONCE).await;
}

#[tokio::test]
async fn a_shop_without_workers_has_none() {
    let without = Shop::open().await;
    assert_eq!(without.app().tasks.len(), 0);
    let with = Shop::open_with_workers(&[]).await;
    assert!(!with.app().tasks.is_empty());
    with.stop().await;
}
