//! What an operator can do: each once, however often it is asked for.

use std::fs;

use boring_checkout::{
    discrepancies::{self, Discrepancy},
    ids::CheckoutId,
};
use futures_util::future::join_all;

use crate::{
    late_success::calls,
    world::{Mail, NOTHING, ONCE, Page, Shop, eventually},
};

/// One purchase, paid.
async fn sold(shop: &Shop) {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
}

/// Where the forms of a page lead that say `label`.
fn forms(page: &Page, label: &str) -> Vec<String> {
    let labels = page.texts("form[method=post] button");
    let actions = page.attributes("form[method=post]", "action");
    let both = labels.into_iter().zip(actions);
    both.filter(|(said, _)| said.starts_with(label))
        .map(|(_, action)| action)
        .collect()
}

const PARKED: &str = "select count(*) from outbox where parked_at is not null";

#[tokio::test]
async fn what_is_parked_stands_first_and_is_tried_again_one_or_all() {
    let shop = Shop::open().await;
    let operator = shop.operator();
    for _ in 0..3 {
        sold(&shop).await;
    }
    shop.alters(
        "update outbox set parked_at = created_at, attempts = 10, last_error = 'refused: no room'",
    )
    .await;
    let page = operator.sees("/admin/outbox").await;
    assert_eq!(page.texts("h2"), ["Parked", "All"]);
    assert!(
        page.text("section:first-of-type")
            .contains("refused: no room"),
        "{}",
        page.html
    );

    let one = forms(&page, "Try again").first().expect("a button").clone();
    let answer = operator.posts(&one, &[]).await;
    let page = operator.sees(answer.location()).await;
    assert_eq!(page.text("[role=status]"), "One is tried again now.");
    assert_eq!(shop.count(PARKED).await, 2);
    // The same once more: it is not parked any more.
    let answer = operator.posts(&one, &[]).await;
    let page = operator.sees(answer.location()).await;
    assert!(
        page.text("[role=status]").starts_with("Nothing was"),
        "{}",
        page.html
    );

    let all = forms(&page, "Try all").first().expect("a button").clone();
    let answer = operator.posts(&all, &[]).await;
    let page = operator.sees(answer.location()).await;
    assert_eq!(page.text("[role=status]"), "2 are tried again now.");
    assert_eq!(shop.count(PARKED).await, 0);
    assert_eq!(forms(&page, "Try").len(), 0);
    assert_eq!(
        shop.count("select count(*) from outbox where attempts = 0")
            .await,
        3
    );
}

