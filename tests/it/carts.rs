//! Carts that change while they are bought, and quantities that are none.

use futures_util::future::{join, join_all};
use serde_json::json;

use boring_checkout::probe::Boundary;

use crate::world::{Expected, NOTHING, ONCE, Page, Shop, Visitor, front, holding};

/// What a customer sees in the cart: SKU and quantity of each line.
fn lines_of(cart: &Page) -> Vec<(String, String)> {
    let html = scraper::Html::parse_document(&cart.html);
    let forms = scraper::Selector::parse("form.cart-quantity").expect("a selector");
    let input = scraper::Selector::parse("input.quantity").expect("a selector");
    html.select(&forms)
        .map(|form| {
            let action = form.value().attr("action").expect("an address");
            let quantity = form.select(&input).next().expect("a field");
            let typed = quantity.value().attr("value").expect("a value");
            let sku = action.trim_start_matches("/cart/items/");
            (sku.to_owned(), typed.to_owned())
        })
        .collect()
}

fn line(sku: &str, quantity: &str) -> (String, String) {
    (sku.to_owned(), quantity.to_owned())
}

const NO_QUANTITIES: [&str; 16] = [
    "-1",
    "-99",
    "100",
    "2147483648",
    "9223372036854775808",
    "1.5",
    "1,5",
    "1e1",
    "0x1",
    "",
    "   ",
    "one",
    "٣",
    "1 2",
    "\u{0}",
    "1; drop table products",
];

#[tokio::test]
async fn what_is_no_quantity_is_refused_beside_its_field() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 2).await;
    for typed in NO_QUANTITIES.iter().chain(&["0"]) {
        let fields = [("sku", "MUG-01"), ("quantity", *typed)];
        let page = buyer.posts("/cart/items", &fields).await;
        assert_eq!(page.status, 422, "{typed:?}");
        assert_eq!(
            page.text("#quantity-error"),
            "Enter a whole number from 1 to 99."
        );
    }
    for typed in NO_QUANTITIES {
        let page = buyer
            .posts("/cart/items/TEA-01", &[("quantity", typed)])
            .await;
        assert_eq!(page.status, 422, "{typed:?}");
        assert_eq!(
            page.text("#quantity-1-error"),
            "Enter a whole number from 0 to 99."
        );
        assert_eq!(
            lines_of(&page)[0],
            line("TEA-01", &typed.trim().replace('\0', "\u{fffd}")),
            "what was typed is kept"
        );
    }
    assert_eq!(lines_of(&buyer.sees("/cart").await), [line("TEA-01", "2")]);
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn a_cart_takes_ninety_nine_of_a_product_and_zero_takes_it_out() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 98).await;
    buyer.adds("TEA-01", 1).await;
    let one_more = buyer.posts("/cart/items", &[("sku", "TEA-01"), ("quantity", "1")]);
    let one_more = one_more.await;
    assert_eq!(one_more.status, 422);
    assert!(one_more.text("#quantity-error").contains("99"));
    assert_eq!(lines_of(&buyer.sees("/cart").await), [line("TEA-01", "99")]);

    for (typed, left) in [("1", "1"), (" 99 ", "99")] {
        let page = buyer
            .posts("/cart/items/TEA-01", &[("quantity", typed)])
            .await;
        assert_eq!(page.location(), "/cart");
        assert_eq!(lines_of(&buyer.sees("/cart").await), [line("TEA-01", left)]);
    }
    for _ in 0..2 {
        let page = buyer
            .posts("/cart/items/TEA-01", &[("quantity", "0")])
            .await;
        assert_eq!(page.location(), "/cart");
        assert!(
            buyer
                .sees("/cart")
                .await
                .text("main")
                .contains("It is empty")
        );
    }
    assert_eq!(buyer.sees("/checkout").await.location(), "/cart");
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn an_unknown_product_is_not_there() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let long = "A".repeat(10_000);
    for sku in [
        "",
        "TEA-02",
        "tea-01",
        "TEA-01'",
        "../TEA-01",
        "TEA\u{0}",
        "🍵",
        "<b>",
        &long,
    ] {
        let page = buyer
            .posts("/cart/items", &[("sku", sku), ("quantity", "1")])
            .await;
        assert_eq!(page.status, 404, "{sku:?}");
    }
    // One that could exist is as absent as one that was taken out of the cart before.
    let page = buyer
        .posts("/cart/items/TEA-02", &[("quantity", "1")])
        .await;
    assert_eq!(page.location(), "/cart");
    assert_eq!(lines_of(&buyer.sees("/cart").await), [line("TEA-01", "1")]);
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn a_cart_takes_fifty_different_products() {
    let shop = Shop::open().await;
    let mut tx = shop.db().begin().await.expect("a transaction");
    for n in 0..51 {
        tx.query(
            "insert into products (sku, name, description, price_minor, currency, stock, stocked, created_at)
             select $1, name, description, price_minor, currency, 9, 9, created_at from products
             where sku = 'PEN-01'",
        )
        .bind(format!("PEN-A{n:02}"))
        .execute()
        .await
        .expect("a product");
    }
    tx.commit().await.expect("a commit");
    let buyer = shop.visitor();
    for n in 0..50 {
        buyer.adds(&format!("PEN-A{n:02}"), 1).await;
    }
    let fields = [("sku", "PEN-A50"), ("quantity", "1")];
    let one_more = buyer.posts("/cart/items", &fields).await;
    assert_eq!(one_more.status, 422);
    assert!(one_more.text("#quantity-error").contains("50"));
    buyer.adds("PEN-A00", 1).await;

    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    assert_eq!(shop.provider.charged().await, 51 * 120);
    let expected = Expected {
        charges: 1,
        orders: 1,
        sold: 51,
    };
    shop.expects(expected).await;
}

