//! Money that arrives for a checkout which had ended otherwise. It goes back, by itself and once, and its customer is told.

use boring_checkout::{
    audit::Counts, checkout::record, ids::CheckoutId, provider::Outcome, provider_calls::Attempt,
    refunds::refunder::Refunder, workers::Workers,
};
use serde_json::{Value, json};

use crate::world::{Letter, Mail, Page, Provider, Shop, Visitor, client, event, eventually};

const TOO_LATE: &str = "Your payment came too late";
const REFUND: &str = "refunds.create";
const OPEN: &str = "select count(*) from discrepancies where resolved_at is null";
const FOUND: &str = "select count(*) from discrepancies where kind = 'paid_after_the_end'";

pub async fn shop() -> Shop {
    Shop::open_with_workers(&["--provider-timeout", "1s", "--lease", "300ms"]).await
}

pub async fn calls(provider: &Provider, path: &str, body: &str) -> Page {
    let call = client()
        .post(format!("{}{path}", provider.url))
        .bearer_auth("sk_test_boring")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body.to_owned());
    Page::of(call.send().await.expect("an answer")).await
}

/// Somebody whose card was declined, and the payment intent that wants another one.
pub async fn declined(shop: &Shop) -> (Visitor, String, String) {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_chargeDeclined");
    let status = buyer.submits(&form).await.location().to_owned();
    let ended = "select count(*) from checkouts where status = 'declined'";
    eventually("it is declined", || async { shop.count(ended).await == 1 }).await;
    let intent = shop.db().query("select payment_intent_id from checkouts");
    let intent = intent.fetch_scalar().await.expect("an id");
    (buyer, status, intent)
}

/// It is paid after all, on a page of the provider's that was still open.
pub async fn is_paid(shop: &Shop, intent: &str, card: &str) {
    let confirm = format!("/v1/payment_intents/{intent}/confirm");
    let body = format!("payment_method={card}&return_url=http://shop.example");
    let paid = calls(&shop.provider, &confirm, &body).await;
    assert_eq!(paid.status, 200, "{}", paid.html);
}

pub async fn is_given_back(shop: &Shop) {
    eventually("it is found", || async { shop.count(FOUND).await == 1 }).await;
    eventually("it is given back", || async {
        // Whatever waits for its next try.
        shop.later(3);
        shop.count(OPEN).await == 0
    })
    .await;
}

/// The mails of a kind in the shop's folder, once all that are owed are written.
pub async fn mails(shop: &Shop, kind: &str) -> Vec<Mail> {
    shop.finishes().await;
    let Ok(files) = std::fs::read_dir(shop.database.mail_folder()) else {
        return Vec::new();
    };
    let paths = files.map(|file| file.expect("a file").path());
    let end = format!("-{kind}.eml");
    let paths = paths.filter(|path| path.to_string_lossy().ends_with(&end));
    paths
        .map(|path| Mail::of(&std::fs::read_to_string(path).expect("text")))
        .collect()
}

/// The one explanatory mail, and no confirmation.
pub async fn is_told_once(shop: &Shop) {
    let told = mails(shop, "not_fulfilled").await;
    let [mail] = &told[..] else {
        panic!("one mail: {told:?}")
    };
    assert_eq!(mail.header("To"), "buyer@example.com");
    let checkout: CheckoutId = shop
        .db()
        .query("select about from emails where kind = 'not_fulfilled'")
        .fetch_scalar()
        .await
        .expect("what it is about");
    assert_eq!(
        mail.header("Message-ID"),
        format!("<{checkout}.not_fulfilled@boring.example>")
    );
    for part in [mail.part("text/plain"), mail.part("text/html")] {
        for said in [
            "1",
            "Plain black tea",
            "payment of €4.90 arrived after this purchase had ended",
            "nothing will be delivered",
            "We gave €4.90 back on",
            "UTC",
            "to where it came from",
            &shop.url,
        ] {
            assert!(part.contains(said), "{said} in {part}");
        }
        assert!(!part.to_lowercase().contains("thank"), "{part}");
    }
}

/// The money came, and went back, once; there is no order, and nothing is sold.
pub async fn nothing_came_of_it(shop: &Shop) {
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    let Counts {
        provider_succeeded,
        orders,
        refunds,
        ..
    } = report.counts;
    assert_eq!((provider_succeeded, orders, refunds), (1, 0, 1), "{report}");
    let refunds = shop.provider.ledger().await["refunds"].clone();
    assert_eq!(refunds["succeeded"], 1);
    assert_eq!(refunds["amount_succeeded"], 490);
    let sold = "select cast(coalesce(sum(stocked - stock), 0) as bigint) from products";
    assert_eq!(shop.count(sold).await, 0);
}

