//! Customers who go away in the middle of a request. Nothing of it is cancelled, and nothing is left behind.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use boring_checkout::{
    db::Db,
    probe::{Boundary, Probe},
};
use futures_util::future::join_all;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::json;

use crate::world::{Database, Expected, ONCE, Relay, Shop, Visitor, eventually, front, holding};

#[tokio::test]
async fn r68_a_customer_who_leaves_at_any_moment_has_bought_once() {
    let shop = Shop::open().await;
    // A webhook that is faster than the answer would make the rest of the path shorter.
    shop.provider.loses_webhooks().await;
    let boundaries = count_boundaries(&shop).await;
    assert!(boundaries > 20, "only {boundaries}");

    for moment in 0..boundaries {
        let passed = AtomicUsize::new(0);
        let (probe, mut hold) = holding(move |_| passed.fetch_add(1, Ordering::SeqCst) == moment);
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let buyer = buyer.moved_to(&front(&shop, probe).await);

        let submission = tokio::spawn(buyer.submission(&form).send());
        hold.reached().await;
        submission.abort();
        let _ = submission.await;
        hold.lets_go();
    }

    let n = i64::try_from(boundaries).expect("few") + 1;
    eventually("everybody has bought", || async {
        shop.count("select count(*) from orders").await == n
    })
    .await;
    shop.provider.catches_up().await;
    shop.expects(Expected {
        charges: n,
        orders: n,
        sold: n,
    })
    .await;
}

/// How many boundaries a purchase passes until its answer.
async fn count_boundaries(shop: &Shop) -> usize {
    let passed = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&passed);
    let probe = Probe::new(move |_: Boundary| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    });
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let buyer = buyer.moved_to(&front(shop, probe).await);
    buyer.submits(&form).await;
    passed.load(Ordering::SeqCst)
}

/// Hundreds of customers leave at random moments while the database is slow. On PostgreSQL that is the way to make
/// sqlx 0.9.0 hand out a connection that is inside somebody else's transaction.
#[tokio::test]
async fn r67_hundreds_of_customers_who_leave_leave_no_open_transaction() {
    const LEAVING: usize = 200;
    const STAYING: i64 = 50;
    let seed = rand::rng().random();
    println!("seed {seed}");
    let mut rng = SmallRng::seed_from_u64(seed);
    let database = Database::fresh().await;
    let wire = Relay::open().await;
    let shop = Shop::open_on(database.behind(&wire), &[]).await;
    let visitors = (0..LEAVING).map(|_| shop.visitor().with_cart("PEN-01", 1));
    let leaving = join_all(visitors).await;
    let forms = join_all(leaving.iter().map(Visitor::opens_checkout)).await;

    // A connection that was left in a transaction is found only while nobody else uses it.
    shop.provider.loses_webhooks().await;
    wire.takes(Duration::from_millis(30));
    let drops = leaving.iter().zip(&forms).map(|(visitor, form)| {
        let patience = Duration::from_millis(rng.random_range(0..600));
        tokio::time::timeout(patience, visitor.submission(form).send())
    });
    join_all(drops).await;
    wire.takes(Duration::ZERO);
    shop.database.has_no_open_transaction().await;

    shop.provider.catches_up().await;
    shop.settles().await;
    let staying = join_all((0..STAYING).map(|_| shop.visitor().with_cart("PEN-01", 1))).await;
    for status in join_all(staying.iter().map(Visitor::buys)).await {
        assert!(status.starts_with("/checkouts/"));
    }
    // Whoever has left may have bought all the same.
    shop.settles().await;
    let n = shop.count("select count(*) from orders").await;
    assert!(n >= STAYING, "{n}");
    shop.expects(Expected {
        charges: n,
        orders: n,
        sold: n,
    })
    .await;
}

/// Forty payments at once that the provider does not answer, on a pool of sixteen connections: the webhooks that
/// finish them still find one, because no connection is held during a call.
#[tokio::test]
async fn r71_a_slow_provider_uses_up_no_connections() {
    const BUYERS: i64 = 40;
    let shop = Shop::open().await;
    let slow = json!({"on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 600_000, "times": 1000});
    shop.provider.fault(slow).await;
    let buyers = join_all((0..BUYERS).map(|_| shop.visitor().with_cart("PEN-01", 1))).await;
    let forms = join_all(buyers.iter().map(Visitor::opens_checkout)).await;

    let submissions = join_all(
        buyers
            .iter()
            .zip(&forms)
            .map(|(buyer, form)| buyer.submits(form)),
    );
    let webhooks = eventually("every payment is finished by its webhook", || async {
        shop.count("select count(*) from orders").await == BUYERS
            && shop.visitor().sees("/products/PEN-01").await.status == 200
            && shop.visitor().sees("/healthz").await.status == 200
    });
    let (answers, ()) = tokio::join!(submissions, webhooks);

    for (buyer, answer) in buyers.iter().zip(answers) {
        assert_eq!(buyer.sees(answer.location()).await.heading(), "Paid");
    }
    shop.expects(Expected {
        charges: BUYERS,
        orders: BUYERS,
        sold: BUYERS,
    })
    .await;
}

#[tokio::test]
async fn a_shop_that_is_stopped_finishes_what_is_in_flight() {
    let shop = Shop::open().await;
    let database = shop.database.open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let slow =
        json!({"on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 500});
    shop.provider.fault(slow).await;
    let submission = tokio::spawn(buyer.submission(&form).send());
    eventually("the payment is under way", || async {
        shop.count("select count(*) from checkouts").await == 1
    })
    .await;

    shop.stop().await;

    let answer = submission.await.expect("no panic").expect("an answer");
    assert_eq!(answer.status(), 303);
    let orders: i64 = database
        .query("select count(*) from orders")
        .fetch_scalar()
        .await
        .expect("a count");
    assert_eq!(orders, ONCE.orders);
}

/// PostgreSQL reports the failure to whoever uses the connection next, which must not be in the failed transaction.
#[tokio::test]
async fn a_statement_that_fails_after_its_caller_has_left_is_nobody_elses() {
    let shop = Shop::open().await;
    if !shop.database.is_postgres() {
        return;
    }
    let db = Db::open_with(&shop.database.url(), 1).await;
    let db = db.expect("it opens");
    let mut tx = db.begin().await.expect("begun");
    let fails = tx.query("select 1 / case when pg_sleep(0.3) is null then 1 else 0 end");
    let left = tokio::time::timeout(Duration::from_millis(100), fails.execute()).await;
    left.expect_err("it has not failed yet");
    drop(tx);

    eventually("the connection is back", || async { db.is_at_rest() }).await;
    let one: i32 = db
        .query("select 1")
        .fetch_scalar()
        .await
        .expect("an answer");
    assert_eq!(one, 1);
    let tx = db.begin().await.expect("a transaction of its own");
    tx.commit().await.expect("committed");
    db.close().await;
}
