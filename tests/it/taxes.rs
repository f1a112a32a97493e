//! Shipping, and the tax that is in a price: written down with the purchase, and shown alike wherever a total is.

use crate::{
    late_success::{calls, mails},
    world::{Database, Expected, NOTHING, ONCE, Page, Shop, Visitor, eventually},
};

/// The text of a page with plain spaces.
fn main(page: &Page) -> String {
    page.text("main").replace('\u{a0}', " ")
}

async fn order_page(shop: &Shop, buyer: &Visitor) -> Page {
    let number = shop.db().query("select number from orders");
    let number: String = number.fetch_scalar().await.expect("a number");
    buyer.sees(&format!("/orders/{number}")).await
}

#[tokio::test]
async fn the_tax_of_the_country_is_in_the_total_and_shown_below_it() {
    for (country, rate, tax) in [
        ("DE", "19", "€3.98"),
        ("CH", "8.1", "€1.87"),
        ("DK", "25", "€4.98"),
    ] {
        let shop = Shop::open_with_workers(&[]).await;
        let buyer = shop.visitor().with_cart("LMP-01", 1).await;
        let form = buyer.opens_checkout().await.with("country", country);

        // Once the country is chosen the form shows it, should it come back.
        let again = buyer.submits(&form.with("city", "")).await;
        let status = buyer.submits(&form).await.location().to_owned();
        assert_eq!(buyer.waits_at(&status).await, "Paid");

        let order = order_page(&shop, &buyer).await;
        let shown = format!("Total €24.90 including {rate} % VAT {tax}");
        for page in [again, buyer.sees(&status).await, order] {
            assert!(main(&page).contains(&shown), "{shown} in {}", main(&page));
        }
        let mail = &mails(&shop, "order_confirmation").await[0];
        let told = format!("including {rate} % VAT: {tax}");
        for part in [mail.part("text/plain"), mail.part("text/html")] {
            let part = part.replace('\u{a0}', " ");
            assert!(part.contains(&told) && part.contains("€24.90"), "{part}");
        }
        assert_eq!(shop.provider.charged().await, 2490);
        shop.expects(ONCE).await;
    }
}

#[tokio::test]
async fn what_is_configured_later_changes_no_order_and_no_form_that_is_open() {
    let database = Database::fresh().await;
    let shop = Shop::open_on(database, &["--shipping", "4.90"]).await;
    let buyer = shop.visitor().with_cart("LMP-01", 1).await;
    assert!(main(&buyer.sees("/cart").await).contains("Shipping €4.90 Total €29.80"));
    let form = buyer.opens_checkout().await;
    assert_eq!(form.field("quoted_total"), "2980");
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let waiting = shop.visitor().with_cart("TEA-01", 1).await;
    let open = waiting.opens_checkout().await;
    let provider = shop.provider.url.clone();

    // The same shop, as it is configured on the next day.
    let flags = ["--shipping", "6", "--tax-rates", "DE=7", "--no-workers"];
    let next = crate::outbox::shop_on(&shop.database, &provider, &flags).await;
    let (buyer, waiting) = (buyer.moved_to(&next.url()), waiting.moved_to(&next.url()));

    let shown = "Shipping €4.90 Total €29.80 including 19 % VAT €4.76";
    for page in [buyer.sees(&status).await, order_page(&shop, &buyer).await] {
        assert!(main(&page).contains(shown), "{}", main(&page));
    }
    assert_eq!(buyer.submits(&form).await.location(), status);
    // Who has agreed to a total pays that one, or is asked again.
    let refused = waiting.submits(&open).await;
    assert_eq!(refused.status, 409);
    let said = refused.text(".problems");
    assert!(said.contains("€9.80") && said.contains("€10.90"), "{said}");
    let shown = "Shipping €6.00 Total €10.90 including 7 % VAT €0.71";
    assert!(main(&refused).contains(shown), "{}", main(&refused));
    assert_eq!(shop.provider.charged().await, 2980);
    shop.expects(ONCE).await;
    next.stop().await;
}

/// Each of three lines of €0.60 has 9.58 cents of tax.
#[tokio::test]
async fn r64_the_tax_is_rounded_once_and_not_with_every_line() {
    let shop = Shop::open().await;
    shop.alters("update products set price_minor = 60").await;
    let buyer = shop.visitor();
    for sku in ["TEA-01", "MUG-01", "PEN-01"] {
        buyer.adds(sku, 1).await;
    }
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let shown = "Total €1.80 including 19 % VAT €0.29";
    assert!(main(&buyer.sees(&status).await).contains(shown));
    shop.expects(Expected {
        charges: 1,
        orders: 1,
        sold: 3,
    })
    .await;
}