#[tokio::test]
async fn a_cart_in_payment_cannot_be_changed_and_what_is_added_starts_another() {
    let shop = Shop::open_with(&["--provider-timeout", "300ms", "--lease", "500ms"]).await;
    let lost = json!({"on": {"operation": "payment_intents.create"}, "fault": "drop_request", "times": 100_000});
    shop.provider.fault(lost).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;

    for quantity in ["0", "5"] {
        let page = buyer
            .posts("/cart/items/TEA-01", &[("quantity", quantity)])
            .await;
        assert_eq!(page.location(), "/cart");
        let cart = buyer.sees("/cart").await;
        assert!(cart.text("main").contains("This cart is being paid"));
        assert!(cart.text("main").contains("Quantity: 1"));
        assert_eq!(lines_of(&cart), [], "there is nothing to change");
    }
    buyer.adds("MUG-01", 2).await;
    assert_eq!(lines_of(&buyer.sees("/cart").await), [line("MUG-01", "2")]);

    shop.provider.mends().await;
    shop.later(60);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    assert_eq!(lines_of(&buyer.sees("/cart").await), [line("MUG-01", "2")]);
    shop.expects(ONCE).await;
}

/// Products that are added while the cart is being bought are in the purchase, or in the next cart.
#[tokio::test]
async fn what_is_added_during_the_purchase_is_never_lost() {
    const ADDED: [&str; 4] = ["MUG-01", "PEN-01", "BOX-01", "SOC-01"];
    let shop = Shop::open().await;
    let races = (0..25).map(|_| async {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let adding = join_all(ADDED.iter().map(|sku| buyer.adds(sku, 1)));
        let (answer, _) = join(buyer.submits(&form), adding).await;
        let cart = lines_of(&buyer.sees("/cart").await);
        match answer.status {
            // Bought as the form showed it, before anything was added.
            303 => {
                assert_eq!(buyer.waits_at(answer.location()).await, "Paid");
                assert_eq!(cart.len(), 4, "{cart:?}");
                1
            }
            // Added before the purchase, which the customer has not agreed to then.
            409 => {
                assert_eq!(cart.len(), 5, "{cart:?}");
                0
            }
            status => panic!("{status}: {}", answer.html),
        }
    });
    let n = join_all(races).await.iter().sum();
    let expected = Expected {
        charges: n,
        orders: n,
        sold: n,
    };
    shop.expects(expected).await;
}

/// Two buttons pressed at once after a purchase: both products are in the next cart.
#[tokio::test]
async fn two_products_added_at_once_after_a_purchase_are_in_one_cart() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");

    let skus = ["MUG-01", "PEN-01", "BOX-01", "SOC-01", "NTB-01"];
    join_all(skus.iter().map(|sku| buyer.adds(sku, 1))).await;

    assert_eq!(lines_of(&buyer.sees("/cart").await).len(), skus.len());
    shop.expects(ONCE).await;
}

/// Somebody whose first click is a double click.
#[tokio::test]
async fn a_stranger_without_a_cookie_gets_a_cart_of_their_own() {
    let shop = Shop::open().await;
    let (one, other) = (shop.visitor(), Visitor::at(&shop.url));
    join(one.adds("TEA-01", 1), other.adds("TEA-01", 2)).await;
    assert_eq!(lines_of(&one.sees("/cart").await), [line("TEA-01", "1")]);
    assert_eq!(lines_of(&other.sees("/cart").await), [line("TEA-01", "2")]);
    shop.expects(NOTHING).await;
}

/// An add has seen that the cart is open, and is held there; the purchase comes. Without the lock on the cart's row it
/// would pass the add, which would then put its goods into a cart that is bought.
#[tokio::test]
async fn an_add_that_has_seen_the_cart_open_is_waited_for_by_its_purchase() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let (probe, mut hold) = holding(|boundary| match boundary {
        Boundary::BeforeStatement(sql) => sql.starts_with("insert into cart_items"),
        _ => false,
    });
    let adder = buyer.moved_to(&front(&shop, probe).await);

    let add = tokio::spawn(async move { adder.adds("MUG-01", 1).await });
    hold.reached().await;
    let purchase = buyer.submits(&form);
    let released = async {
        shop.database.has_somebody_waiting().await;
        hold.lets_go();
    };
    let (refused, ()) = join(purchase, released).await;
    add.await.expect("added");

    assert_eq!(refused.status, 409, "the total has changed in the meantime");
    let cart = lines_of(&buyer.sees("/cart").await);
    assert_eq!(cart, [line("MUG-01", "1"), line("TEA-01", "1")]);
    shop.expects(NOTHING).await;
}
