//! Lists: found by what somebody has in hand.

use boring_checkout::discrepancies::{self, Discrepancy};
use uuid::Uuid;

use crate::{
    admin_lists::buys,
    refund_notices::gives_back,
    world::{Expected, Operator, Shop},
};

async fn text(shop: &Shop, sql: &'static str) -> String {
    shop.db().query(sql).fetch_scalar().await.expect(sql)
}

#[tokio::test]
async fn a_checkout_is_found_by_whatever_somebody_has_in_hand() {
    let shop = Shop::open_with_workers(&[]).await;
    let id = buys(&shop, "Ada@Example.org").await;
    shop.settles().await;
    buys(&shop, "somebody@example.com").await;
    shop.settles().await;
    let operator = shop.operator();
    let story = format!("/admin/checkouts/{id}");
    let db = shop.db();
    let of_ada = |sql: &'static str| async move {
        let found: Uuid = db.query(sql).fetch_scalar().await.expect(sql);
        found.to_string()
    };
    let number = text(&shop, "select o.number from orders o join checkouts c on c.id = o.checkout_id where email = 'Ada@Example.org'").await;
    let intent = text(
        &shop,
        "select payment_intent_id from checkouts where email = 'Ada@Example.org'",
    )
    .await;
    let event = text(
        &shop,
        "select event_id from processed_events e join checkouts c on c.payment_intent_id = e.object_id
         where email = 'Ada@Example.org' order by event_id limit 1",
    )
    .await;
    for one in [
        id.clone(),
        id.to_uppercase(),
        format!("%20{number}%20"),
        number.to_lowercase(),
        number.replace('-', ""),
        intent,
        event,
        of_ada("select idempotency_key from checkouts where email = 'Ada@Example.org'").await,
        of_ada("select cart_id from checkouts where email = 'Ada@Example.org'").await,
        of_ada("select visitor_id from checkouts where email = 'Ada@Example.org'").await,
    ] {
        let page = operator.sees(&format!("/admin/checkouts?q={one}")).await;
        assert_eq!(page.location(), story, "{one}");
    }
    for (typed, found) in [
        ("ada@example.org", 1),
        ("ADA@EXAMPLE.ORG", 1),
        ("nobody@example.org", 0),
        ("paid", 2),
        ("Pending", 0),
        ("", 2),
        (&Uuid::new_v4().to_string(), 0),
        ("pi_none", 0),
    ] {
        let page = operator.sees(&format!("/admin/checkouts?q={typed}")).await;
        assert_eq!(page.texts("tbody tr").len(), found, "{typed}");
        assert_eq!(
            page.attributes("#q", "value"),
            [typed],
            "it stays in the field"
        );
    }
    let page = operator.sees("/admin/checkouts?q=Ada").await;
    assert!(
        page.text("[role=status]")
            .starts_with("Nothing can be found by “Ada”")
    );
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

/// Those that a list shows, and whether it says that there are none.
async fn found(operator: &Operator, list: &str, typed: &str) -> usize {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("q", typed)
        .finish();
    let page = operator.sees(&format!("/admin/{list}?{query}")).await;
    assert_eq!(page.status, 200, "{list} {typed}");
    assert_eq!(page.attributes("#q", "value"), [typed], "{list} {typed}");
    let everything = page.attributes("form[role=search] a", "href");
    assert_eq!(everything, [format!("/admin/{list}")]);
    let rows = page.texts("tbody tr").len();
    let says_none = page.text("[role=status]").starts_with("Nothing ");
    assert_eq!(rows == 0, says_none, "{list} {typed}: {}", page.html);
    rows
}

