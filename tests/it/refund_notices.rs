//! Refunds that somebody makes in the provider's dashboard: each is booked once, whoever tells of it and in whatever order,
//! never more than was paid, and the buyer hears of each once.

use std::time::Duration;

use boring_checkout::{
    audit::{self, Counts},
    ids::RefundId,
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    late_success::{calls, mails},
    outbox::another_shop,
    world::{Letter, MailServer, Mood, Page, Shop, Visitor, eventually},
};

pub const BOOKED: &str = "select count(*) from refunds";
pub const RESERVED: &str = "select refunded_minor from payments";
pub const OPEN: &str = "select count(*) from discrepancies where resolved_at is null";
pub const KEPT: &str = "select count(*) from unbooked_refunds";

pub async fn shop() -> Shop {
    let quick = ["--provider-timeout", "1s", "--lease", "300ms"];
    Shop::open_with_workers(&[&quick[..], &["--tax-rates", ""]].concat()).await
}

/// Somebody who has paid 490, and the payment intent. The shop offers no cards whose banks are odd about refunds; their
/// holder was asked by the bank, and went for another card.
pub async fn paid(shop: &Shop, card: &str) -> (Visitor, String) {
    let (buyer, status) = crate::authentication::asked(shop).await;
    buyer.waits_at(&status).await;
    let intent = shop.db().query("select payment_intent_id from checkouts");
    let intent: String = intent.fetch_scalar().await.expect("an id");
    let confirm = format!("/v1/payment_intents/{intent}/confirm");
    let body = format!("payment_method={card}&return_url=http://shop.example");
    let paid = calls(&shop.provider, &confirm, &body).await;
    assert_eq!(paid.status, 200, "{}", paid.html);
    eventually("it is paid", || async {
        buyer.sees(&status).await.heading() == "Paid"
    })
    .await;
    (buyer, intent)
}

/// By hand, at the provider.
pub async fn gives_back(shop: &Shop, intent: &str, amount: i64) -> Value {
    let body = format!("payment_intent={intent}&amount={amount}");
    let made = calls(&shop.provider, "/v1/refunds", &body).await;
    assert_eq!(made.status, 200, "{}", made.html);
    serde_json::from_str(&made.html).expect("a refund")
}

pub async fn is(shop: &Shop, status: &'static str, times: i64) {
    let count = match status {
        "succeeded" => "select count(*) from refunds where status = 'succeeded'",
        "failed" => "select count(*) from refunds where status = 'failed'",
        _ => "select count(*) from refunds where status = 'pending'",
    };
    eventually(status, || async { shop.count(count).await == times }).await;
}

pub async fn order_page(shop: &Shop, buyer: &Visitor) -> Page {
    let number = shop.db().query("select number from orders");
    let number: String = number.fetch_scalar().await.expect("a number");
    buyer.sees(&format!("/orders/{number}")).await
}

/// The whole audit, and so much has come of it.
pub async fn came_to(shop: &Shop, refunds: i64, given_back: i64) {
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    assert_eq!(report.counts.refunds, refunds, "{report}");
    assert_eq!(shop.count(RESERVED).await, given_back);
    let ledger = shop.provider.ledger().await["refunds"].clone();
    assert_eq!(ledger["succeeded"], refunds);
    assert_eq!(ledger["amount_succeeded"], given_back);
    assert_eq!(shop.count("select count(*) from orders").await, 1);
}

