//! What a purchase costs: counted, so that a round trip more is noticed.

use std::sync::{Arc, Mutex};

use boring_checkout::{
    checkout::{self, Submitted},
    probe::{Boundary, Probe},
};

use crate::{
    buying::purchase_of,
    world::{ONCE, Shop, probed},
};

/// The path of a payment of one product: every begin, statement and commit in it is a round trip on PostgreSQL, and
/// every commit is a write to the disk.
#[tokio::test]
async fn a_purchase_of_one_product_takes_two_commits_and_so_many_statements() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let purchase = purchase_of(&shop, &buyer.opens_checkout().await).await;
    let lost = serde_json::json!({"on": {"webhook": "*"}, "fault": "delay", "delay_ms": 5000});
    shop.provider.fault(lost).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let probe = Probe::new({
        let seen = Arc::clone(&seen);
        move |boundary| {
            seen.lock().expect("not poisoned").push(boundary);
            async { Ok(()) }
        }
    });
    let till = probed(shop.app(), probe);

    let submitted = checkout::submit(&till, &purchase).await.expect("submitted");
    let Submitted::New(checkout) = submitted else {
        panic!("a new checkout")
    };
    checkout::drive(&till, checkout).await.expect("driven");

    let seen = seen.lock().expect("not poisoned").clone();
    let count =
        |wanted: fn(&Boundary) -> bool| seen.iter().filter(|boundary| wanted(boundary)).count();
    let statements = count(|boundary| matches!(boundary, Boundary::BeforeStatement(_)));
    let looks = count(|boundary| matches!(boundary, Boundary::BeforeQuery(_)));
    let commits = count(|boundary| matches!(boundary, Boundary::BeforeCommit));
    let begins = count(|boundary| matches!(boundary, Boundary::BeforeBegin));
    assert_eq!((begins, commits), (2, 2));
    assert_eq!(
        (looks, statements),
        (1, 14),
        "for the key; submit 7, record 6, and the call for the story"
    );
    shop.expects(ONCE).await;
}
