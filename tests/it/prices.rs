//! The price the customer saw is the price charged.

use futures_util::future::join;
use serde_json::json;

use crate::world::{Expected, NOTHING, ONCE, Shop, eventually};

#[tokio::test]
async fn r51_a_price_that_rises_or_falls_before_the_submit_needs_a_new_consent() {
    for (price, was, now) in [(590, "€4.90", "€5.90"), (390, "€4.90", "€3.90")] {
        let shop = Shop::open().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        set_price(&shop, price).await;

        let refused = buyer.submits(&form).await;

        assert_eq!(refused.status, 409);
        let said = refused.text(".problems");
        assert!(said.contains(was) && said.contains(now), "{said}");
        assert!(refused.text("title").starts_with("Error"));
        shop.expects(NOTHING).await;
        // The form that came back is filled in and asks for the new total.
        let again = refused.form();
        assert_eq!(again.field("name"), "A Buyer");
        assert_eq!(again.field("quoted_total"), price.to_string());
        let status = buyer.submits(&again).await.location().to_owned();
        assert_eq!(buyer.waits_at(&status).await, "Paid");
        assert_eq!(shop.provider.charged().await, price);
        shop.expects(ONCE).await;
    }
}

#[tokio::test]
async fn r51_the_price_that_was_agreed_stands_while_the_charge_is_under_way() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let late =
        json!({"on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 1000});
    shop.provider.fault(late).await;

    let rise = async {
        eventually("the charge is sent", || async {
            shop.provider.ledger().await["payment_intents"]["succeeded"] == 1
        })
        .await;
        set_price(&shop, 1000).await;
    };
    let (answer, ()) = join(buyer.submits(&form), rise).await;

    let status = buyer.sees(answer.location()).await;
    assert_eq!(status.heading(), "Paid");
    assert!(status.text("main").contains("€4.90"));
    assert_eq!(shop.provider.charged().await, 490);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r51_a_form_that_was_tampered_with_buys_nothing() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 2).await;
    let form = buyer.opens_checkout().await;
    for total in [
        "0",
        "-1",
        "-980",
        "1e3",
        "1,5",
        "9.80",
        "",
        "€9.80",
        "٩٨٠",
        "99999999999999999999",
    ] {
        let page = buyer.submits(&form.with("quoted_total", total)).await;
        assert_eq!(page.status, 422, "{total}");
        assert_eq!(page.form().field("quoted_total"), "980");
    }
    for total in ["1", "979", "981", "2147483648", "9223372036854775807"] {
        let page = buyer.submits(&form.with("quoted_total", total)).await;
        assert_eq!(page.status, 409, "{total}");
    }
    // Fields that are not asked for are not listened to.
    let generous = form.with("quantity", "1").with("price", "1");
    let generous = generous.with("amount", "1").with("currency", "jpy");
    let other_goods = form.with("quoted_cart", &"0".repeat(64));
    assert_eq!(buyer.submits(&other_goods).await.status, 409);
    shop.expects(NOTHING).await;
    assert_eq!(buyer.submits(&generous).await.status, 303);
    assert_eq!(shop.provider.charged().await, 980);
    let expected = Expected {
        charges: 1,
        orders: 1,
        sold: 2,
    };
    shop.expects(expected).await;
}

async fn set_price(shop: &Shop, price: i64) {
    let mut tx = shop.db().begin().await.expect("a transaction");
    tx.query("update products set price_minor = $1 where sku = 'TEA-01'")
        .bind(price)
        .execute()
        .await
        .expect("an update");
    tx.commit().await.expect("a commit");
}

/// There is one total, and it is in one currency. Adding up what is in two would give the second goods away.
#[tokio::test]
async fn goods_in_two_currencies_are_not_bought_together() {
    let shop = Shop::open().await;
    shop.alters("update products set currency = 'usd' where sku = 'MUG-01'")
        .await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;

    let refused = buyer
        .posts("/cart/items", &[("sku", "MUG-01"), ("quantity", "1")])
        .await;
    assert_eq!(refused.status, 422);
    assert!(refused.text("main").contains("another currency"));

    // Nor when the price changes under a cart that has both.
    buyer.adds("PEN-01", 1).await;
    let form = buyer.opens_checkout().await;
    shop.alters("update products set currency = 'usd' where sku = 'PEN-01'")
        .await;
    assert_eq!(buyer.submits(&form).await.location(), "/cart");
    shop.expects(NOTHING).await;
}