#[tokio::test]
async fn r63_a_refund_made_at_the_provider_is_booked_once_and_told_once() {
    let shop = shop().await;
    let (buyer, intent) = paid(&shop, "pm_card_visa").await;
    let other = another_shop(&shop, &["--public-url", &shop.url]).await;
    let refund = gives_back(&shop, &intent, 190).await;
    is(&shop, "succeeded", 1).await;
    for kind in [
        "refund.created",
        "refund.updated",
        "charge.refund.updated",
        "charge.refunded",
    ] {
        let event = shop.provider.events(kind).await.remove(0);
        assert_eq!(shop.provider.delivers(&event, 5).await, [200; 5]);
        let elsewhere = Letter::of(&event);
        assert_eq!(elsewhere.to(&other.url()).await.status, 200);
    }
    other.stop().await;

    let notices = mails(&shop, "refund_notice").await;
    let [mail] = &notices[..] else {
        panic!("one mail: {notices:?}")
    };
    assert_eq!(mail.header("To"), "buyer@example.com");
    let number = shop.db().query("select number from orders");
    let number: String = number.fetch_scalar().await.expect("a number");
    let id = shop.db().query("select id from refunds");
    let id: RefundId = id.fetch_scalar().await.expect("an id");
    assert_eq!(
        mail.header("Subject"),
        format!("A refund of your order {number}")
    );
    assert_eq!(
        mail.header("Message-ID"),
        format!("<{id}.refund_notice@boring.example>")
    );
    let folder = shop.database.mail_folder();
    let file = format!("{folder}/{id}-refund_notice.eml");
    assert!(std::fs::exists(file).expect("it can be asked"));
    let link = format!("{}/orders/{number}?key=", shop.url);
    for part in [mail.part("text/plain"), mail.part("text/html")] {
        for said in [&number, "€1.90", "€4.90", "€3.00", "UTC", &link] {
            assert!(part.contains(said), "{said} in {part}");
        }
    }
    let page = order_page(&shop, &buyer).await;
    assert_eq!(page.text(".badge"), "Partially refunded");
    let text = page.text("main");
    for said in ["Given back in all €1.90", "Not refunded €3.00"] {
        assert!(text.contains(said), "{said} in {text}");
    }
    let booked = shop.db().query("select provider_id from refunds");
    let booked: String = booked.fetch_scalar().await.expect("an id");
    assert_eq!(refund["id"], booked.as_str());
    came_to(&shop, 1, 190).await;
}

#[tokio::test]
async fn r64_three_parts_end_at_exactly_zero() {
    let shop = shop().await;
    let (buyer, intent) = paid(&shop, "pm_card_visa").await;
    let mut told = Vec::new();
    for (n, amount) in [(1, 163), (2, 163), (3, 164)] {
        gives_back(&shop, &intent, amount).await;
        is(&shop, "succeeded", n).await;
        let notices = mails(&shop, "refund_notice").await;
        assert_eq!(notices.len(), usize::try_from(n).expect("few"));
        let new = notices.into_iter().map(|mail| mail.part("text/plain"));
        let new: Vec<_> = new.filter(|text| !told.contains(text)).collect();
        assert_eq!(new.len(), 1, "the earlier ones say what they said: {new:?}");
        told.extend(new);
    }
    assert!(
        told[0].contains("all: €1.63\r\nNot given back: €3.27"),
        "{}",
        told[0]
    );
    assert!(
        told[1].contains("all: €3.26\r\nNot given back: €1.64"),
        "{}",
        told[1]
    );
    assert!(
        told[2].contains("all: €4.90\r\nNothing is left"),
        "{}",
        told[2]
    );
    let page = order_page(&shop, &buyer).await;
    assert_eq!(page.text(".badge"), "Refunded");
    assert!(!page.text("main").contains("Not refunded"));
    came_to(&shop, 3, 490).await;
}

/// The form sells in euro. A shop that sells in yen would have this in its books.
#[tokio::test]
async fn r65_yen_are_shown_as_yen_in_mail_and_page() {
    let shop = shop().await;
    let (buyer, intent) = paid(&shop, "pm_card_visa").await;
    shop.finishes().await;
    for yen in [
        "update checkouts set currency = 'jpy'",
        "update payments set currency = 'jpy'",
        "update orders set currency = 'jpy'",
    ] {
        assert_eq!(shop.alters(yen).await, 1);
    }
    let letter = told(1, &intent, 90, "jpy", "succeeded");
    assert_eq!(letter.to(&shop.url).await.status, 200);
    let mail = mails(&shop, "refund_notice").await.remove(0);
    let text = mail.part("text/plain");
    for said in ["We gave ¥90 of", "You paid: ¥490", "Not given back: ¥400"] {
        assert!(text.contains(said), "{said} in {text}");
    }
    let page = order_page(&shop, &buyer).await.text("main");
    assert!(page.contains("Not refunded ¥400"), "{page}");
}

