//! Webhooks that never come. The provider's own list has what they would have told.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use boring_checkout::{
    probe::{Boundary, Probe},
    webhooks::missed,
};
use futures_util::future::join_all;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    authentication::{answers, asked},
    outbox::shop_on,
    reconciler::{goes_down, quiet_provider},
    world::{Books, Database, ONCE, Process, Provider, Shop, eventually, probed},
};

const PAID: &str = "select count(*) from checkouts where status = 'paid'";

/// No webhook comes, and the reconciler's questions are not answered: only the list is left.
async fn only_lists_events(provider: &Provider) {
    provider.loses_webhooks().await;
    for operation in ["create", "retrieve", "list"] {
        let operation = format!("payment_intents.{operation}");
        goes_down(provider, &operation, "drop_response").await;
    }
}

/// Somebody else is paid by the same account.
async fn happens_at_the_provider(provider: &Provider, times: usize) {
    join_all((0..times).map(|_| provider.is_used_by_another_shop())).await;
}

/// A minute later, when nothing more will happen by itself.
async fn has_read_all(shop: &Shop) {
    shop.provider.control("settle", json!({})).await;
    shop.later(61);
    eventually("every event is here", || async {
        shop.provider.unheard(shop.db()).await <= 0
    })
    .await;
}

async fn reads(provider: &Provider) -> usize {
    provider.calls("GET", "/v1/events").await.len()
}

#[tokio::test]
async fn an_event_that_was_never_delivered_is_read_and_takes_effect_once() {
    let shop = Shop::open_with_workers(&[]).await;
    shop.provider.loses_webhooks().await;
    let (buyer, status) = asked(&shop).await;
    only_lists_events(&shop.provider).await;
    answers(&shop, &buyer.sees(&status).await, "approve").await;

    shop.later(61);
    eventually("it is paid", || async { shop.count(PAID).await == 1 }).await;
    assert_eq!(buyer.sees(&status).await.heading(), "Paid");

    // Now it is delivered after all.
    shop.provider.mends().await;
    let events = shop.provider.events("payment_intent.succeeded").await;
    for answer in shop.provider.delivers(&events[0], 3).await {
        assert_eq!(answer, 200);
    }
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_long_list_is_read_from_its_beginning_and_then_only_its_end() {
    let shop = Shop::open_with_workers(&[]).await;
    shop.provider.loses_webhooks().await;
    happens_at_the_provider(&shop.provider, 120).await;
    let (buyer, status) = asked(&shop).await;
    only_lists_events(&shop.provider).await;
    answers(&shop, &buyer.sees(&status).await, "approve").await;
    happens_at_the_provider(&shop.provider, 120).await;

    shop.later(61);
    eventually("it is paid", || async { shop.count(PAID).await == 1 }).await;
    has_read_all(&shop).await;

    // All of it is so old that nothing can come in between: the position moves to the end.
    shop.later(140);
    let last = shop.provider.events("payment_intent.succeeded").await;
    let last = &last[0];
    let last = last["id"].as_str().expect("an id").to_owned();
    shop.later(100);
    eventually("the position is at the end", || async {
        let position = shop.db().query("select event_id from events_read");
        position.fetch_optional::<(String,)>().await.expect("a row") == Some((last.clone(),))
    })
    .await;
    let before = reads(&shop.provider).await;
    shop.later(61);
    eventually("it is read on", || async {
        reads(&shop.provider).await > before
    })
    .await;
    happens_at_the_provider(&shop.provider, 1).await;
    has_read_all(&shop).await;
    let pages = reads(&shop.provider).await - before;
    assert!(pages <= 4, "{pages} pages were read for one event");

    shop.provider.mends().await;
    shop.expects(ONCE).await;
}

/// A list may show an event a little after younger ones, so what is young is read once more.
#[tokio::test]
async fn the_position_stays_behind_what_is_young() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    assert_eq!(buyer.waits_at(&buyer.buys().await).await, "Paid");
    let positions = async || {
        let read = missed::catch_up(&shop.app().till, &CancellationToken::new()).await;
        read.expect("read to its end");
        shop.count("select count(*) from events_read").await
    };
    assert_eq!(positions().await, 0);
    shop.later(301);
    assert_eq!(positions().await, 1);
}

