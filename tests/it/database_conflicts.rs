//! The database gives up a transaction, after the money has moved. That is nobody's problem but ours.

use std::sync::atomic::{AtomicUsize, Ordering};

use boring_checkout::{
    checkout::SubmitError,
    db::Transient as _,
    outbox::{Unreadable, inbox::ConsumeError},
    probe::{Boundary, Failure, Probe},
    refunds::RequestError,
};
use futures_util::future::join_all;

use crate::world::{Expected, ONCE, Shop, Visitor, failing, front};

/// The last thing that recording a payment does.
fn recorded(boundary: Boundary) -> bool {
    matches!(boundary, Boundary::AfterStatement(sql) if sql.contains("insert into outbox"))
}

#[tokio::test]
async fn r30_the_record_is_given_up_twice_and_run_again_without_another_charge() {
    for code in ["40001", "40P01"] {
        let shop = Shop::open().await;
        shop.provider.loses_webhooks().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let (probe, strikes) = failing(code, 2, recorded);
        let buyer = buyer.moved_to(&front(&shop, probe).await);

        let status = buyer.submits(&form).await.location().to_owned();

        assert_eq!(strikes.load(Ordering::SeqCst), 2, "{code}");
        assert_eq!(buyer.sees(&status).await.heading(), "Paid", "{code}");
        let calls = shop.provider.calls("POST", "/v1/payment_intents").await;
        assert_eq!(calls.len(), 1, "{code}");
        shop.provider.catches_up().await;
        shop.expects(ONCE).await;
    }
}

#[tokio::test]
async fn r30_the_record_is_given_up_until_we_give_up_and_the_purchase_is_finished_later() {
    let shop = Shop::open_with(&["--lease", "1s"]).await;
    shop.provider.loses_webhooks().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let (probe, strikes) = failing("40001", usize::MAX, recorded);
    let troubled = buyer.moved_to(&front(&shop, probe).await);

    let status = troubled.submits(&form).await.location().to_owned();

    assert!(strikes.load(Ordering::SeqCst) > 2);
    let page = troubled.sees(&status).await;
    assert_eq!(page.heading(), "We are checking your payment");
    shop.later(60);
    assert_eq!(buyer.sees(&status).await.heading(), "Paid");
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

/// A hundred purchases whose record is raced by its webhook, and given up twice on the way.
#[tokio::test]
async fn r29_a_hundred_records_and_their_webhooks_at_once() {
    const PAIRS: i64 = 100;
    let shop = Shop::open().await;
    let pairs = (0..PAIRS).map(|n| {
        let shop = &shop;
        async move {
            let buyer = shop.visitor().with_cart("PEN-01", 1).await;
            let form = buyer.opens_checkout().await;
            let code = if n % 2 == 0 { "40001" } else { "40P01" };
            let (probe, _) = failing(code, 2, recorded);
            let buyer = buyer.moved_to(&front(shop, probe).await);
            let status = buyer.submits(&form).await.location().to_owned();
            buyer.waits_at(&status).await
        }
    });
    assert!(
        join_all(pairs)
            .await
            .iter()
            .all(|heading| heading == "Paid")
    );

    let captured = "select cast(coalesce(sum(amount_minor), 0) as bigint) from payments";
    assert_eq!(shop.count(captured).await, 120 * PAIRS);
    let expected = Expected {
        charges: PAIRS,
        orders: PAIRS,
        sold: PAIRS,
    };
    shop.expects(expected).await;
}

/// Every other commit of each customer is a deadlock's victim, whatever it is of: cart, session, submission, record.
#[tokio::test]
async fn r70_every_other_commit_is_a_deadlocks_victim() {
    const CUSTOMERS: i64 = 20;
    let shop = Shop::open().await;
    let purchases = (0..CUSTOMERS).map(|n| {
        let shop = &shop;
        async move {
            let commits = AtomicUsize::new(0);
            let (probe, strikes) = failing("40P01", usize::MAX, move |boundary| {
                boundary == Boundary::BeforeCommit
                    && commits.fetch_add(1, Ordering::SeqCst).is_multiple_of(2)
            });
            let url = front(shop, probe).await;
            let mut basket = [("PEN-01", 1), ("CLP-01", 1)];
            if n % 2 == 0 {
                basket.reverse();
            }
            let buyer = Visitor::at(&url);
            for (sku, quantity) in basket {
                buyer.adds(sku, quantity).await;
            }
            let status = buyer.buys().await;
            assert_eq!(buyer.waits_at(&status).await, "Paid");
            assert!(strikes.load(Ordering::SeqCst) >= 4);
        }
    });
    join_all(purchases).await;

    let expected = Expected {
        charges: CUSTOMERS,
        orders: CUSTOMERS,
        sold: 2 * CUSTOMERS,
    };
    shop.expects(expected).await;
}

/// A commit whose answer is lost is unknown, and has happened: the phase finds its own work.
#[tokio::test]
async fn the_answer_to_each_commit_is_lost_once() {
    for lost in 0..4 {
        let shop = Shop::open().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let commits = AtomicUsize::new(0);
        let probe = Probe::new(move |boundary| {
            let here =
                boundary == Boundary::AfterCommit && commits.fetch_add(1, Ordering::SeqCst) == lost;
            async move { if here { Err(Failure::Lost) } else { Ok(()) } }
        });
        let there = buyer.moved_to(&front(&shop, probe).await);
        let status = there.submits(&form).await.location().to_owned();
        assert_eq!(buyer.waits_at(&status).await, "Paid", "commit {lost}");
        shop.expects(ONCE).await;
    }
}

/// What another run would end in the same way is answered at once.
#[test]
fn what_is_refused_is_refused_once_and_a_race_is_run_again() {
    let broken = || sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
    assert!(SubmitError::Raced.is_transient());
    assert!(SubmitError::Db(broken()).is_transient());
    assert!(!SubmitError::CartEmpty.is_transient());

    assert!(RequestError::Raced.is_transient());
    assert!(RequestError::Db(broken()).is_transient());
    assert!(!RequestError::NothingLeft.is_transient());

    assert!(ConsumeError::Db(broken()).is_transient());
    assert!(!ConsumeError::Db(broken()).is_the_messages_fault());
    assert!(!ConsumeError::Unreadable(Unreadable).is_transient());
}