#[tokio::test]
async fn a_refund_under_way_reserves_its_amount_and_is_told_when_it_has_arrived() {
    let shop = shop().await;
    let (buyer, intent) = paid(&shop, "pm_card_pendingRefund").await;
    gives_back(&shop, &intent, 200).await;
    is(&shop, "pending", 1).await;
    assert_eq!(shop.count(RESERVED).await, 200);
    let page = order_page(&shop, &buyer).await;
    assert_eq!(page.text(".badge"), "Paid");
    let text = page.text("main");
    assert!(text.contains("On its way back €2.00"), "{text}");
    assert!(text.contains("Not refunded €2.90"), "{text}");
    assert!(!text.contains("Given back in all"), "{text}");
    assert_eq!(mails(&shop, "refund_notice").await.len(), 0);
    let report = shop.report().await;
    assert!(report.ok, "{report}");

    shop.provider.control("settle", json!({})).await;
    is(&shop, "succeeded", 1).await;
    let page = order_page(&shop, &buyer).await;
    assert_eq!(page.text(".badge"), "Partially refunded");
    assert_eq!(mails(&shop, "refund_notice").await.len(), 1);
    came_to(&shop, 1, 200).await;
}

/// The three things that are told of a refund which the bank sends back, in each order in which they may arrive.
#[tokio::test]
async fn r63_in_whatever_order_it_is_told_the_last_state_stays() {
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let shop = Shop::open().await;
        let (_, intent) = paid(&shop, "pm_card_refundFail").await;
        shop.settles().await;
        shop.provider.loses_webhooks().await;
        gives_back(&shop, &intent, 490).await;
        shop.provider.control("settle", json!({})).await;
        let mut events = Vec::new();
        for kind in ["refund.created", "refund.updated", "refund.failed"] {
            // Of the updates the first, which says that it has succeeded.
            events.extend(shop.provider.events(kind).await.pop());
        }
        for n in order {
            assert_eq!(Letter::of(&events[n]).to(&shop.url).await.status, 200);
            let last: String = shop
                .db()
                .query("select status from refunds")
                .fetch_scalar()
                .await
                .expect("booked by the first word");
            let failed =
                order.iter().position(|it| *it == 2) <= order.iter().position(|it| *it == n);
            assert_eq!(
                last,
                if failed { "failed" } else { "succeeded" },
                "{order:?}"
            );
        }
        assert_eq!(shop.count(BOOKED).await, 1);
        assert_eq!(shop.count(RESERVED).await, 0, "{order:?}");
        // If somebody was told that it was given back, a person has to see to it.
        let told = "select count(*) from outbox where event_type = 'order.refunded'";
        assert_eq!(shop.count(OPEN).await, shop.count(told).await, "{order:?}");
        let looked_at = "update discrepancies set resolved_at = created_at";
        shop.alters(looked_at).await;
        let report = shop.report().await;
        assert!(report.ok, "{report}");
        assert_eq!(report.counts.refunds, 0);
    }
}

/// The shop does not know yet that it was paid, when the money is given back already.
#[tokio::test]
async fn r63_a_refund_told_before_its_payment_is_booked_when_the_payment_is_known() {
    let shop = shop().await;
    shop.provider.loses_answers().await;
    for on in [
        json!({"webhook": "payment_intent.succeeded"}),
        json!({"operation": "payment_intents.list"}),
    ] {
        let fault = if on["webhook"].is_null() {
            "drop_request"
        } else {
            "drop"
        };
        let lost = json!({"on": on, "fault": fault, "times": 1000});
        shop.provider.fault(lost).await;
    }
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    eventually("it is charged", || async {
        shop.provider.charged().await == 490
    })
    .await;
    let event = shop
        .provider
        .events("payment_intent.succeeded")
        .await
        .remove(0);
    let intent = event["data"]["object"]["id"].as_str().expect("an id");
    gives_back(&shop, intent, 490).await;
    eventually("it is kept", || async { shop.count(KEPT).await == 1 }).await;
    // Another one has failed, and that it had succeeded before comes afterwards.
    for (event, status) in [(1, "failed"), (2, "succeeded")] {
        let letter = told_by(event, 1, intent, 100, "eur", status);
        assert_eq!(letter.to(&shop.url).await.status, 200);
    }
    assert_eq!(shop.count(BOOKED).await, 0);
    assert_eq!(shop.count(OPEN).await, 0);

    shop.provider.mends().await;
    shop.later(60);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    is(&shop, "succeeded", 1).await;
    is(&shop, "failed", 1).await;
    assert_eq!(shop.count(KEPT).await, 0);
    assert_eq!(mails(&shop, "refund_notice").await.len(), 1);
    assert_eq!(order_page(&shop, &buyer).await.text(".badge"), "Refunded");
    came_to(&shop, 1, 490).await;
}