#[tokio::test]
async fn r48_a_payment_after_a_decline_goes_back() {
    let shop = shop().await;
    let (buyer, status, intent) = declined(&shop).await;

    is_paid(&shop, &intent, "pm_card_visa").await;
    is_given_back(&shop).await;

    let page = buyer.sees(&status).await;
    assert_eq!(page.heading(), TOO_LATE);
    let text = page.text("main");
    assert!(text.contains("€4.90 was given back on"), "{text}");
    assert!(text.contains("UTC , to where it came from"), "{text}");
    assert!(
        !text.contains("not charged") && !text.contains("Thank"),
        "{text}"
    );
    let form = buyer.sees("/checkout").await;
    assert!(!form.text("main").contains("Nothing was charged"));
    is_told_once(&shop).await;
    assert_eq!(mails(&shop, "order_confirmation").await.len(), 0);
    nothing_came_of_it(&shop).await;
    // The cart is still the customer's.
    let second = buyer.buys().await;
    assert_eq!(buyer.waits_at(&second).await, "Paid");
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    assert_eq!(report.counts.orders, 1);
}

/// The wish is in the outbox, and nobody has acted on it yet.
#[tokio::test]
async fn what_will_be_given_back_is_said_to_be_on_its_way() {
    let shop = Shop::open().await;
    let (buyer, status, intent) = declined(&shop).await;
    is_paid(&shop, &intent, "pm_card_visa").await;
    eventually("it is found", || async { shop.count(FOUND).await == 1 }).await;
    let text = buyer.sees(&status).await.text("main");
    assert!(text.contains("€4.90 is on its way back"), "{text}");
}

#[tokio::test]
async fn a_late_payment_that_two_events_tell_of_is_to_be_given_back_once() {
    let shop = Shop::open().await;
    let (_, status, intent) = declined(&shop).await;
    is_paid(&shop, &intent, "pm_card_visa").await;
    eventually("it is found", || async { shop.count(FOUND).await == 1 }).await;
    let id = status.trim_start_matches("/checkouts/");
    let again = event("evt_again", "payment_intent.succeeded", &intent, id);
    assert_eq!(Letter::of(&again).to(&shop.url).await.status, 200);
    let wishes = "select count(*) from outbox where event_type = 'payment.refund_requested'";
    assert_eq!(shop.count(wishes).await, 1);
}

/// Nothing goes back by itself, so nobody is told that it does.
#[tokio::test]
async fn a_late_payment_of_another_amount_is_said_to_be_looked_into() {
    let shop = Shop::open().await;
    let (buyer, status, intent) = declined(&shop).await;
    let id = status.trim_start_matches("/checkouts/");
    let mut news = event("evt_1", "payment_intent.succeeded", &intent, id);
    news["data"]["object"]["amount_received"] = json!(1);
    assert_eq!(Letter::of(&news).to(&shop.url).await.status, 200);
    let text = buyer.sees(&status).await.text("main");
    assert!(text.contains("Somebody of us is looking into it"), "{text}");
}

/// A request of ours that was a day on its way, when its checkout had been given up as never charged.
#[tokio::test]
async fn r48_a_charge_that_comes_into_being_a_day_later_goes_back() {
    let shop = shop().await;
    let lost = json!({"on": {"operation": "*"}, "fault": "drop_request", "times": 1_000_000});
    shop.provider.fault(lost).await;
    shop.visitor().with_cart("TEA-01", 1).await.buys().await;
    shop.later(25 * 3600);
    shop.provider.mends().await;
    let ended = "select count(*) from checkouts where status = 'canceled'";
    eventually("it is given up", || async {
        shop.later(300);
        shop.count(ended).await == 1
    })
    .await;
    let request = shop.db().query("select provider_request from checkouts");
    let request: String = request.fetch_scalar().await.expect("the body");

    let paid = calls(&shop.provider, "/v1/payment_intents", &request).await;
    assert_eq!(paid.status, 200);
    shop.later(61);
    is_given_back(&shop).await;
    is_told_once(&shop).await;
    nothing_came_of_it(&shop).await;
}

