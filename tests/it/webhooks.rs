//! News from the provider: early, twice, at once, late, out of order, and false.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use boring_checkout::probe::{Boundary, Probe};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::world::{
    Expected, Letter, NOTHING, ONCE, Process, Shop, Visitor, event, eventually, failing, front,
};

const SUCCEEDED: &str = "payment_intent.succeeded";

/// A shop with a customer who was charged, and has heard nothing of it: answers and webhooks are lost.
async fn charged_unheard() -> (Shop, Visitor, String) {
    let shop = Shop::open_with(&["--provider-timeout", "300ms", "--lease", "500ms"]).await;
    shop.provider.loses_webhooks().await;
    shop.provider.loses_answers().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(shop.count("select count(*) from orders").await, 0);
    (shop, buyer, status)
}

/// The one event that says the payment succeeded.
async fn the_success(shop: &Shop) -> Value {
    let mut events = shop.provider.events(SUCCEEDED).await;
    assert_eq!(events.len(), 1);
    events.remove(0)
}

fn id_in(status: &str) -> &str {
    status.trim_start_matches("/checkouts/")
}

#[tokio::test]
async fn r27_the_webhook_arrives_before_the_answer() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let late =
        json!({"on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 1500});
    shop.provider.fault(late).await;

    let submission = buyer.submits(&form);
    let webhook = eventually("the webhook has made the order", || async {
        shop.count("select count(*) from orders").await == 1
    });
    let (answer, ()) = tokio::join!(submission, webhook);

    assert_eq!(buyer.sees(answer.location()).await.heading(), "Paid");
    let applied = "select count(*) from processed_events where verdict = 'applied'";
    assert_eq!(shop.count(applied).await, 1);
    assert_eq!(shop.count("select count(*) from outbox").await, 1);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r27_answers_and_doubled_webhooks_in_a_race_a_hundred_times() {
    const RUNS: i64 = 100;
    let shop = Shop::open().await;
    let twice =
        json!({"on": {"webhook": "*"}, "fault": "duplicate", "copies": 2, "times": 100_000});
    shop.provider.fault(twice).await;
    let buyers = join_all((0..RUNS).map(|_| shop.visitor().with_cart("PEN-01", 1))).await;

    let purchases = join_all(buyers.iter().map(Visitor::buys)).await;

    for (buyer, status) in buyers.iter().zip(&purchases) {
        assert_eq!(buyer.waits_at(status).await, "Paid");
    }
    assert_eq!(shop.count("select count(*) from outbox").await, RUNS);
    shop.expects(Expected {
        charges: RUNS,
        orders: RUNS,
        sold: RUNS,
    })
    .await;
}

/// The answer has been written down and is about to be committed, when two copies of the webhook come in.
#[tokio::test]
async fn r27_two_webhooks_at_the_moment_of_our_commit() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    let (arrive, mut arrived) = watch::channel(false);
    let (count, counted) = watch::channel(0);
    let recording = Probe::new(move |boundary| {
        let here = is_statement(boundary, "insert into outbox");
        let (arrive, mut counted) = (arrive.clone(), counted.clone());
        async move {
            if here {
                arrive.send_replace(true);
                counted.wait_for(|n| *n >= 2).await.expect("both begin");
            }
            Ok(())
        }
    });
    let receiving = Probe::new(move |boundary| {
        if boundary == Boundary::BeforeBegin {
            count.send_modify(|n| *n += 1);
        }
        async { Ok(()) }
    });
    let (pays, hears) = (front(&shop, recording).await, front(&shop, receiving).await);
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let buyer = buyer.moved_to(&pays);

    let submission = buyer.submits(&form);
    let webhooks = async {
        arrived
            .wait_for(|arrived| *arrived)
            .await
            .expect("it arrives");
        let letter = Letter::of(&the_success(&shop).await);
        tokio::join!(letter.to(&hears), letter.to(&hears))
    };
    let (answer, (one, other)) = tokio::join!(submission, webhooks);

    assert_eq!((one.status, other.status), (200, 200));
    assert_eq!(buyer.sees(answer.location()).await.heading(), "Paid");
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

fn is_statement(boundary: Boundary, part: &str) -> bool {
    matches!(boundary, Boundary::AfterStatement(sql) if sql.contains(part))
}

#[tokio::test]
async fn r33_one_event_twenty_times_at_once_to_two_processes_and_again_after_a_restart() {
    let (shop, buyer, status) = charged_unheard().await;
    let letter = Letter::of(&the_success(&shop).await);
    let mut processes = [process_of(&shop).await, process_of(&shop).await];

    for round in 0..2 {
        let urls = processes.iter().cycle().map(|process| &process.url);
        let answers = join_all(urls.take(40).map(|url| letter.to(url))).await;
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [200; 40], "round {round}");
        for process in &mut processes {
            // That a busy machine was slow is no news of ours.
            let log = process.log();
            let told = log.lines().find(|line| !line.contains("slow statement"));
            assert_eq!(told, None, "losing is no warning and no error");
            std::mem::replace(process, process_of(&shop).await).kill();
        }
    }

    let once = "select count(*) from processed_events where type = 'payment_intent.succeeded'";
    assert_eq!(shop.count(once).await, 1);
    let applied = "select count(*) from processed_events where verdict = 'applied'";
    assert_eq!(shop.count(applied).await, 1, "no copy was looked at again");
    assert_eq!(shop.count("select count(*) from outbox").await, 1);
    assert_eq!(buyer.sees(&status).await.heading(), "Paid");
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

async fn process_of(shop: &Shop) -> Process {
    Process::shop(&shop.database, &shop.provider, &[]).await
}

#[tokio::test]
async fn r33_events_doubled_reordered_and_delayed_by_the_provider() {
    let faults = [
        json!({"on": {"webhook": "*"}, "fault": "duplicate", "copies": 20, "times": 100}),
        json!({"on": {"webhook": "*"}, "fault": "reorder", "times": 2}),
        json!({"on": {"webhook": SUCCEEDED}, "fault": "delay", "delay_ms": 300}),
        json!({"on": {"webhook": SUCCEEDED}, "fault": "bad_signature"}),
    ];
    for fault in faults {
        let shop = Shop::open().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        shop.provider.fault(fault.clone()).await;

        let status = buyer.buys().await;

        assert_eq!(buyer.waits_at(&status).await, "Paid", "{fault}");
        let deliveries = shop.provider.reads("/_control/deliveries").await;
        let failed = |sent: &&Value| !matches!(sent["status"].as_u64(), Some(200) | None);
        let deliveries = deliveries["data"].as_array().expect("a list");
        let failed: Vec<_> = deliveries.iter().filter(failed).collect();
        assert!(
            failed.iter().all(|sent| sent["status"] == 400),
            "{failed:?}"
        );
        shop.provider.catches_up().await;
        shop.expects(ONCE).await;
    }
}

#[tokio::test]
async fn r32_a_late_failure_of_an_earlier_attempt_changes_nothing() {
    let shop = Shop::open().await;
    let lost =
        json!({"on": {"webhook": "payment_intent.payment_failed"}, "fault": "drop", "times": 100});
    shop.provider.fault(lost).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    buyer
        .submits(&form.with("payment_method", "pm_card_chargeDeclined"))
        .await;
    let paid = buyer.buys().await;
    assert_eq!(buyer.waits_at(&paid).await, "Paid");

    let failures = shop.provider.events("payment_intent.payment_failed").await;
    assert_eq!(shop.provider.delivers(&failures[0], 1).await, [200]);
    let success = the_success(&shop).await;
    assert_eq!(shop.provider.delivers(&success, 3).await, [200, 200, 200]);
    // A failure that names the paid checkout and its own payment, too.
    let intent = success["data"]["object"]["id"].as_str().expect("an id");
    for kind in ["payment_intent.payment_failed", "payment_intent.canceled"] {
        let late = event(&format!("evt_{kind}"), kind, intent, id_in(&paid));
        assert_eq!(Letter::of(&late).to(&shop.url).await.status, 200);
    }

    assert_eq!(buyer.sees(&paid).await.heading(), "Paid");
    shop.expects(ONCE).await;
}

/// The delivery is broken off at each point that it passes, one after the other, until nothing breaks it any more.
/// Whatever was answered, either the event and its effect are there or neither.
#[tokio::test]
async fn r35_broken_off_at_every_boundary_the_event_and_its_effect_stay_together() {
    let (shop, buyer, status) = charged_unheard().await;
    let letter = Letter::of(&the_success(&shop).await);
    let both =
        "select (select count(*) from processed_events) * 10 + (select count(*) from orders)";

    let mut boundary = 0;
    loop {
        let passed = Arc::new(AtomicUsize::new(0));
        // A code that is not worth another try, so that the delivery ends here.
        let (probe, strikes) = failing("XX000", 1, move |_| {
            passed.fetch_add(1, Ordering::SeqCst) == boundary
        });
        let answer = letter.to(&front(&shop, probe).await).await;
        let there = shop.count(both).await;
        assert!(there == 0 || there == 11, "at {boundary}: {there}");
        if strikes.load(Ordering::SeqCst) == 0 {
            assert_eq!((answer.status, there), (200, 11));
            break;
        }
        assert_eq!(answer.status, 500, "at {boundary}");
        boundary += 1;
    }
    assert!(boundary > 10, "only {boundary}");

    assert_eq!(buyer.sees(&status).await.heading(), "Paid");
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r35_an_effect_that_the_database_refuses_is_delivered_again() {
    let (shop, buyer, status) = charged_unheard().await;
    let letter = Letter::of(&the_success(&shop).await);
    shop.alters("alter table outbox rename to outbox_elsewhere")
        .await;

    assert_eq!(letter.to(&shop.url).await.status, 500);
    assert_eq!(shop.count("select count(*) from processed_events").await, 0);
    assert_eq!(shop.count("select count(*) from orders").await, 0);
    shop.alters("alter table outbox_elsewhere rename to outbox")
        .await;
    assert_eq!(letter.to(&shop.url).await.status, 200);

    assert_eq!(buyer.sees(&status).await.heading(), "Paid");
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn an_event_that_names_nothing_of_ours_has_no_effect() {
    let shop = Shop::open().await;
    let created = json!({"id": "evt_1", "type": "customer.created", "livemode": false});
    assert_eq!(Letter::of(&created).to(&shop.url).await.status, 200);
    for nonsense in ["{}", "[]", "null", "", "{\"id\":\"evt_2\"}", "\u{0}"] {
        let answer = Letter::new(nonsense).to(&shop.url).await;
        assert_eq!(answer.status, 400, "{nonsense:?}");
    }
    assert_eq!(shop.count("select count(*) from processed_events").await, 1);
    shop.expects(NOTHING).await;
}
