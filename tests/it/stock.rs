//! The last units: never sold twice, never kept by a purchase that came to nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use serde_json::json;

use crate::world::{Expected, NOTHING, ONCE, Page, Process, Shop, Visitor, eventually};

/// Two more processes on the shop's database.
async fn branches(shop: &Shop) -> [Process; 2] {
    let opens = || Process::shop(&shop.database, &shop.provider, &[]);
    [opens().await, opens().await]
}

/// So many customers, by turns at each of the shops, with the goods in their carts.
async fn customers(
    urls: &[&str],
    n: usize,
    cart: impl Fn(usize) -> Vec<(&'static str, i64)>,
) -> Vec<Visitor> {
    join_all((0..n).map(|i| {
        let (visitor, cart) = (Visitor::at(urls[i % urls.len()]), cart(i));
        async move {
            for (sku, quantity) in cart {
                visitor.adds(sku, quantity).await;
            }
            visitor
        }
    }))
    .await
}

/// All press the button at once. Returns how many have bought; the others got the form back, and why.
async fn rush(customers: &[Visitor]) -> i64 {
    let forms = join_all(customers.iter().map(Visitor::opens_checkout)).await;
    let rush = customers.iter().zip(&forms);
    let answers = join_all(rush.map(|(customer, form)| customer.submits(form))).await;
    let (bought, refused): (Vec<Page>, Vec<Page>) =
        answers.into_iter().partition(|page| page.status == 303);
    for page in refused {
        assert_eq!(page.status, 409, "{}", page.html);
        let said = page.text(".problems");
        assert!(
            said.contains("Sold out") || said.contains("left."),
            "{said}"
        );
        assert_eq!(page.form().field("email"), "buyer@example.com");
    }
    i64::try_from(bought.len()).expect("few")
}

#[tokio::test]
async fn r44_fifty_customers_in_three_shops_buy_the_last_five() {
    let shop = Shop::open().await;
    shop.alters("update products set stock = 5, stocked = 5")
        .await;
    let branches = branches(&shop).await;
    let urls = [&*shop.url, &*branches[0].url, &*branches[1].url];
    let fifty = customers(&urls, 50, |_| vec![("TEA-01", 1)]).await;

    assert_eq!(rush(&fifty).await, 5);

    let expected = Expected {
        charges: 5,
        orders: 5,
        sold: 5,
    };
    shop.expects(expected).await;
}

#[tokio::test]
async fn r44_baskets_of_two_products_in_opposite_order() {
    let shop = Shop::open().await;
    shop.alters("update products set stock = 5, stocked = 5")
        .await;
    let branches = branches(&shop).await;
    let urls = [&*shop.url, &*branches[0].url, &*branches[1].url];
    let ten = customers(&urls, 10, |i| match i % 2 {
        0 => vec![("TEA-01", 3), ("MUG-01", 3)],
        _ => vec![("MUG-01", 3), ("TEA-01", 3)],
    })
    .await;

    assert_eq!(
        rush(&ten).await,
        1,
        "two more would not be enough for another"
    );

    let expected = Expected {
        charges: 1,
        orders: 1,
        sold: 6,
    };
    shop.expects(expected).await;
}

#[tokio::test]
async fn r44_two_customers_and_the_last_unit() {
    for _ in 0..5 {
        let shop = Shop::open().await;
        shop.alters("update products set stock = 1, stocked = 1")
            .await;
        let two = customers(&[&shop.url], 2, |_| vec![("LMP-01", 1)]).await;
        assert_eq!(rush(&two).await, 1);
        shop.expects(ONCE).await;
    }
}

#[tokio::test]
async fn r22_a_refusal_does_not_use_the_form_up() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("LMP-01", 1).await;
    let form = buyer.opens_checkout().await;
    shop.alters("update products set stock = 0, stocked = 0 where sku = 'LMP-01'")
        .await;

    for _ in 0..2 {
        let refused = buyer.submits(&form).await;
        assert_eq!(refused.status, 409);
        assert!(refused.text(".problems").contains("Desk lamp: Sold out."));
        assert!(refused.text("title").starts_with("Error"));
    }
    assert_eq!(shop.count("select count(*) from checkouts").await, 0);
    shop.alters("update products set stock = 1, stocked = 1 where sku = 'LMP-01'")
        .await;

    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r46_a_declined_purchase_gives_its_goods_back_once() {
    let shop = Shop::open().await;
    shop.alters("update products set stock = 1, stocked = 1")
        .await;
    let again = json!({"on": {"webhook": "*"}, "fault": "duplicate", "copies": 3, "times": 1000});
    shop.provider.fault(again).await;
    let buyer = shop.visitor().with_cart("LMP-01", 1).await;
    let form = buyer.opens_checkout().await;

    let declined = form.with("payment_method", "pm_card_chargeDeclined");
    let status = buyer.submits(&declined).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "The payment was declined");
    shop.settles().await;
    let failures = shop.provider.events("payment_intent.payment_failed").await;
    shop.provider.delivers(&failures[0], 5).await;

    assert_eq!(on_the_shelf(&shop).await, 1);
    shop.expects(NOTHING).await;
    shop.visitor().with_cart("LMP-01", 1).await.buys().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r46_a_purchase_that_is_given_up_at_the_provider_gives_its_goods_back_once() {
    let shop = Shop::open().await;
    shop.alters("update products set stock = 1, stocked = 1")
        .await;
    let again = json!({"on": {"webhook": "*"}, "fault": "duplicate", "copies": 3, "times": 1000});
    shop.provider.fault(again).await;
    let buyer = shop.visitor().with_cart("LMP-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_threeDSecure2Required");
    let status = buyer.submits(&form).await.location().to_owned();
    // While the bank asks, the lamp is theirs.
    assert_eq!(on_the_shelf(&shop).await, 0);
    let other = shop.visitor().with_cart("LMP-01", 1).await;
    let others_form = other.opens_checkout().await;
    assert_eq!(other.submits(&others_form).await.status, 409);

    let intents = shop.provider.reads("/v1/payment_intents").await;
    let id = intents["data"][0]["id"].as_str().expect("an id");
    shop.provider
        .posts(&format!("/v1/payment_intents/{id}/cancel"))
        .await;
    eventually("the shop hears of it", || async {
        buyer.sees(&status).await.heading() == "This checkout was canceled"
    })
    .await;
    shop.settles().await;
    let ends = shop.provider.events("payment_intent.canceled").await;
    shop.provider.delivers(&ends[0], 5).await;

    assert_eq!(on_the_shelf(&shop).await, 1);
    shop.expects(NOTHING).await;
    let bought = other.submits(&others_form).await;
    assert_eq!(other.waits_at(bought.location()).await, "Paid");
    shop.expects(ONCE).await;
}

async fn on_the_shelf(shop: &Shop) -> i64 {
    shop.count("select stock from products where sku = 'LMP-01'")
        .await
}

/// Carts with the same goods in opposite order, while somebody changes the prices of both in the order that no
/// purchase uses. On PostgreSQL that makes real deadlocks, and their victims are not the customers' problem.
#[tokio::test]
async fn r70_customers_buy_while_prices_change() {
    const CUSTOMERS: usize = 30;
    let shop = Shop::open().await;
    let customers = customers(&[&shop.url], CUSTOMERS, |i| match i % 2 {
        0 => vec![("PEN-01", 1), ("CLP-01", 1)],
        _ => vec![("CLP-01", 1), ("PEN-01", 1)],
    })
    .await;
    let left = AtomicUsize::new(CUSTOMERS);

    let buying = join_all(customers.iter().map(|customer| async {
        let mut page = customer.sees("/checkout").await;
        for _ in 0..100 {
            page = customer.submits(&page.form().filled()).await;
            match page.status {
                303 => break,
                status => assert_eq!(status, 409, "{}", page.html),
            }
        }
        left.fetch_sub(1, Ordering::SeqCst);
        let status = page.location();
        assert_eq!(customer.waits_at(status).await, "Paid");
    }));
    let pricing = async {
        while left.load(Ordering::SeqCst) > 0 {
            // May be a deadlock's victim itself: then the price stays.
            let _ = change_prices(&shop).await;
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::join!(buying, pricing);

    let n = i64::try_from(CUSTOMERS).expect("few");
    let expected = Expected {
        charges: n,
        orders: n,
        sold: 2 * n,
    };
    shop.expects(expected).await;
}

async fn change_prices(shop: &Shop) -> sqlx::Result<()> {
    let mut tx = shop.db().begin().await?;
    for sku in ["PEN-01", "CLP-01"] {
        tx.query("update products set price_minor = 700 - price_minor where sku = $1")
            .bind(sku)
            .execute()
            .await?;
    }
    tx.commit().await
}