#[tokio::test]
async fn r64_the_taxes_of_three_thirds_are_the_tax_of_the_whole() {
    let shop = Shop::open_with_workers(&[]).await;
    shop.alters("update products set price_minor = 1000 where sku = 'TEA-01'")
        .await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let intent = shop.db().query("select payment_intent_id from payments");
    let intent: String = intent.fetch_scalar().await.expect("an id");

    let parts = [
        (333, "€3.33", "€0.54"),
        (333, "€6.66", "€1.07"),
        (334, "€10.00", "€1.60"),
    ];
    for (amount, so_far, tax) in parts {
        let body = format!("payment_intent={intent}&amount={amount}");
        assert_eq!(
            calls(&shop.provider, "/v1/refunds", &body).await.status,
            200
        );
        let shown = format!("Given back in all {so_far} including 19 % VAT {tax}");
        eventually(&shown, || async {
            main(&order_page(&shop, &buyer).await).contains(&shown)
        })
        .await;
    }
    let told: Vec<String> = mails(&shop, "refund_notice")
        .await
        .iter()
        .map(|mail| mail.part("text/plain").replace('\u{a0}', " "))
        .collect();
    for (_, so_far, tax) in parts {
        let said = [
            format!("Given back in all: {so_far}\r\n"),
            format!("VAT in what was given back, at 19 %: {tax}\r\n"),
        ];
        let is_said = |mail: &String| said.iter().all(|line| mail.contains(line));
        assert!(told.iter().any(is_said), "{said:?} in {told:?}");
    }
    assert_eq!(order_page(&shop, &buyer).await.text(".badge"), "Refunded");
}

/// The database computes the tax itself, and knows that shipping is a part of the amount.
#[tokio::test]
async fn a_tax_or_a_shipping_that_cannot_be_is_not_stored() {
    let shop = Shop::open_with(&["--shipping", "4.90"]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    buyer.buys().await;
    for wrong in [
        "update checkouts set tax_minor = tax_minor + 1",
        "update checkouts set tax_rate = 7000",
        "update checkouts set tax_rate = -1, tax_minor = 0",
        "update checkouts set shipping_minor = amount_minor",
        "update checkouts set shipping_minor = -1",
    ] {
        let mut tx = shop.db().begin().await.expect("a transaction");
        let refused = tx.query(wrong).execute().await.expect_err(wrong);
        let refused = refused.into_database_error().expect("the database says it");
        assert!(refused.is_check_violation(), "{wrong}: {refused}");
    }
    // Shipping that was never agreed is no constraint of one row: the audit adds it all up.
    shop.alters("update checkouts set shipping_minor = shipping_minor - 1")
        .await;
    let report = shop.report().await;
    let broken: Vec<_> = report
        .invariants
        .iter()
        .filter(|it| !it.ok)
        .map(|it| it.name)
        .collect();
    assert_eq!(broken, ["lines_payment_and_order_agree"], "{report}");
}

/// Should the database not have said no, the audit does.
#[tokio::test]
async fn the_audit_computes_the_tax_by_itself() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.alters(if shop.database.is_postgres() {
        "do $$ declare it record; begin
             for it in select conname from pg_constraint where conrelid = 'checkouts'::regclass and contype = 'c' loop
                 execute format('alter table checkouts drop constraint %I', it.conname);
             end loop;
         end $$"
    } else {
        "pragma ignore_check_constraints = 1"
    })
    .await;
    shop.alters("update checkouts set tax_minor = tax_minor + 1")
        .await;
    let report = shop.report().await;
    let broken: Vec<_> = report
        .invariants
        .iter()
        .filter(|it| !it.ok)
        .map(|it| it.name)
        .collect();
    assert_eq!(broken, ["each_tax_is_that_of_its_rate"], "{report}");
}

#[tokio::test]
async fn shipping_counts_towards_what_a_card_can_be_charged() {
    let shop = Shop::open_with(&["--shipping", "0.50"]).await;
    shop.alters("update products set price_minor = 99999950 where sku = 'TEA-01'")
        .await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let refused = buyer.submits(&buyer.opens_checkout().await).await;
    assert_eq!(refused.status, 422);
    shop.expects(NOTHING).await;

    shop.alters("update products set price_minor = 1 where sku = 'TEA-01'")
        .await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    assert_eq!(shop.provider.charged().await, 51);
    shop.expects(ONCE).await;
}
