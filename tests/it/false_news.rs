//! Events that are signed well and do not fit: other people's, of another amount, of another payment.

use serde_json::{Value, json};

use crate::world::{Letter, NOTHING, ONCE, Shop, Visitor, event};

const SUCCEEDED: &str = "payment_intent.succeeded";

/// A customer whose payment never reaches the provider, for as long as it is not mended.
async fn undecided(shop: &Shop) -> (Visitor, String) {
    let lost = json!({"on": {"operation": "payment_intents.create"}, "fault": "drop_request", "times": 100_000});
    shop.provider.fault(lost).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    (buyer, status)
}

async fn impatient() -> Shop {
    Shop::open_with(&["--provider-timeout", "300ms", "--lease", "500ms"]).await
}

fn id_in(status: &str) -> &str {
    status.trim_start_matches("/checkouts/")
}

async fn is_received(shop: &Shop, event: &Value) {
    let answer = Letter::of(event).to(&shop.url).await;
    assert_eq!(answer.status, 200, "{event}");
}

/// What the audit says of the discrepancies, and that it says nothing else.
async fn discrepancies(shop: &Shop) -> Vec<String> {
    let report = shop.report().await;
    let broken: Vec<_> = report.invariants.iter().filter(|one| !one.ok).collect();
    let names: Vec<_> = broken.iter().map(|one| one.name).collect();
    assert_eq!(names, ["discrepancies_are_resolved"], "{report}");
    assert!(!report.ok);
    broken[0].violations.clone()
}

#[tokio::test]
async fn r37_events_of_other_shops_and_of_the_other_mode_have_no_effect() {
    let shop = impatient().await;
    let (buyer, status) = undecided(&shop).await;
    let ours = event("evt_live", SUCCEEDED, "pi_1", id_in(&status));

    let mut without_reference = event("evt_a", SUCCEEDED, "pi_2", "");
    without_reference["data"]["object"]["metadata"] = json!({});
    is_received(&shop, &without_reference).await;
    for (place, name) in ["", "1", "order-7", "\u{0}", "é", " "].iter().enumerate() {
        let id = format!("evt_b{place}");
        is_received(&shop, &event(&id, SUCCEEDED, "pi_3", name)).await;
    }
    let of_another_shop = uuid::Uuid::now_v7().to_string();
    is_received(&shop, &event("evt_c", SUCCEEDED, "pi_4", &of_another_shop)).await;
    let mut live = ours;
    live["livemode"] = json!(true);
    is_received(&shop, &live).await;

    assert_ne!(buyer.sees(&status).await.heading(), "Paid");
    assert_eq!(shop.count("select count(*) from orders").await, 0);
    assert_eq!(shop.count("select count(*) from outbox").await, 0);
    let ignored = "select count(*) from processed_events where verdict = 'ignored'";
    assert_eq!(shop.count(ignored).await, 9);
    shop.provider.mends().await;
    shop.later(60);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r37_another_charge_for_a_paid_purchase_is_a_discrepancy() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.settles().await;

    for id in ["evt_1", "evt_2"] {
        is_received(&shop, &event(id, SUCCEEDED, "pi_other", id_in(&status))).await;
    }

    assert_eq!(buyer.sees(&status).await.heading(), "Paid");
    let found = discrepancies(&shop).await;
    assert_eq!(found.len(), 1, "told twice, opened once: {found:?}");
    assert!(found[0].starts_with("second_payment: "), "{found:?}");
    assert!(found[0].contains("pi_other"), "{found:?}");
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r37_another_charge_than_the_one_that_is_awaited_is_a_discrepancy() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_threeDSecure2Required");
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(
        buyer.sees(&status).await.heading(),
        "Your bank wants to ask you"
    );

    is_received(
        &shop,
        &event("evt_1", SUCCEEDED, "pi_other", id_in(&status)),
    )
    .await;
    for kind in ["payment_intent.payment_failed", "payment_intent.canceled"] {
        let of_other = event(&format!("evt_{kind}"), kind, "pi_other", id_in(&status));
        is_received(&shop, &of_other).await;
    }

    assert_eq!(
        buyer.sees(&status).await.heading(),
        "Your bank wants to ask you"
    );
    let found = discrepancies(&shop).await;
    assert!(found[0].starts_with("foreign_payment: "), "{found:?}");
    assert_eq!(shop.count("select count(*) from orders").await, 0);
}

