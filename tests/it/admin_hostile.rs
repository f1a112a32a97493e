//! R73: what customers, mail servers and the provider wrote is only text on each of the operator's pages.

use boring_checkout::{
    discrepancies::{self, Discrepancy},
    ids::CheckoutId,
};
use uuid::Uuid;

use crate::world::{Operator, Page, Shop};

/// Breaks out of text, of an attribute in either kind of quotes, and of a template, wherever nothing escapes it; with marks
/// that turn the direction, a line break, and more of it than anybody reads.
fn hostile() -> String {
    let long = "x".repeat(10_000);
    format!(
        "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{{{7*7}}}}&amp;\u{202e}\u{2066}🧢\r\nX: y {long}"
    )
}

/// It stands there as it was written, white space aside, and does nothing.
fn is_only_text(page: &Page, path: &str, text: &str) {
    assert_eq!(page.status, 200, "{path}");
    assert_eq!(
        page.texts("script"),
        [""],
        "{path}: a script of theirs beside ours"
    );
    for theirs in ["img[src=x]", "[onerror]", "[style]", "main script"] {
        assert!(page.texts(theirs).is_empty(), "{path}: {theirs}");
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        page.text("body").contains(&words.join(" ")),
        "{path}: changed on its way"
    );
    assert!(
        page.html.contains("<bdi>"),
        "{path}: it may turn the direction of what follows"
    );
}

/// Writes `text` wherever somebody else than us writes.
async fn is_everywhere(shop: &Shop, text: &str) {
    let mut tx = shop.db().begin().await.expect("a transaction");
    for sql in [
        "update checkouts set email = $1, email_folded = $1, name = $1, address = $1, city = $1, postal_code = $1, country = $1,
                              payment_method = $1, payment_intent_id = $1",
        "update checkout_lines set name = $1",
        "update customers set email = $1, name = $1",
        "update processed_events set object_id = $1, type = $1",
        "update outbox set last_error = $1, event_type = $1, published_at = null, parked_at = created_at
         where id = (select max(id) from outbox)",
        "update emails set last_error = $1, sent_at = null, given_up_at = created_at",
        "update refunds set provider_id = $1, failure_code = $1, status = 'failed'",
        "insert into provider_calls (checkout_id, about, attempt, place, operation, ended, requests, ended_at)
         select id, id, 99, 1, $1, $1, 1, created_at from checkouts",
    ] {
        let changed = tx.query(sql).bind(text).execute().await.expect(sql);
        assert!(changed > 0, "{sql}");
    }
    let checkout: CheckoutId = tx
        .query("select id from checkouts")
        .fetch_scalar()
        .await
        .expect("a checkout");
    let now = shop.app().till.clock.now();
    for object in [text, "pi_2"] {
        let discrepancy = Discrepancy {
            kind: "second_payment",
            object,
            checkout,
            detail: text.to_owned(),
        };
        discrepancies::open(&mut tx, &discrepancy, now)
            .await
            .expect("a row");
    }
    tx.commit().await.expect("a commit");
}

async fn sees(operator: &Operator, path: &str, text: &str) -> Page {
    let page = operator.sees(path).await;
    is_only_text(&page, path, text);
    page
}

