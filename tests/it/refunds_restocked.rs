//! Goods that go back on the shelf with the money: once, and not before the money is given back.

use boring_checkout::refunds::Wish;
use futures_util::future::join_all;
use serde_json::json;

use crate::{
    refund_notices::{OPEN, came_to, is, paid, shop},
    refunds_pages::refunds_of,
    refunds_requested::{asks, of, wish},
    world::Shop,
};

/// Units that are not on the shelf.
async fn sold(shop: &Shop) -> i64 {
    shop.count("select cast(sum(stocked - stock) as bigint) from products")
        .await
}

async fn with_the_goods(shop: &Shop) -> Wish {
    Wish {
        restock: true,
        ..wish(shop).await
    }
}

/// Whether the form for the next refund says that the goods are back, instead of asking about them.
async fn is_said_to_be_back(shop: &Shop) -> bool {
    let form = format!("{}/new", refunds_of(shop).await);
    let page = shop.operator().sees(&form).await;
    assert_eq!(page.heading(), "Give money back", "{}", page.html);
    let is_said = page.html.contains("The goods are back on the shelf.");
    assert_ne!(is_said, page.html.contains("name=\"restock\""));
    is_said
}

#[tokio::test]
async fn r61_the_goods_go_back_once_however_often_it_is_sent() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    assert_eq!(sold(&shop).await, 1);
    // A part of the money first, which says nothing of the goods.
    asks(shop.app(), &of(90, wish(&shop).await))
        .await
        .expect("made");
    is(&shop, "succeeded", 1).await;
    assert_eq!(sold(&shop).await, 1);
    assert!(!is_said_to_be_back(&shop).await);

    let wish = with_the_goods(&shop).await;
    let asked = join_all((0..10).map(|_| asks(shop.app(), &wish))).await;
    assert!(asked.iter().all(Result::is_ok), "{asked:?}");
    is(&shop, "succeeded", 2).await;
    for kind in ["refund.created", "refund.updated"] {
        let event = shop.provider.events(kind).await.remove(0);
        assert_eq!(shop.provider.delivers(&event, 5).await, [200; 5]);
    }
    assert_eq!(sold(&shop).await, 0);
    came_to(&shop, 2, 490).await;
}

#[tokio::test]
async fn the_goods_wait_until_the_money_has_arrived() {
    let shop = shop().await;
    paid(&shop, "pm_card_pendingRefund").await;
    asks(shop.app(), &with_the_goods(&shop).await)
        .await
        .expect("asked for");
    is(&shop, "pending", 1).await;
    assert_eq!(sold(&shop).await, 1);
    let report = shop.report().await;
    assert!(report.ok, "{report}");

    shop.provider.control("settle", json!({})).await;
    is(&shop, "succeeded", 1).await;
    assert_eq!(sold(&shop).await, 0);
    came_to(&shop, 1, 490).await;
}

/// The bank sends the money back when the goods are on the shelf already. They stay there, and the next refund of the same
/// order does not put them there again.
#[tokio::test]
async fn a_refund_that_comes_back_does_not_count_the_goods_twice() {
    let shop = shop().await;
    paid(&shop, "pm_card_refundFail").await;
    asks(shop.app(), &with_the_goods(&shop).await)
        .await
        .expect("made");
    is(&shop, "succeeded", 1).await;
    shop.provider.control("settle", json!({})).await;
    is(&shop, "failed", 1).await;
    assert_eq!(sold(&shop).await, 0);
    assert!(is_said_to_be_back(&shop).await);
    assert_eq!(shop.count(OPEN).await, 1, "a person looks at the money");
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    came_to(&shop, 0, 0).await;

    asks(shop.app(), &with_the_goods(&shop).await)
        .await
        .expect("made");
    is(&shop, "succeeded", 1).await;
    assert_eq!(sold(&shop).await, 0);
    came_to(&shop, 1, 490).await;
}

#[tokio::test]
async fn the_audit_sees_goods_that_went_back_with_no_refund_and_those_that_did_not() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    let broken = async || {
        let broken = shop.report().await.invariants.into_iter();
        let broken = broken.filter(|it| !it.ok).map(|it| it.name);
        broken.collect::<Vec<_>>()
    };
    shop.alters("update stock_reservations set state = 'returned'")
        .await;
    assert_eq!(
        broken().await,
        ["stock_is_conserved", "reservations_follow_their_checkout"]
    );
    shop.alters("update stock_reservations set state = 'sold'")
        .await;
    asks(shop.app(), &with_the_goods(&shop).await)
        .await
        .expect("made");
    is(&shop, "succeeded", 1).await;
    shop.finishes().await;
    assert_eq!(broken().await, [""; 0]);
    shop.alters("update stock_reservations set state = 'sold'")
        .await;
    assert_eq!(
        broken().await,
        ["stock_is_conserved", "reservations_follow_their_checkout"]
    );
}
