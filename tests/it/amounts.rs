//! Amounts in every kind of currency: the same on each page, at the provider, in the mail and in the books; and what no
//! card can be charged is refused before anything is held for it.

use boring_checkout::orders::OrderNumber;

use crate::{
    late_success::mails,
    refunds_requested::{asks, of, wish},
    world::{Expected, NOTHING, ONCE, Page, Shop, Visitor, fresh_key, tea},
};

pub async fn sells_tea_for(shop: &Shop, minor: i64) {
    let mut tx = shop.db().begin().await.expect("a transaction");
    tx.query("update products set price_minor = $1 where sku = 'TEA-01'")
        .bind(minor)
        .execute()
        .await
        .expect("an update");
    tx.commit().await.expect("a commit");
}

/// The only payment at the provider: its amount and currency.
async fn payment(shop: &Shop) -> (i64, String) {
    let intents = shop.provider.reads("/v1/payment_intents?limit=10").await;
    let intents = intents["data"].as_array().expect("a list");
    assert_eq!(intents.len(), 1, "{intents:?}");
    let currency = intents[0]["currency"].as_str().expect("text");
    (
        intents[0]["amount"].as_i64().expect("a number"),
        currency.to_owned(),
    )
}

/// The text of a page with plain spaces.
fn main(page: &Page) -> String {
    page.text("main").replace('\u{a0}', " ")
}

#[tokio::test]
async fn r65_every_surface_shows_the_same_amount_with_the_decimals_of_its_currency() {
    for (currency, minor, shown) in [
        ("jpy", 500, "¥500"),
        ("krw", 1200, "₩1200"),
        ("usd", 50, "$0.50"),
        ("bhd", 1230, "BHD 1.230"),
        ("kwd", 18_600, "KWD 18.600"),
        ("huf", 17_500, "HUF 175.00"),
        ("isk", 49_000, "ISK 490"),
        ("EUR", 1000, "€10.00"),
    ] {
        let shop = Shop::open_with_workers(&["--currency", currency, "--tax-rates", ""]).await;
        sells_tea_for(&shop, minor).await;
        let buyer = shop.visitor();
        let product = buyer.sees("/products/TEA-01").await;
        buyer.adds("TEA-01", 1).await;
        let (cart, checkout) = (buyer.sees("/cart").await, buyer.sees("/checkout").await);
        let form = checkout.form().filled();
        assert_eq!(form.field("quoted_total"), minor.to_string());
        assert_eq!(
            checkout.text("button").replace('\u{a0}', " "),
            format!("Pay {shown}")
        );
        let status = buyer.submits(&form).await.location().to_owned();
        assert_eq!(buyer.waits_at(&status).await, "Paid");
        let status = buyer.sees(&status).await;
        let order = buyer.sees(&status.link_that_starts("/orders/")).await;

        for page in [&product, &cart, &checkout, &status, &order] {
            assert!(main(page).contains(shown), "{shown} in {}", main(page));
        }
        assert_eq!(payment(&shop).await, (minor, currency.to_lowercase()));
        let confirmations = mails(&shop, "order_confirmation").await;
        for part in ["text/plain", "text/html"] {
            let part = confirmations[0].part(part).replace('\u{a0}', " ");
            assert!(part.contains(shown), "{shown} in {part}");
        }

        let program = shop.caller().buys(&fresh_key(), &tea()).await.json();
        assert_eq!(program["status"], "paid");
        assert_eq!(program["amount"], minor);
        assert_eq!(program["lines"][0]["amount"], minor);
        assert_eq!(program["currency"], currency.to_lowercase());
        shop.expects(Expected {
            charges: 2,
            orders: 2,
            sold: 2,
        })
        .await;
    }
}

#[tokio::test]
async fn r65_what_no_card_can_be_charged_is_refused_before_anything_is_held() {
    for (currency, minor, quantity, reason) in [
        (
            "krw",
            1,
            1,
            "The total is ₩1, and a card can pay ₩50 at least.",
        ),
        ("eur", 49, 1, "a card can pay €0.50 at least."),
        (
            "bhd",
            5,
            1,
            "The total is BHD 0.005, and a card can pay BHD 0.010 at least.",
        ),
        (
            "bhd",
            1235,
            1,
            "a card can pay multiples of BHD 0.010 only.",
        ),
        ("isk", 49_050, 1, "a card can pay multiples of ISK 1 only."),
        (
            "eur",
            99_999_999,
            2,
            "The total is €1999999.98, and a card can pay €999999.99 at most.",
        ),
    ] {
        let shop = Shop::open_with(&["--currency", currency]).await;
        sells_tea_for(&shop, minor).await;
        let buyer = shop.visitor().with_cart("TEA-01", quantity).await;

        let offered = buyer.sees("/checkout").await;
        let refused = buyer.submits(&offered.form().filled()).await;

        assert_eq!(refused.status, 422, "{currency} {minor}");
        for page in [offered, refused] {
            let said = page.text(".problems").replace('\u{a0}', " ");
            assert!(said.contains(reason), "{reason} in {said}");
            assert!(page.text("title").starts_with("Error"));
        }
        assert_eq!(shop.count("select count(*) from checkouts").await, 0);
        assert!(
            shop.provider
                .calls("POST", "/v1/payment_intents")
                .await
                .is_empty()
        );
        shop.expects(NOTHING).await;
    }
}

