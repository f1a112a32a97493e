//! Who orders becomes a customer, once for each address.

use futures_util::future::join_all;

use crate::world::{Expected, NOTHING, Shop};

const CUSTOMERS: &str = "select count(*) from customers";

async fn buys_as(shop: &Shop, email: &str, name: &str) {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer
        .opens_checkout()
        .await
        .with("email", email)
        .with("name", name);
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "Paid");
}

#[tokio::test]
async fn one_address_in_any_spelling_is_one_customer_and_each_purchase_keeps_its_own() {
    let shop = Shop::open().await;
    buys_as(&shop, "Ann@KÖLN.example", "Ann").await;
    buys_as(&shop, "bob@example.com", "Bob").await;
    shop.later(60);
    buys_as(&shop, "ann@köln.EXAMPLE", "Ann Other").await;

    let customers: Vec<(String, String, String)> = shop
        .db()
        .query("select email_folded, email, name from customers order by email_folded")
        .fetch_all()
        .await
        .expect("customers");
    let found: Vec<_> = customers
        .iter()
        .map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("ann@köln.example", "ann@köln.EXAMPLE", "Ann Other"),
            ("bob@example.com", "bob@example.com", "Bob"),
        ]
    );
    let came_back = "select count(*) from customers where last_order_at > first_order_at";
    assert_eq!(shop.count(came_back).await, 1);
    let as_typed = "select count(distinct email) from checkouts";
    assert_eq!(shop.count(as_typed).await, 3);
    let orders = "select count(*) from orders o join customers u on u.id = o.customer_id where u.name = 'Ann Other'";
    assert_eq!(shop.count(orders).await, 2);
    shop.expects(Expected {
        charges: 3,
        orders: 3,
        sold: 3,
    })
    .await;
}

#[tokio::test]
async fn first_orders_at_the_same_moment_make_one_customer() {
    let shop = Shop::open().await;
    join_all((0..12).map(|n| {
        let email = if n % 2 == 0 {
            "new@example.com"
        } else {
            "NEW@example.com"
        };
        buys_as(&shop, email, "A Buyer")
    }))
    .await;
    assert_eq!(shop.count(CUSTOMERS).await, 1);
    shop.expects(Expected {
        charges: 12,
        orders: 12,
        sold: 12,
    })
    .await;
}

#[tokio::test]
async fn who_never_ordered_is_no_customer() {
    let shop = Shop::open().await;
    crate::late_success::declined(&shop).await;
    assert_eq!(shop.count(CUSTOMERS).await, 0);
    shop.expects(NOTHING).await;
}