#[tokio::test]
async fn r73_what_others_wrote_is_only_text_on_each_of_the_operators_pages() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.settles().await;
    shop.finishes().await;
    shop.alters(
        "insert into refunds (id, kind, checkout_id, payment_intent_id, amount_minor, currency, status, provider_id,
             attempts, created_at, concluded_at)
         select id, 'order', id, payment_intent_id, 1, currency, 'failed', 're_1', 0, created_at, created_at from checkouts",
    )
    .await;
    let text = hostile();
    is_everywhere(&shop, &text).await;
    let operator = shop.operator();

    for list in [
        "checkouts",
        "orders",
        "customers",
        "refunds",
        "events",
        "outbox",
        "mail",
        "discrepancies",
    ] {
        sees(&operator, &format!("/admin/{list}"), &text).await;
    }
    sees(&operator, &format!("/admin{status}"), &text).await;
    let order = operator
        .sees("/admin/orders")
        .await
        .link_that_starts("/admin/orders/");
    sees(&operator, &order, &text).await;
    let discrepancies = operator.sees("/admin/discrepancies").await;
    let discrepancy = discrepancies.link_that_starts("/admin/discrepancies/");
    sees(&operator, &discrepancy, &text).await;

    let short: String = text.chars().take(120).collect();
    let note = [("note", short.replace(['\r', '\n'], " "))];
    let note: Vec<_> = note
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let resolved = operator
        .posts(&format!("{discrepancy}/resolve"), &note)
        .await;
    sees(&operator, resolved.location(), note[0].1).await;
    sees(&operator, &format!("/admin{status}"), note[0].1).await;

    let audit = operator.posts("/admin/audit", &[]).await;
    is_only_text(&audit, "/admin/audit", &text);
    let resolve = format!(
        "{}/resolve",
        operator
            .sees("/admin/discrepancies")
            .await
            .link_that_starts("/admin/discrepancies/")
    );
    let typed = operator.posts(&resolve, &[("note", &text)]).await;
    assert!(
        typed.status == 422 || typed.status == 303,
        "{}",
        typed.status
    );
    assert_eq!(typed.texts("main script").len(), 0);
}

/// Whatever stands behind the question mark, or in a form.
#[tokio::test]
async fn no_search_no_place_and_no_form_is_an_error_of_ours() {
    let shop = Shop::open().await;
    let operator = shop.operator();
    let long = "9".repeat(10_000);
    let odd = [
        "%00",
        "%ff",
        "%27%22%3E%3Cscript%3E",
        "a%40b%00",
        "pi_%00",
        "evt_%F0%9F%A7%A2",
        "-1",
        "9223372036854775807",
        "9223372036854775808",
        "0~",
        "0~%00",
        "253402300799999999~x",
        "99999999999999999~x",
        "-99999999999999999~x",
        "1~01938c6e-0000-7000-8000-000000000000~order_confirmation~9223372036854775807",
        "1~01938c6e-0000-7000-8000-000000000000~x~1",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        &long,
    ];
    for list in [
        "checkouts",
        "orders",
        "customers",
        "refunds",
        "events",
        "outbox",
        "mail",
        "discrepancies",
    ] {
        for value in odd {
            for name in ["older", "newer", "q", "retried", "resent"] {
                let path = format!("/admin/{list}?{name}={value}");
                let page = operator.sees(&path).await;
                assert_eq!(page.status, 200, "{path}");
            }
        }
    }
    let hostile = "/admin/checkouts?q=%22%27%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E";
    let page = operator.sees(hostile).await;
    assert_eq!(
        page.attributes("#q", "value"),
        ["\"'><img src=x onerror=alert(1)>"]
    );
    assert!(page.texts("img[src=x]").is_empty());
    let nobody = Uuid::now_v7();
    let answer = operator
        .posts(&format!("/admin/discrepancies/{nobody}/resolve"), &[])
        .await;
    assert_eq!(answer.status, 404);
    let no_form = operator
        .request(reqwest::Method::POST, "/admin/mail/retry")
        .body("{}");
    assert_eq!(
        operator.send(no_form).await.status,
        303,
        "it needs nothing of it"
    );
    for path in [
        "/admin/mail/retry",
        &format!("/admin/mail/{nobody}/retry"),
        "/admin/outbox/retry",
        "/admin/outbox/1/retry",
        "/admin/audit",
    ] {
        let too_long = operator
            .request(reqwest::Method::POST, path)
            .body("x".repeat(64 * 1024 + 1));
        let page = operator.send(too_long).await;
        assert_eq!(page.status, 413, "{path}");
        assert_eq!(page.heading(), "This form did not arrive as it was sent");
    }
}