#[tokio::test]
async fn a_refund_that_no_webhook_tells_of_is_read_from_the_providers_list() {
    let shop = shop().await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    shop.settles().await;
    shop.provider.loses_webhooks().await;
    gives_back(&shop, &intent, 490).await;
    shop.later(61);
    is(&shop, "succeeded", 1).await;
    assert_eq!(mails(&shop, "refund_notice").await.len(), 1);
    came_to(&shop, 1, 490).await;
}

/// What a forger, or a provider gone mad, could tell.
fn told(n: usize, intent: &str, amount: i64, currency: &str, status: &str) -> Letter {
    told_by(n, n, intent, amount, currency, status)
}

/// The same of the refund `n` by any event.
fn told_by(
    event: usize,
    n: usize,
    intent: &str,
    amount: i64,
    currency: &str,
    status: &str,
) -> Letter {
    Letter::of(&json!({
        "id": format!("evt_told_{event}"), "object": "event", "type": "refund.updated", "livemode": false,
        "data": {"object": {
            "id": format!("re_told_{n}"), "object": "refund", "amount": amount, "currency": currency,
            "payment_intent": intent, "status": status, "metadata": {},
        }},
    }))
}

#[tokio::test]
async fn r64_what_does_not_fit_its_payment_books_nothing_and_is_a_persons() {
    let shop = shop().await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    let unfit = [
        (491, "eur"),
        (i64::MAX, "eur"),
        (490, "usd"),
        (490, "xxx"),
        (0, "eur"),
        (-1, "eur"),
        (i64::MIN, "eur"),
    ];
    for (n, (amount, currency)) in unfit.into_iter().enumerate() {
        for (n, status) in [(2 * n, "succeeded"), (2 * n + 1, "failed")] {
            let letter = told(n, &intent, amount, currency, status);
            assert_eq!(
                letter.to(&shop.url).await.status,
                200,
                "{amount} {currency}"
            );
        }
    }
    assert_eq!(shop.count(BOOKED).await, 0);
    assert_eq!(shop.count(RESERVED).await, 0);
    assert_eq!(shop.count(OPEN).await, 14);

    // Of somebody else's payment, or of none, we have nothing to say.
    let strangers = told(99, "pi_of_somebody_else", 490, "eur", "succeeded");
    assert_eq!(strangers.to(&shop.url).await.status, 200);
    assert_eq!(shop.count(BOOKED).await, 0);
    assert_eq!(shop.count(OPEN).await, 14);
    assert_eq!(mails(&shop, "refund_notice").await.len(), 0);
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    came_to(&shop, 0, 0).await;
}

/// Several events about one refund, all new, at the same instant and in two processes.
#[tokio::test]
async fn r63_told_at_once_by_different_events_it_is_booked_once() {
    let shop = Shop::open().await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    shop.settles().await;
    let other = another_shop(&shop, &["--no-workers"]).await;
    for n in 0..8 {
        shop.alters("update payments set refunded_minor = 0").await;
        let letters =
            [0, 1, 2, 3].map(|event| told_by(4 * n + event, n, &intent, 490, "eur", "succeeded"));
        let here = letters.iter().map(|letter| letter.to(&shop.url));
        let there_url = other.url();
        let there = letters.iter().map(|letter| letter.to(&there_url));
        let answers = join_all(here.chain(there)).await;
        let answers: Vec<_> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(answers, [200; 8]);
        let so_far = i64::try_from(n + 1).expect("few");
        assert_eq!(shop.count(BOOKED).await, so_far);
        assert_eq!(shop.count(RESERVED).await, 490);
        assert_eq!(shop.count(OPEN).await, 0);
    }
    let told = "select count(*) from outbox where event_type = 'order.refunded'";
    assert_eq!(shop.count(told).await, 8);
    other.stop().await;
}

