//! The two engines: starting at once, and losing the connection in the middle of a phase.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use boring_checkout::{
    checkout::{self, Submitted, Till},
    db::Db,
    probe::{Boundary, Probe},
};
use futures_util::future::join_all;

use crate::{
    buying::purchase_of,
    world::{Database, Expected, Shop, probed},
};

#[tokio::test]
async fn many_may_start_and_migrate_at_once() {
    let database = Database::fresh().await;
    let url = database.url();

    let opened = join_all((0..12).map(|_| Db::open_with(&url, 2))).await;

    for db in opened {
        let db = db.expect("it opens");
        let products: i64 = db
            .query("select count(*) from products")
            .fetch_scalar()
            .await
            .expect("the schema is there");
        assert_eq!(products, 0);
    }
}

/// Nobody waits for a lock in a transaction for longer than ten seconds. A chapter of the schema may take longer.
#[tokio::test]
async fn whoever_starts_while_another_one_migrates_waits_for_as_long_as_it_takes() {
    let database = Database::fresh().await;
    let url = database.url();
    let first = Db::open_with(&url, 2).await.expect("it opens");
    let mut migrating = first.begin().await.expect("a transaction"); // The one writer's, on SQLite.
    if first.is_postgres() {
        let turn = "select pg_advisory_xact_lock(hashtext('boring-checkout migrates'), hashtext(current_schema()))";
        migrating.query(turn).execute().await.expect("its turn");
    }

    let second = tokio::spawn(async move { Db::open_with(&url, 2).await });
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert!(!second.is_finished(), "it waits");

    migrating.commit().await.expect("it is done");
    second.await.expect("no panic").expect("it opens");
}

/// At every boundary of the two phases the connection breaks once, before or after what was asked was done.
#[tokio::test]
async fn a_phase_whose_connection_breaks_is_run_again() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    let boundaries = buys_while(&shop, |_| None).await;
    assert!(boundaries > 30, "only {boundaries}");

    for broken in 0..boundaries {
        buys_while(&shop, move |boundary| {
            (boundary == broken)
                .then(|| sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into()))
        })
        .await;
    }

    let n = i64::try_from(boundaries).expect("few") + 1;
    expect(&shop, n).await;
}

/// PostgreSQL ends all sessions of the shop, as it does when it is restarted, just before each commit.
#[tokio::test]
async fn a_phase_survives_the_end_of_its_session() {
    let shop = Shop::open().await;
    if !shop.database.is_postgres() {
        // SQLite has no sessions that somebody else could end; the story above covers its own errors.
        return buys_once(&shop).await;
    }
    let other = shop.database.open().await;
    let ends = Arc::new(AtomicUsize::new(0));
    let ended = Arc::clone(&ends);
    let probe = Probe::new(move |boundary| {
        let here = boundary == Boundary::BeforeCommit
            && ends.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
        let other = other.clone();
        async move {
            if here {
                end_sessions_in_transactions(&other).await?;
            }
            Ok(())
        }
    });
    let till = probed(shop.app(), probe);
    buys(&shop, &till).await;
    assert!(
        ended.load(Ordering::SeqCst) >= 4,
        "each phase lost its session once"
    );
    shop.expects(Expected {
        charges: 1,
        orders: 1,
        sold: 1,
    })
    .await;
}

/// As when the server was started again while the shop was quiet: whoever comes next notices nothing.
#[tokio::test]
async fn a_connection_that_was_lost_while_nobody_used_it_is_replaced() {
    let shop = Shop::open().await;
    if !shop.database.is_postgres() {
        return;
    }
    let db = Db::open_with(&shop.database.url(), 1).await.expect("opens");
    let pid = "select pg_backend_pid()";
    let lost: i32 = db.query(pid).fetch_scalar().await.expect("a number");
    let _: bool = shop
        .db()
        .query("select pg_terminate_backend($1, 10000)")
        .bind(lost)
        .fetch_scalar()
        .await
        .expect("ended");
    // For a second it is believed to be there.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let next: i32 = db.query(pid).fetch_scalar().await.expect("another one");
    assert_ne!(next, lost);
    db.close().await;
}

async fn buys_once(shop: &Shop) {
    buys(shop, &shop.app().till).await;
    shop.expects(Expected {
        charges: 1,
        orders: 1,
        sold: 1,
    })
    .await;
}

/// Only those of this test's schema: the tests beside it have theirs.
async fn end_sessions_in_transactions(db: &Db) -> sqlx::Result<()> {
    let _: Vec<(bool,)> = db
        .query(
            "select pg_terminate_backend(l.pid) from pg_locks l
             where l.relation = 'checkouts'::regclass and l.pid <> pg_backend_pid()
             group by l.pid",
        )
        .fetch_all()
        .await?;
    Ok(())
}

/// One purchase, with `fault` told the number of each boundary. Returns how many there were.
async fn buys_while(
    shop: &Shop,
    fault: impl Fn(usize) -> Option<sqlx::Error> + Send + Sync + 'static,
) -> usize {
    let passed = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&passed);
    let probe = Probe::new(move |_| {
        let verdict =
            fault(counter.fetch_add(1, Ordering::SeqCst)).map_or(Ok(()), |error| Err(error.into()));
        async { verdict }
    });
    buys(shop, &probed(shop.app(), probe)).await;
    passed.load(Ordering::SeqCst)
}

/// Somebody new buys a pen, by calling the phases on `till`.
async fn buys(shop: &Shop, till: &Till) {
    let buyer = shop.visitor().with_cart("PEN-01", 1).await;
    let form = buyer.opens_checkout().await;
    let purchase = purchase_of(shop, &form).await;
    let submitted = checkout::submit(till, &purchase).await.expect("submitted");
    let Submitted::New(checkout) = submitted else {
        panic!("a new checkout")
    };
    checkout::drive(till, checkout).await.expect("driven");
}

async fn expect(shop: &Shop, n: i64) {
    shop.provider.catches_up().await;
    shop.expects(Expected {
        charges: n,
        orders: n,
        sold: n,
    })
    .await;
}