/// Most events are delivered. They are read with one call, looked up by one query, and without the writers' lock but for the position.
#[tokio::test]
async fn what_was_delivered_costs_nothing_when_it_is_read() {
    let shop = Shop::open().await;
    for _ in 0..2 {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        assert_eq!(buyer.waits_at(&buyer.buys().await).await, "Paid");
    }
    shop.settles().await;
    shop.later(301);
    let (transactions, looks) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (begun, looked) = (Arc::clone(&transactions), Arc::clone(&looks));
    let probe = Probe::new(move |boundary| {
        match boundary {
            Boundary::BeforeBegin => begun.fetch_add(1, Ordering::SeqCst),
            Boundary::BeforeQuery(sql) if sql.contains("processed_events") => {
                looked.fetch_add(1, Ordering::SeqCst)
            }
            _ => 0,
        };
        async { Ok(()) }
    });
    let till = probed(shop.app(), probe);
    let read = missed::catch_up(&till, &CancellationToken::new()).await;
    read.expect("read to its end");
    assert_eq!(reads(&shop.provider).await, 1);
    assert_eq!(looks.load(Ordering::SeqCst), 1);
    assert_eq!(transactions.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_position_that_the_provider_has_forgotten_is_no_obstacle() {
    let shop = Shop::open_with_workers(&[]).await;
    shop.provider.loses_webhooks().await;
    let (buyer, status) = asked(&shop).await;
    shop.alters(
        "insert into events_read (id, event_id, created, read_at)
         select 1, 'evt_forgotten', 0, created_at from checkouts",
    )
    .await;
    only_lists_events(&shop.provider).await;
    answers(&shop, &buyer.sees(&status).await, "approve").await;

    shop.later(61);
    eventually("it is paid", || async { shop.count(PAID).await == 1 }).await;
    has_read_all(&shop).await;
    shop.provider.mends().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn two_processes_read_the_same_list_at_once() {
    let database = Database::fresh().await;
    let (_simulator, provider) = quiet_provider().await;
    let books = Books::of(&database, &provider).await;
    only_lists_events(&provider).await;
    let flags = ["--lease", "300ms"];
    let shop = Process::shop(&database, &provider, &flags).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_ne!(buyer.sees(&status).await.heading(), "Paid");
    shop.kill();

    let opens = || Process::shop_with_workers(&database, &provider, &flags);
    let readers = [opens().await, opens().await];
    books.settle().await;

    provider.mends().await;
    drop(readers);
    let reader = Process::shop(&database, &provider, &flags).await;
    assert_eq!(
        buyer.moved_to(&reader.url).sees(&status).await.heading(),
        "Paid"
    );
    books.expect(ONCE).await;
}

#[tokio::test]
async fn of_two_processes_one_reads_for_both() {
    const BEATS: usize = 5;
    let shop = Shop::open_with_workers(&[]).await;
    shop.provider.loses_webhooks().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    assert_eq!(buyer.waits_at(&buyer.buys().await).await, "Paid");
    shop.later(301);
    eventually("there is a position", || async {
        shop.count("select count(*) from events_read").await == 1
    })
    .await;
    let other = shop_on(&shop.database, &shop.provider.url, &[]).await;
    other.app.till.clock.advance(Duration::from_secs(301));

    let beat = async |before: usize| {
        shop.later(61);
        other.app.till.clock.advance(Duration::from_secs(61));
        eventually("somebody reads", || async {
            reads(&shop.provider).await > before
        })
        .await;
    };
    beat(reads(&shop.provider).await).await;
    let before = reads(&shop.provider).await;
    for beats in 0..BEATS {
        beat(before + beats).await;
    }
    let read = reads(&shop.provider).await - before;
    assert!(read <= BEATS + 1, "{read} times in {BEATS} beats");
    other.stop().await;
}

#[tokio::test]
async fn an_event_of_another_shop_is_read_and_ignored() {
    let shop = Shop::open_with_workers(&[]).await;
    shop.provider.loses_webhooks().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    happens_at_the_provider(&shop.provider, 1).await;

    has_read_all(&shop).await;
    let others = "select count(*) from processed_events where type not like 'payment_intent.%'";
    assert_eq!(
        shop.count(others).await,
        0,
        "what tells nothing is not asked for"
    );
    shop.expects(ONCE).await;
}