/// The provider names two checkouts with one payment. Nothing of it may be answered with an error: it would be
/// sent again for days.
#[tokio::test]
async fn r37_the_payment_of_one_purchase_does_not_end_another() {
    let shop = impatient().await;
    let first = shop.visitor().with_cart("TEA-01", 1).await;
    let form = first.opens_checkout().await;
    let declined = form.with("payment_method", "pm_card_chargeDeclined");
    first.submits(&declined).await;
    let failures = shop.provider.events("payment_intent.payment_failed").await;
    let taken = failures[0]["data"]["object"]["id"].as_str().expect("an id");
    let (buyer, status) = undecided(&shop).await;

    let kinds = [
        "payment_intent.payment_failed",
        "payment_intent.canceled",
        "payment_intent.requires_action",
        SUCCEEDED,
    ];
    for kind in kinds {
        let mut misled = event(&format!("evt_{kind}"), kind, taken, id_in(&status));
        if kind == "payment_intent.requires_action" {
            misled["data"]["object"]["status"] = json!("requires_action");
            misled["data"]["object"]["next_action"] =
                json!({"redirect_to_url": {"url": "http://elsewhere.example"}});
        }
        is_received(&shop, &misled).await;
    }

    let found = discrepancies(&shop).await;
    assert!(found[0].starts_with("foreign_payment: "), "{found:?}");
    shop.provider.mends().await;
    shop.later(60);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r43_a_payment_of_another_amount_or_currency_pays_nothing() {
    let shop = impatient().await;
    let (buyer, status) = undecided(&shop).await;
    let wrong = [
        ("pi_cent", 1, "eur"),
        ("pi_dollar", 490, "usd"),
        ("pi_more", 491, "eur"),
        ("pi_huge", i64::MAX, "eur"),
        ("pi_minus", -490, "eur"),
        ("pi_odd", 490, "EUR "),
    ];
    for (intent, amount, currency) in wrong {
        let mut cheap = event(intent, SUCCEEDED, intent, id_in(&status));
        cheap["data"]["object"]["amount_received"] = json!(amount);
        cheap["data"]["object"]["currency"] = json!(currency);
        is_received(&shop, &cheap).await;
    }

    assert_ne!(buyer.sees(&status).await.heading(), "Paid");
    for table in [
        "select count(*) from orders",
        "select count(*) from payments",
        "select count(*) from outbox",
    ] {
        assert_eq!(shop.count(table).await, 0, "{table}");
    }
    let verdicts = "select count(*) from processed_events where verdict = 'discrepancy'";
    assert_eq!(shop.count(verdicts).await, 6);
    let found = discrepancies(&shop).await;
    for ((intent, ..), discrepancy) in wrong.iter().zip(&found) {
        assert!(discrepancy.starts_with("amount_differs: "), "{discrepancy}");
        assert!(discrepancy.contains(intent), "{discrepancy}");
    }

    // The right payment still comes, and a person closes the file.
    shop.provider.mends().await;
    shop.later(60);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    assert_eq!(discrepancies(&shop).await.len(), 6);
    shop.alters("update discrepancies set resolved_at = created_at")
        .await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn odd_texts_in_a_signed_event_are_answered_without_an_error() {
    let shop = impatient().await;
    let (_, status) = undecided(&shop).await;
    let long = "x".repeat(100_000);
    for (place, text) in ["\u{0}", "pi_\u{0}", "\u{202e}", &long, "'; --"]
        .into_iter()
        .enumerate()
    {
        for (field, kind) in [
            ("/id", SUCCEEDED),
            ("/id", "payment_intent.payment_failed"),
            ("/currency", SUCCEEDED),
            ("/last_payment_error/code", "payment_intent.payment_failed"),
        ] {
            let id = format!("evt_{place}{field}{kind}");
            let mut odd = event(&id, kind, "pi_1", id_in(&status));
            // Never the whole truth, so that nothing of it ends the purchase rightly.
            odd["data"]["object"]["amount_received"] = json!(1);
            let object = odd.pointer_mut("/data/object").expect("an object");
            *object.pointer_mut(field).expect("a field") = json!(text);
            is_received(&shop, &odd).await;
        }
    }
    assert_eq!(shop.count("select count(*) from orders").await, 0);
}

#[tokio::test]
async fn a_charge_that_nobody_asked_for_is_none_of_ours() {
    let shop = Shop::open().await;
    let stranger = reqwest::Client::builder()
        .tls_certs_only([])
        .build()
        .expect("a client");
    let charged = stranger
        .post(format!("{}/v1/payment_intents", shop.provider.url))
        .bearer_auth("sk_test_boring")
        .header("content-type", "application/x-www-form-urlencoded")
        .body("amount=490&currency=eur&confirm=true&payment_method=pm_card_visa&payment_method_types[0]=card");
    assert_eq!(charged.send().await.expect("an answer").status(), 200);
    shop.expects(NOTHING).await;
}

/// Not only of success: an event that ends a purchase, or attaches a payment to it, has to be about what was agreed.
#[tokio::test]
async fn r43_a_decline_or_a_delay_of_another_amount_ends_nothing() {
    for (kind, status) in [
        ("payment_intent.payment_failed", "requires_payment_method"),
        ("payment_intent.canceled", "canceled"),
        ("payment_intent.processing", "processing"),
    ] {
        let shop = impatient().await;
        let (buyer, page) = undecided(&shop).await;
        let mut news = event("evt_1", kind, "pi_other", id_in(&page));
        news["data"]["object"]["status"] = json!(status);
        news["data"]["object"]["amount"] = json!(1);
        news["data"]["object"]["last_payment_error"] =
            json!({"type": "card_error", "code": "card_declined"});

        is_received(&shop, &news).await;
        assert_eq!(discrepancies(&shop).await.len(), 1, "{kind}");

        shop.provider.mends().await;
        assert_eq!(buyer.waits_at(&page).await, "Paid", "{kind}");
    }
}