/// A product that somebody has named in the middle of the night.
#[tokio::test]
async fn nothing_in_the_explanatory_mail_passes_for_markup_or_for_a_line_of_ours() {
    let shop = shop().await;
    let (_, _, intent) = declined(&shop).await;
    let mut tx = shop.db().begin().await.expect("a transaction");
    tx.query("update checkout_lines set name = $1")
        .bind("Tea\r\n\r\nWe owe you <b>€100</b>")
        .execute()
        .await
        .expect("changed");
    tx.commit().await.expect("a commit");
    is_paid(&shop, &intent, "pm_card_visa").await;
    is_given_back(&shop).await;
    let mail = mails(&shop, "not_fulfilled").await.remove(0);
    let plain = mail.part("text/plain");
    assert!(plain.contains("1 x Tea    We owe you <b>"), "{plain}");
    let html = mail.part("text/html");
    assert!(html.contains("We owe you &#60;b&#62;"), "{html}");
    nothing_came_of_it(&shop).await;
}

/// The goods went to somebody else meanwhile.
#[tokio::test]
async fn r48_a_payment_for_what_was_sold_to_somebody_else_goes_back() {
    let shop = shop().await;
    shop.alters("update products set stock = 1, stocked = 1 where sku = 'TEA-01'")
        .await;
    let (late, status, intent) = declined(&shop).await;
    let faster = shop.visitor().with_cart("TEA-01", 1).await;
    let form = faster.opens_checkout().await;
    let form = form.with("email", "faster@example.com");
    let bought = faster.submits(&form).await.location().to_owned();
    assert_eq!(faster.waits_at(&bought).await, "Paid");

    is_paid(&shop, &intent, "pm_card_visa").await;
    is_given_back(&shop).await;

    assert_eq!(late.sees(&status).await.heading(), TOO_LATE);
    is_told_once(&shop).await;
    let confirmed = mails(&shop, "order_confirmation").await;
    assert_eq!(confirmed.len(), 1);
    assert_eq!(confirmed[0].header("To"), "faster@example.com");
    let report = shop.report().await;
    assert!(report.ok, "{report}");
    let Counts {
        provider_succeeded,
        orders,
        refunds,
        emails,
        ..
    } = report.counts;
    assert_eq!(
        (provider_succeeded, orders, refunds, emails),
        (2, 1, 1, 2),
        "{report}"
    );
}

/// The news of the payment and the decision that there never was one, at the same instant: it is bought and confirmed, or
/// given back and explained.
#[tokio::test]
async fn r48_at_the_instant_of_the_end_exactly_one_of_the_two_happens() {
    for _ in 0..5 {
        let shop = shop().await;
        shop.provider.loses_answers().await;
        shop.provider.loses_webhooks().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let request = buyer.submission(&form);
        let submitted = tokio::spawn(request.send());
        eventually("it is charged", || async {
            shop.provider.charged().await == 490
        })
        .await;
        let id = shop.db().query("select id from checkouts");
        let id: CheckoutId = id.fetch_scalar().await.expect("an id");
        let event = shop
            .provider
            .events("payment_intent.succeeded")
            .await
            .remove(0);

        let (letter, till) = (Letter::of(&event), &shop.app().till);
        let now = till.clock.now();
        let attempt = Attempt::at_checkout(id, 1, Vec::new());
        let (answer, ended) = tokio::join!(
            letter.to(&shop.url),
            record(&till.db, &attempt, &Outcome::NeverCharged, now)
        );
        assert_eq!(answer.status, 200);
        ended.expect("recorded");
        shop.provider.mends().await;
        let _ = submitted.await;
        if shop.count("select count(*) from orders").await == 1 {
            assert_eq!(mails(&shop, "order_confirmation").await.len(), 1);
            assert_eq!(mails(&shop, "not_fulfilled").await.len(), 0);
            let report = shop.report().await;
            assert!(report.ok, "{report}");
        } else {
            is_given_back(&shop).await;
            is_told_once(&shop).await;
            assert_eq!(mails(&shop, "order_confirmation").await.len(), 0);
            nothing_came_of_it(&shop).await;
        }
    }
}