/// At the limit a card can pay, and what the shop lets through the provider takes.
#[tokio::test]
async fn r65_the_smallest_and_the_largest_amount_are_paid() {
    for (currency, minor) in [
        ("krw", 50),
        ("eur", 50),
        ("gbp", 30),
        ("bhd", 10),
        ("vnd", 1),
        ("eur", 99_999_999),
        ("kwd", 99_999_990),
        ("ugx", 99_999_900),
    ] {
        let shop = Shop::open_with(&["--currency", currency]).await;
        sells_tea_for(&shop, minor).await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let status = buyer.buys().await;
        assert_eq!(buyer.waits_at(&status).await, "Paid", "{currency} {minor}");
        assert_eq!(payment(&shop).await, (minor, currency.to_owned()));
        shop.expects(ONCE).await;
    }
}

/// The same figures are other prices in another currency.
#[tokio::test]
async fn a_shop_does_not_open_with_a_catalog_in_another_currency() {
    let shop = Shop::open().await;
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    let url = shop.database.url();
    command.args([
        "--database-url",
        &url,
        "--currency",
        "jpy",
        "--listen",
        "127.0.0.1:0",
    ]);
    command.args([
        "--provider-listen",
        "127.0.0.1:0",
        "--provider-database-url",
        "sqlite::memory:",
    ]);
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.expect("no panic").expect("it starts");

    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = said
        .lines()
        .filter(|line| line.starts_with("boring-checkout: "));
    let said: Vec<_> = said.collect();
    assert_eq!(output.status.code(), Some(2), "{said:?}");
    let [line] = said[..] else {
        panic!("one line: {said:?}")
    };
    assert!(
        line.contains("priced in EUR") && line.contains("--currency is JPY"),
        "{line}"
    );
    assert_eq!(buys_one(&shop).await, "Paid");
}

/// Back goes what came, in coins that there are.
#[tokio::test]
async fn r64_r65_dinars_are_given_back_to_the_last_one() {
    let shop = Shop::open_with_workers(&["--currency", "kwd"]).await;
    sells_tea_for(&shop, 18_600).await;
    assert_eq!(buys_one(&shop).await, "Paid");
    let all = wish(&shop).await;
    for amount in [0, -10, 5, 18_605, 18_610] {
        let refused = asks(shop.app(), &of(amount, all.clone())).await;
        refused.expect_err("it is refused");
    }
    assert!(shop.provider.calls("POST", "/v1/refunds").await.is_empty());

    asks(shop.app(), &of(6_200, all)).await.expect("a third");
    let rest = wish(&shop).await;
    let page = order_page(&shop).await;
    assert!(
        page.contains("KWD 6.200") && page.contains("KWD 12.400"),
        "{page}"
    );
    asks(shop.app(), &rest).await.expect("the rest");
    let page = order_page(&shop).await;
    assert!(
        page.contains("Refunded") && page.contains("KWD 18.600"),
        "{page}"
    );
    let given_back = &shop.provider.ledger().await["refunds"]["amount_succeeded"];
    assert_eq!(given_back, 18_600);
    shop.expects(ONCE).await;
}

/// As the mail's link shows it.
async fn order_page(shop: &Shop) -> String {
    let number: OrderNumber = shop
        .db()
        .query("select number from orders")
        .fetch_scalar()
        .await
        .expect("a number");
    let placed_at = shop.app().till.clock.now();
    let link = shop.app().till.links.to_order(&number, placed_at);
    let path = link.strip_prefix(&shop.url).expect("a link to the shop");
    main(&shop.visitor().sees(path).await)
}

async fn buys_one(shop: &Shop) -> String {
    let buyer: Visitor = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    buyer.waits_at(&status).await
}

/// Some dozens of carts that nobody has thought of, through the shop and back.
#[tokio::test]
async fn r64_the_figures_of_random_carts_agree() {
    use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

    let seed: u64 = rand::random();
    println!("seed {seed}");
    let mut rng = SmallRng::seed_from_u64(seed);
    let shop = Shop::open_with(&["--shipping", "4.90", "--tax-rates", "DE=19,CH=8.1,AT=20"]).await;
    let prices = [1, 33, 333, 999, 60, 2490, 7, 12_345];
    let skus: Vec<(String,)> = shop
        .db()
        .query("select sku from products order by sku")
        .fetch_all()
        .await
        .expect("goods");
    let mut tx = shop.db().begin().await.expect("a transaction");
    for ((sku,), price) in skus.iter().zip(prices) {
        tx.query(
            "update products set price_minor = $2, stock = 9999, stocked = 9999 where sku = $1",
        )
        .bind(sku)
        .bind(price)
        .execute()
        .await
        .expect("an update");
    }
    tx.commit().await.expect("a commit");
    let mut expected = Expected {
        charges: 0,
        orders: 0,
        sold: 0,
    };
    let mut charged = 0;
    for _ in 0..36 {
        let buyer = shop.visitor();
        let mut total = 490;
        for ((sku,), price) in skus.iter().zip(prices) {
            if rng.random_bool(0.4) {
                let quantity = rng.random_range(1..10);
                buyer.adds(sku, quantity).await;
                expected.sold += quantity;
                total += price * quantity;
            }
        }
        if total == 490 {
            continue;
        }
        let country = ["DE", "CH", "AT", "FR"][rng.random_range(0..4)];
        let form = buyer.opens_checkout().await.with("country", country);
        assert_eq!(form.field("quoted_total"), total.to_string());
        let status = buyer.submits(&form).await.location().to_owned();
        assert_eq!(buyer.waits_at(&status).await, "Paid");
        charged += total;
        expected.charges += 1;
        expected.orders += 1;
    }
    assert_eq!(shop.provider.charged().await, charged);
    shop.expects(expected).await;
}