#[tokio::test]
async fn a_mail_that_was_given_up_is_tried_again_and_sent() {
    let shop = Shop::open_with_workers(&[]).await;
    sold(&shop).await;
    shop.finishes().await;
    shop.alters("update emails set sent_at = null, given_up_at = created_at, last_error = '550 no such user'")
        .await;
    let operator = shop.operator();
    let page = operator.sees("/admin/mail").await;
    assert!(
        page.text("section:first-of-type")
            .contains("550 no such user")
    );
    let one = forms(&page, "Try again").first().expect("a button").clone();
    let answer = operator.posts(&one, &[]).await;
    let page = operator.sees(answer.location()).await;
    assert_eq!(page.text("[role=status]"), "One is tried again now.");
    eventually("it is sent", || async {
        shop.count("select count(*) from emails where sent_at is not null")
            .await
            == 1
    })
    .await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_mail_is_sent_again_as_a_copy_of_its_own_once_for_each_form() {
    let shop = Shop::open_with_workers(&[]).await;
    sold(&shop).await;
    shop.finishes().await;
    let operator = shop.operator();
    let page = operator.sees("/admin/mail").await;
    let action = forms(&page, "Send again")
        .first()
        .expect("a button")
        .clone();
    let key = page
        .attributes("[name=form_key]", "value")
        .first()
        .expect("a key")
        .clone();

    // A double click, and more.
    let fields = [("form_key", key.as_str())];
    let answers = join_all((0..10).map(|_| operator.posts(&action, &fields))).await;
    for answer in &answers {
        assert_eq!(answer.location(), "/admin/mail?resent=yes");
    }
    let copies = "select count(*) from emails where copy > 0";
    assert_eq!(shop.count(copies).await, 1);
    shop.finishes().await;

    // A form that is opened now is another wish.
    let page = operator.sees("/admin/mail").await;
    assert_eq!(
        forms(&page, "Send again").len(),
        1,
        "the copy has no button"
    );
    let another = page
        .attributes("[name=form_key]", "value")
        .first()
        .expect("a key")
        .clone();
    operator.posts(&action, &[("form_key", &another)]).await;
    shop.finishes().await;
    assert_eq!(shop.count(copies).await, 2);

    let number: String = shop
        .db()
        .query("select number from orders")
        .fetch_scalar()
        .await
        .expect("an order");
    let read = |suffix: &str| {
        let file = format!(
            "{}/{number}-order_confirmation{suffix}.eml",
            shop.database.mail_folder()
        );
        Mail::of(&fs::read_to_string(&file).expect(&file))
    };
    let (original, first, second) = (read(""), read("-copy-1"), read("-copy-2"));
    assert_eq!(original.header("Subject"), format!("Your order {number}"));
    assert_eq!(
        first.header("Subject"),
        format!("Your order {number} (sent again)")
    );
    let ids = [&original, &first, &second].map(|mail| mail.header("Message-ID").to_owned());
    assert_eq!(
        ids[1],
        format!("<{number}.order_confirmation.copy-1@boring.example>")
    );
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    assert_eq!(
        shop.report().await.counts.emails,
        1,
        "of the mail itself there is one"
    );
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn what_was_not_sent_cannot_be_sent_again() {
    let shop = Shop::open_with_workers(&[]).await;
    sold(&shop).await;
    shop.finishes().await;
    let operator = shop.operator();
    let page = operator.sees("/admin/mail").await;
    let action = forms(&page, "Send again")
        .first()
        .expect("a button")
        .clone();
    shop.alters("update emails set sent_at = null, given_up_at = created_at")
        .await;
    let key = uuid::Uuid::new_v4().to_string();
    let answer = operator.posts(&action, &[("form_key", &key)]).await;
    assert_eq!(answer.location(), "/admin/mail?resent=no");
    for (path, key, status) in [
        (action.as_str(), "", 400),
        (&action, "no key", 400),
        ("/admin/mail/x/order_confirmation/resend", &key, 404),
        (&action.replace("order_confirmation", "invoice"), &key, 404),
    ] {
        let answer = operator.posts(path, &[("form_key", key)]).await;
        assert_eq!(answer.status, status, "{path}");
    }
    assert_eq!(shop.count("select count(*) from emails").await, 1);
}

/// A contradiction about no purchase in particular.
async fn disagrees(shop: &Shop, checkout: CheckoutId, object: &str) {
    let mut tx = shop.db().begin().await.expect("a transaction");
    let discrepancy = Discrepancy {
        kind: "second_payment",
        object,
        checkout,
        detail: format!("the provider has 490 eur as {object}"),
    };
    let now = shop.app().till.clock.now();
    discrepancies::open(&mut tx, &discrepancy, now)
        .await
        .expect("a row");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn a_discrepancy_is_resolved_with_a_note_and_the_first_note_stays() {
    let shop = Shop::open().await;
    sold(&shop).await;
    let id: uuid::Uuid = shop
        .db()
        .query("select id from checkouts")
        .fetch_scalar()
        .await
        .expect("one");
    disagrees(&shop, id.into(), "pi_other").await;
    let operator = shop.operator();
    assert!(!shop.report().await.ok);
    assert!(
        operator
            .sees("/admin")
            .await
            .text(".is-bad")
            .contains("1 open discrepancies")
    );

    let list = operator.sees("/admin/discrepancies").await;
    let address = list.link_that_starts("/admin/discrepancies/");
    let resolve = format!("{address}/resolve");
    for bad in ["", "  ", &"n".repeat(1001), "a\0b"] {
        let page = operator.posts(&resolve, &[("note", bad)]).await;
        assert_eq!(page.status, 422, "{bad:?}");
        assert_eq!(page.attributes("textarea", "aria-invalid"), ["true"]);
    }
    assert!(!shop.report().await.ok, "nothing was changed");

    let answer = operator
        .posts(&resolve, &[("note", "Given back by hand, <b>today</b>.")])
        .await;
    assert_eq!(answer.location(), address);
    operator.posts(&resolve, &[("note", "another")]).await;
    let page = operator.sees(&address).await;
    assert_eq!(page.text(".note"), "Given back by hand, <b>today</b>.");
    assert!(page.text("main").contains("By admin"), "{}", page.html);
    assert!(page.text(".badge").contains("resolved"));
    let story = operator.sees(&format!("/admin/checkouts/{id}")).await;
    assert!(
        story
            .text(".admin-story")
            .contains("by admin: Given back by hand")
    );
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn what_opens_again_has_no_note_any_more() {
    let shop = Shop::open().await;
    sold(&shop).await;
    let id: uuid::Uuid = shop
        .db()
        .query("select id from checkouts")
        .fetch_scalar()
        .await
        .expect("one");
    disagrees(&shop, id.into(), "pi_other").await;
    let operator = shop.operator();
    let address = operator
        .sees("/admin/discrepancies")
        .await
        .link_that_starts("/admin/discrepancies/");
    operator
        .posts(&format!("{address}/resolve"), &[("note", "done")])
        .await;
    let mut tx = shop.db().begin().await.expect("a transaction");
    let opened = discrepancies::reopen(&mut tx, "second_payment", "pi_other")
        .await
        .expect("a row");
    tx.commit().await.expect("a commit");
    assert_eq!(opened, 1);
    assert!(
        operator
            .sees(&address)
            .await
            .text(".badge")
            .contains("open")
    );
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_no_form_is_none() {
    let shop = Shop::open().await;
    let operator = shop.operator();
    let nobody = uuid::Uuid::now_v7();
    for path in [
        "/admin/checkouts/x",
        &format!("/admin/checkouts/{nobody}"),
        "/admin/orders/7K3M-9QXT-2P",
        "/admin/orders/%00",
        "/admin/discrepancies/1",
        &format!("/admin/discrepancies/{nobody}"),
    ] {
        assert_eq!(operator.sees(path).await.status, 404, "{path}");
    }
    for path in ["/admin/outbox/x/retry", "/admin/mail/x/retry"] {
        assert_eq!(operator.posts(path, &[]).await.status, 404, "{path}");
    }
    let missing = operator.posts("/admin/outbox/99999999999/retry", &[]).await;
    assert_eq!(missing.location(), "/admin/outbox?retried=0");
    let gone = format!("/admin/discrepancies/{nobody}/resolve");
    assert_eq!(operator.posts(&gone, &[("note", "x")]).await.status, 404);
    shop.expects(NOTHING).await;
}

/// Once somebody has seen to it, the next alarm is a new one.
#[tokio::test]
async fn a_second_payment_that_was_seen_to_is_no_violation_any_more() {
    let shop = Shop::open().await;
    sold(&shop).await;
    let id: uuid::Uuid = shop
        .db()
        .query("select id from checkouts")
        .fetch_scalar()
        .await
        .expect("one");
    let again = format!(
        "amount=700&currency=eur&payment_method=pm_card_visa&payment_method_types[0]=card&confirm=true\
         &metadata[checkout_id]={id}"
    );
    let charged = calls(&shop.provider, "/v1/payment_intents", &again).await;
    assert_eq!(charged.status, 200);
    shop.settles().await;
    assert!(!shop.report().await.ok, "the customer paid twice");
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    assert!(!shop.report().await.ok, "nobody has looked into it");
    shop.alters("update discrepancies set resolved_at = null")
        .await;

    let operator = shop.operator();
    let list = operator.sees("/admin/discrepancies").await;
    let address = list.link_that_starts("/admin/discrepancies/");
    let note = [("note", "Given back in the dashboard.")];
    operator.posts(&format!("{address}/resolve"), &note).await;

    let report = shop.report().await;
    assert!(report.ok, "{report}");
}