#[tokio::test]
async fn each_list_is_searched_by_what_somebody_has_in_hand() {
    let shop = Shop::open_with_workers(&[]).await;
    let id = buys(&shop, "Köln@Example.org").await;
    buys(&shop, "somebody@example.com").await;
    shop.settles().await;
    let intent = of_koln(&shop, "select payment_intent_id from checkouts c").await;
    gives_back(&shop, &intent, 100).await;
    shop.settles().await;
    shop.finishes().await;
    let refund = of_koln(
        &shop,
        "select r.provider_id from refunds r join checkouts c on c.id = r.checkout_id",
    )
    .await;
    let refund_id: Uuid = shop
        .db()
        .query("select id from refunds")
        .fetch_scalar()
        .await
        .expect("a refund");
    let number = of_koln(
        &shop,
        "select o.number from orders o join checkouts c on c.id = o.checkout_id",
    )
    .await;
    let event = text(
        &shop,
        "select max(event_id) from processed_events where type = 'payment_intent.succeeded'",
    )
    .await;
    shop.alters("update outbox set published_at = null, parked_at = created_at where event_type = 'order.refunded'")
        .await;
    disagrees(&shop, &intent, &id).await;

    let operator = shop.operator();
    let number = number.as_str();
    let dashless = number.replace('-', "").to_lowercase();
    let (id, refund_id) = (id.as_str(), refund_id.to_string());
    let koln = "KÖLN@example.ORG";
    for (list, typed, rows) in [
        ("checkouts", koln, 1),
        ("orders", number, 1),
        ("orders", &dashless, 1),
        ("orders", koln, 1),
        ("orders", "nobody@example.org", 0),
        ("orders", "koln", 0),
        ("customers", koln, 1),
        ("customers", number, 0),
        ("refunds", &refund_id, 1),
        ("refunds", id, 1),
        ("refunds", &refund, 1),
        ("refunds", &intent, 1),
        ("refunds", &dashless, 1),
        ("refunds", "re_none", 0),
        ("events", &event, 1),
        ("events", &refund, 3),
        ("events", "Payment_Intent.Succeeded", 2),
        ("events", "payment_intent.canceled", 0),
        ("outbox", number, 2),
        ("outbox", id, 2),
        ("outbox", "order.placed", 2),
        ("outbox", "Parked", 1),
        ("outbox", "everything", 0),
        ("mail", koln, 2),
        ("mail", &dashless, 2),
        ("mail", &refund_id, 2),
        ("mail", "order_confirmation", 2),
        ("mail", "refund_notice", 1),
        ("mail", "somebody@example.com", 1),
        ("mail", "a\tb", 0),
        ("discrepancies", &intent, 1),
        ("discrepancies", id, 1),
        ("discrepancies", number, 1),
        ("discrepancies", "second_payment", 1),
        ("discrepancies", "amount_differs", 0),
    ] {
        assert_eq!(found(&operator, list, typed).await, rows, "{list} {typed}");
    }
    for page in ["", "/refunds/new"] {
        let page = operator
            .sees(&format!("/admin/orders/{dashless}{page}"))
            .await;
        assert!(page.text("main").contains(number), "{}", page.html);
    }
    let row = operator.sees("/admin/outbox?q=parked").await;
    assert_eq!(
        row.texts("tbody button").len(),
        1,
        "it can be tried again there"
    );
    shop.alters(
        "update outbox set published_at = created_at, parked_at = null where parked_at is not null",
    )
    .await;
    shop.alters("delete from discrepancies").await;
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

/// A column of the purchase of the one whose address only the program can fold.
async fn of_koln(shop: &Shop, sql: &str) -> String {
    let sql: &'static str =
        Box::leak(format!("{sql} where email = 'Köln@Example.org'").into_boxed_str());
    text(shop, sql).await
}

async fn disagrees(shop: &Shop, intent: &str, id: &str) {
    let mut tx = shop.db().begin().await.expect("a transaction");
    let discrepancy = Discrepancy {
        kind: "second_payment",
        object: intent,
        checkout: id.parse().expect("an id"),
        detail: "made up".to_owned(),
    };
    discrepancies::open(&mut tx, &discrepancy, shop.app().till.clock.now())
        .await
        .expect("a row");
    tx.commit().await.expect("a commit");
}

/// The one field that leads from whatever somebody has in hand to a purchase.
#[tokio::test]
async fn the_overview_finds_anything() {
    let shop = Shop::open().await;
    let overview = shop.operator().sees("/admin").await;
    assert_eq!(
        overview.attributes("form[role=search]", "action"),
        ["/admin/checkouts"]
    );
    assert!(
        overview
            .text("form[role=search] label")
            .starts_with("Find by")
    );
}