#[tokio::test]
async fn whatever_goes_wrong_with_the_refund_it_is_made_once() {
    for wrong in [
        json!({"fault": "drop_request"}),
        json!({"fault": "drop_response"}),
        json!({"fault": "error_before"}),
        json!({"fault": "error_after"}),
        // A refusal and a "not now" that are kept for the key of a refund which was made.
        json!({"fault": "error_after", "status": 400}),
        json!({"fault": "error_after", "status": 429}),
        json!({"fault": "rate_limit"}),
        json!({"fault": "hang"}),
    ] {
        let shop = shop().await;
        let (_, _, intent) = declined(&shop).await;
        // Only the answers tell, and what is asked after them.
        for on in [
            json!({"webhook": "refund.created"}),
            json!({"webhook": "refund.updated"}),
            json!({"operation": "events.list"}),
        ] {
            let fault = if on["webhook"].is_null() {
                "drop_request"
            } else {
                "drop"
            };
            let lost = json!({"on": on, "fault": fault, "times": 1000});
            shop.provider.fault(lost).await;
        }
        let mut fault = wrong.clone();
        fault["on"] = json!({"operation": REFUND});
        fault["times"] = json!(5);
        shop.provider.fault(fault).await;

        is_paid(&shop, &intent, "pm_card_visa").await;
        is_given_back(&shop).await;
        println!("{wrong}");
        is_told_once(&shop).await;
        nothing_came_of_it(&shop).await;
    }
}

#[tokio::test]
async fn told_many_times_and_with_two_refunders_it_is_given_back_once() {
    let shop = shop().await;
    let (_, _, intent) = declined(&shop).await;
    let workers = Workers::on(shop.db());
    let till = shop.app().till.clone();
    workers.start(Refunder { till });
    let slow = json!({"on": {"operation": REFUND}, "fault": "delay", "delay_ms": 200, "times": 5});
    shop.provider.fault(slow).await;

    is_paid(&shop, &intent, "pm_card_visa").await;
    let events = shop.provider.events("payment_intent.succeeded").await;
    shop.provider.delivers(&events[0], 5).await;
    is_given_back(&shop).await;
    shop.provider.delivers(&events[0], 5).await;
    let told = shop.provider.events("refund.created").await;
    shop.provider.delivers(&told[0], 5).await;

    let asked = "select count(*) from outbox where event_type = 'payment.refund_requested'";
    assert_eq!(shop.count(asked).await, 1);
    let calls = shop.provider.calls("POST", "/v1/refunds").await;
    let keys: Vec<&Value> = calls.iter().map(|call| &call["idempotency_key"]).collect();
    assert_eq!(keys.len(), 1, "{keys:?}");
    is_told_once(&shop).await;
    nothing_came_of_it(&shop).await;
    workers.stop().await;
}

/// Banks take their time. Until the money is back, somebody should know.
#[tokio::test]
async fn a_refund_that_takes_days_is_open_until_it_has_arrived() {
    let shop = shop().await;
    let (buyer, status, intent) = declined(&shop).await;
    is_paid(&shop, &intent, "pm_card_pendingRefund").await;
    eventually("it is asked for", || async {
        shop.provider.ledger().await["refunds"]["total"] == 1
    })
    .await;
    assert_eq!(shop.count(OPEN).await, 1);
    assert!(!shop.report().await.ok);
    let page = buyer.sees(&status).await;
    assert_eq!(page.heading(), TOO_LATE);
    assert!(page.text("main").contains("€4.90 is on its way back"));
    assert_eq!(mails(&shop, "not_fulfilled").await.len(), 0);

    shop.provider.control("settle", json!({})).await;
    is_given_back(&shop).await;
    is_told_once(&shop).await;
    nothing_came_of_it(&shop).await;
}

/// The bank sends it back, days after it seemed to have taken it.
#[tokio::test]
async fn a_refund_that_comes_back_is_a_persons_again() {
    let shop = shop().await;
    let (buyer, status, intent) = declined(&shop).await;
    is_paid(&shop, &intent, "pm_card_refundFail").await;
    is_given_back(&shop).await;
    assert_eq!(mails(&shop, "not_fulfilled").await.len(), 1);

    shop.provider.control("settle", json!({})).await;
    let failed = "select count(*) from refunds where status = 'failed'";
    eventually("it has failed", || async { shop.count(failed).await == 1 }).await;
    let told = shop.provider.events("refund.created").await;
    shop.provider.delivers(&told[0], 3).await;
    assert_eq!(shop.count(failed).await, 1, "and does not succeed again");
    assert_eq!(shop.count(OPEN).await, 1);
    assert!(!shop.report().await.ok);
    let page = buyer.sees(&status).await;
    assert!(
        page.text("main")
            .contains("could not be given back by itself")
    );
}