/// Of two that are too much together, told at the same instant, one is booked.
#[tokio::test]
async fn r64_two_of_sixty_percent_at_once_are_never_both_booked() {
    let shop = shop().await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    let letters = [1, 2, 3, 4].map(|n| told(n, &intent, 294, "eur", "pending"));
    let answers = join_all(letters.iter().map(|letter| letter.to(&shop.url))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(shop.count(BOOKED).await, 1);
    assert_eq!(shop.count(RESERVED).await, 294);
    assert_eq!(shop.count(OPEN).await, 3);
}

/// Refund B was made when A had failed, and A's failure is told last.
#[tokio::test]
async fn a_refund_told_before_there_was_room_for_it_is_booked_when_there_is() {
    let shop = Shop::open().await;
    let (_, intent) = paid(&shop, "pm_card_refundFail").await;
    shop.settles().await;
    shop.provider.loses_webhooks().await;
    gives_back(&shop, &intent, 300).await;
    shop.provider.control("settle", json!({})).await;
    gives_back(&shop, &intent, 300).await;
    let [b, a] = &shop.provider.events("refund.created").await[..] else {
        panic!("two refunds")
    };
    let failed = &shop.provider.events("refund.failed").await[0];

    for (event, open) in [(a, 0), (b, 1)] {
        assert_eq!(Letter::of(event).to(&shop.url).await.status, 200);
        assert_eq!(shop.count(OPEN).await, open);
        assert_eq!(shop.count(BOOKED).await, 1);
    }
    assert_eq!(Letter::of(failed).to(&shop.url).await.status, 200);
    is(&shop, "failed", 1).await;
    is(&shop, "succeeded", 1).await;
    assert_eq!(shop.count(KEPT).await, 0);
    assert_eq!(shop.count(OPEN).await, 1, "that A has come back");
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    came_to(&shop, 1, 300).await;
}

/// The mail server was down when it was given back, and the bank has sent it back since.
#[tokio::test]
async fn no_mail_says_that_money_was_given_back_which_is_not() {
    let server = MailServer::open().await;
    let shop = Shop::open_with_workers(&["--smtp-url", &server.url]).await;
    let (buyer, intent) = paid(&shop, "pm_card_refundFail").await;
    shop.finishes().await;
    server.is_in(Mood::IsBusy);
    gives_back(&shop, &intent, 490).await;
    is(&shop, "succeeded", 1).await;
    shop.provider.control("settle", json!({})).await;
    is(&shop, "failed", 1).await;
    server.is_in(Mood::Takes);
    eventually("the mail is given up", || async {
        shop.later(2);
        shop.count("select count(*) from emails where given_up_at is not null")
            .await
            == 1
    })
    .await;
    assert_eq!(server.mails().len(), 1, "the confirmation");
    let page = order_page(&shop, &buyer).await;
    assert_eq!(page.text(".badge"), "Paid");
    assert!(page.text("main").contains("Not given back"));
    assert_eq!(shop.count(OPEN).await, 1);
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    came_to(&shop, 0, 0).await;
}

/// Behind the form, and behind the provider's back.
#[tokio::test]
async fn nothing_that_a_customer_typed_becomes_a_header_or_markup_of_a_notice() {
    let server = MailServer::open().await;
    let shop = Shop::open().await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    shop.settles().await;
    gives_back(&shop, &intent, 100).await;
    shop.settles().await;
    let mut tx = shop.db().begin().await.expect("a transaction");
    tx.query("update checkouts set name = $1, email = $2")
        .bind("A\r\nBcc: all@example.com\r\n\r\n<b>")
        .bind("a@example.com\r\nBcc: all@example.com")
        .execute()
        .await
        .expect("changed");
    tx.commit().await.expect("a commit");
    let other = another_shop(&shop, &["--smtp-url", &server.url]).await;
    shop.finishes().await;
    assert_eq!(server.mails().len(), 0, "an address that is none");
    shop.alters("update checkouts set email = 'tea@example.com'")
        .await;
    crate::mail::command(&shop, &["retry"]).await;
    shop.finishes().await;
    other.stop().await;
    let mails = server.mails();
    assert_eq!(mails.len(), 2);
    for mail in mails {
        assert_eq!(mail.to, ["tea@example.com"]);
        assert!(!mail.headers().contains("Bcc"), "{}", mail.headers());
        assert!(!mail.part("text/html").contains("<b>"));
    }
    shop.alters("update customers set email_folded = 'tea@example.com'")
        .await;
    came_to(&shop, 1, 100).await;
}

#[tokio::test]
async fn r55_a_notice_that_was_refused_is_tried_again_by_the_refunds_id_or_with_its_order() {
    let server = MailServer::open().await;
    let shop = Shop::open_with_workers(&["--smtp-url", &server.url]).await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    shop.finishes().await;
    server.refuses("buyer@example.com");
    gives_back(&shop, &intent, 100).await;
    gives_back(&shop, &intent, 100).await;
    is(&shop, "succeeded", 2).await;
    let given_up = "select count(*) from emails where given_up_at is not null";
    eventually("they are given up", || async {
        shop.later(2);
        shop.count(given_up).await == 2
    })
    .await;
    let listed = crate::mail::command(&shop, &["list"]).await;
    assert_eq!(listed.matches("refund_notice").count(), 2, "{listed}");
    let first = listed.split_whitespace().next().expect("an id");
    server.refuses_nobody();
    let retried = crate::mail::command(&shop, &["retry", first]).await;
    assert_eq!(retried, "1 tried again.\n");
    let number = shop.db().query("select number from orders");
    let number: String = number.fetch_scalar().await.expect("a number");
    let retried = crate::mail::command(&shop, &["retry", "0000-0000-00"]).await;
    assert_eq!(retried, "0 tried again.\n");
    let retried = crate::mail::command(&shop, &["retry", &number]).await;
    assert_eq!(retried, "1 tried again.\n");
    shop.finishes().await;
    assert_eq!(server.message_ids().len(), 3);
    assert_eq!(server.mails().len(), 3);
    came_to(&shop, 2, 200).await;
}

/// The audit is told of what happened behind the shop's back.
#[tokio::test]
async fn the_audit_sees_a_refund_that_is_not_booked_and_one_that_was_never_made() {
    let shop = Shop::open().await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    shop.settles().await;
    shop.provider.loses_webhooks().await;
    gives_back(&shop, &intent, 100).await;
    let broken = async |minutes: u64| {
        let till = &shop.app().till;
        let then = till.clock.now() + Duration::from_mins(minutes);
        let report = audit::audit(&till.db, &till.provider, then).await;
        let report = report.expect("both ledgers can be read");
        let broken = report.invariants.into_iter().filter(|it| !it.ok);
        broken.map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(broken(1).await, [""; 0], "it may be on its way");
    assert_eq!(broken(16).await, ["each_refund_is_booked"]);
    let event = shop.provider.events("refund.created").await.remove(0);
    Letter::of(&event).to(&shop.url).await;
    assert_eq!(broken(16).await, [""; 0]);

    shop.alters("update refunds set amount_minor = 99").await;
    assert_eq!(
        broken(16).await,
        ["refunds_fit_their_payment", "each_booked_refund_was_made"]
    );
    shop.alters("update payments set refunded_minor = 99").await;
    assert_eq!(broken(1).await, ["each_booked_refund_was_made"]);
    shop.alters("update refunds set amount_minor = 100").await;
    shop.alters("update payments set refunded_minor = 100")
        .await;
    shop.alters("delete from outbox where event_type = 'order.refunded'")
        .await;
    assert_eq!(
        broken(1).await,
        ["each_refund_is_told", "each_refund_is_announced_once"]
    );
    let Counts { refunds, .. } = shop.report().await.counts;
    assert_eq!(refunds, 1);
}
