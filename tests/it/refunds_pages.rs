//! The operator's form that gives money back, and the page that says how it stands.

use boring_checkout::{
    ids::RefundId,
    refunds::{Requester, Wish},
};
use futures_util::future::join_all;
use serde_json::json;
use uuid::Uuid;

use crate::{
    amounts::sells_tea_for,
    late_success::mails,
    refund_notices::{BOOKED, RESERVED, came_to, gives_back, is, order_page, paid, shop},
    refunds_requested::{asks, of, wish},
    world::{Form, Page, Shop, client},
};

/// Where the refunds of the one order are.
pub async fn refunds_of(shop: &Shop) -> String {
    let number = shop.db().query("select number from orders");
    let number: String = number.fetch_scalar().await.expect("a number");
    format!("/admin/orders/{number}/refunds")
}

async fn opens(shop: &Shop) -> Form {
    let page = shop
        .operator()
        .sees(&format!("{}/new", refunds_of(shop).await))
        .await;
    assert_eq!(page.heading(), "Give money back", "{}", page.html);
    page.fields()
}

async fn sends(shop: &Shop, form: &Form) -> Page {
    shop.operator().submits(&refunds_of(shop).await, form).await
}

async fn asked_the_provider(shop: &Shop) -> usize {
    shop.provider.calls("POST", "/v1/refunds").await.len()
}

#[tokio::test]
async fn what_is_on_its_way_is_not_offered_again() {
    let shop = shop().await;
    paid(&shop, "pm_card_pendingRefund").await;
    let part = of(190, wish(&shop).await);
    asks(shop.app(), &part).await.expect("asked for");
    is(&shop, "pending", 1).await;
    assert_eq!(opens(&shop).await.field("remaining"), "300");
}

#[tokio::test]
async fn r61_ten_at_once_lead_to_the_one_refund() {
    let shop = shop().await;
    let (buyer, _) = paid(&shop, "pm_card_visa").await;
    let form = opens(&shop).await;
    assert_eq!(
        (form.field("amount"), form.field("remaining")),
        ("4.90", "490")
    );
    let form = form
        .with("restock", "yes")
        .with("reason", "It <b>broke</b>");
    let pages = join_all((0..10).map(|_| sends(&shop, &form))).await;
    let places: Vec<&str> = pages.iter().map(Page::location).collect();
    assert_eq!(places, [places[0]; 10]);

    let page = shop.operator().sees(places[0]).await;
    assert_eq!(page.heading(), "Given back");
    assert!(page.text("main").contains("€4.90 was given back on"));
    assert_eq!(page.text("bdi"), "It <b>broke</b>");
    assert!(!page.html.contains("http-equiv=\"refresh\""));
    assert_eq!(asked_the_provider(&shop).await, 1);
    assert_eq!(mails(&shop, "refund_notice").await.len(), 1);
    let sold = "select cast(sum(stocked - stock) as bigint) from products";
    assert_eq!(shop.count(sold).await, 0);
    assert_eq!(order_page(&shop, &buyer).await.text(".badge"), "Refunded");
    came_to(&shop, 1, 490).await;
    // There is nothing to type any more.
    let page = shop
        .operator()
        .sees(&format!("{}/new", refunds_of(&shop).await))
        .await;
    assert!(page.text("main").contains("Nothing is left to give back"));
    assert!(page.texts("main form").is_empty());
}

#[tokio::test]
async fn r61_sent_again_an_hour_later_it_leads_to_the_same_refund() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    let form = opens(&shop).await.with("amount", "1.90");
    let place = sends(&shop, &form).await.location().to_owned();
    is(&shop, "succeeded", 1).await;
    shop.finishes().await;
    shop.later(3600);
    let reworded = form.with("reason", "As was asked for on the telephone");
    assert_eq!(sends(&shop, &reworded).await.location(), place);
    assert_eq!(asked_the_provider(&shop).await, 1);
    came_to(&shop, 1, 190).await;
}

/// It was open in another tab when something was given back.
#[tokio::test]
async fn r61_a_form_that_shows_what_is_left_no_more_comes_back_with_what_is() {
    let shop = shop().await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    let form = opens(&shop)
        .await
        .with("amount", "1.00")
        .with("reason", "late");
    gives_back(&shop, &intent, 190).await;
    is(&shop, "succeeded", 1).await;

    let page = sends(&shop, &form).await;
    assert_eq!(page.status, 409);
    assert!(page.text("title").starts_with("Error: "));
    let said = page.text("[role=alert]");
    assert!(
        said.contains("has changed to €3.00. Nothing was done."),
        "{said}"
    );
    assert_eq!(asked_the_provider(&shop).await, 1, "the one by hand");
    let again = page.fields();
    for (name, value) in [("amount", "1.00"), ("reason", "late"), ("remaining", "300")] {
        assert_eq!(again.field(name), value);
    }
    // Whoever has seen that may want it still.
    sends(&shop, &again).await.location();
    is(&shop, "succeeded", 2).await;
    came_to(&shop, 2, 290).await;

    // And when nothing is left, there is nothing to want.
    gives_back(&shop, &intent, 200).await;
    is(&shop, "succeeded", 3).await;
    let fresh = form.with("idempotency_key", &Uuid::new_v4().to_string());
    let page = sends(&shop, &fresh).await;
    assert_eq!(page.status, 409);
    assert!(page.texts("main form").is_empty());
    came_to(&shop, 3, 490).await;
}

#[tokio::test]
async fn r64_amounts_that_cannot_be_are_said_beside_the_field() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    let form = opens(&shop).await;
    for amount in [
        "",
        "0",
        "0.00",
        "-1",
        "-0.01",
        "0.001",
        "4.901",
        "4.91",
        "1e2",
        "1,00",
        "€1",
        "nothing",
        "99999999999999999999999999",
        "4.90 ".repeat(9).as_str(),
    ] {
        let page = sends(&shop, &form.with("amount", amount)).await;
        assert_eq!(page.status, 422, "{amount:?}");
        assert!(!page.text("#amount-error").is_empty(), "{amount:?}");
        assert_eq!(page.fields().field("amount"), amount.trim());
        assert!(page.text("title").starts_with("Error: "));
    }
    let page = sends(&shop, &form.with("amount", "4.89").with("restock", "yes")).await;
    assert_eq!(page.status, 422);
    assert!(
        page.text("#restock-error")
            .contains("only with all that is left")
    );
    assert_eq!(page.fields().field("restock"), "yes");
    let page = sends(&shop, &form.with("reason", &"x".repeat(201))).await;
    assert_eq!(page.status, 422);
    assert!(page.text("#reason-error").contains("200 characters"));

    // What nobody types.
    let tampered = [
        form.with("idempotency_key", ""),
        form.with("idempotency_key", "00000000-0000-0000-0000-000000000000"),
        form.without("idempotency_key"),
        form.with("remaining", "all"),
        form.without("remaining"),
    ];
    for form in tampered {
        let page = sends(&shop, &form).await;
        assert_eq!(page.status, 422);
        assert!(
            page.text("[role=alert]")
                .contains("did not arrive as we sent it")
        );
    }
    assert_eq!(shop.count(BOOKED).await, 0);
    assert_eq!(shop.count(RESERVED).await, 0);
    assert_eq!(asked_the_provider(&shop).await, 0);
    // The form itself is still good.
    sends(&shop, &form).await.location();
    is(&shop, "succeeded", 1).await;
    came_to(&shop, 1, 490).await;
}

#[tokio::test]
async fn a_key_that_is_another_refunds_or_another_askers_is_refused() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    let form = opens(&shop).await.with("amount", "1.00");
    let place = sends(&shop, &form).await.location().to_owned();
    is(&shop, "succeeded", 1).await;
    let theirs = Wish {
        requester: Requester::ApiKey(Uuid::new_v4()),
        ..of(100, wish(&shop).await)
    };
    asks(shop.app(), &theirs).await.expect("made");
    is(&shop, "succeeded", 2).await;
    for used in [
        form.with("amount", "1.01"),
        form.with("amount", "2.90"),
        opens(&shop)
            .await
            .with("amount", "1.00")
            .with("idempotency_key", &theirs.key.to_string()),
    ] {
        let page = sends(&shop, &used).await;
        assert_eq!(page.status, 422);
        assert_eq!(page.heading(), "This form was already used");
    }
    assert_eq!(sends(&shop, &form).await.location(), place);
    came_to(&shop, 2, 200).await;
}

/// Nobody but the operator, from nowhere else, and each refund under its own order.
#[tokio::test]
async fn what_is_not_there_is_not_found_and_strangers_see_nothing() {
    let shop = shop().await;
    let (buyer, _) = paid(&shop, "pm_card_visa").await;
    let form = opens(&shop).await;
    let refunds = refunds_of(&shop).await;
    let nobody = RefundId::new();
    for path in [
        format!("{refunds}/{nobody}"),
        format!("{refunds}/0"),
        "/admin/orders/0000-0000-00/refunds/new".to_owned(),
        "/admin/orders/none/refunds/new".to_owned(),
    ] {
        assert_eq!(shop.operator().sees(&path).await.status, 404, "{path}");
    }
    let elsewhere = "/admin/orders/0000-0000-00/refunds";
    let page = shop.operator().submits(elsewhere, &form).await;
    assert_eq!(page.status, 404);

    let stranger = buyer.sees(&format!("{refunds}/new")).await;
    assert_eq!(stranger.status, 401);
    let fields: Vec<_> = form
        .0
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(buyer.posts(&refunds, &fields).await.status, 401);
    let operator = shop.operator();
    let forged = operator.post(&refunds, &fields);
    let forged = forged.header("sec-fetch-site", "cross-site");
    assert_eq!(operator.send(forged).await.status, 403);
    assert_eq!(shop.count(BOOKED).await, 0);

    // A refund of one order is not to be seen under another one.
    let place = sends(&shop, &form).await.location().to_owned();
    is(&shop, "succeeded", 1).await;
    let other = shop.visitor().with_cart("TEA-01", 1).await;
    let status = other.buys().await;
    assert_eq!(other.waits_at(&status).await, "Paid");
    let others = shop
        .db()
        .query("select number from orders order by created_at desc limit 1");
    let others: String = others.fetch_scalar().await.expect("a number");
    let id = place.rsplit('/').next().expect("an id");
    let page = shop
        .operator()
        .sees(&format!("/admin/orders/{others}/refunds/{id}"))
        .await;
    assert_eq!(page.status, 404);
}

/// Until it is known, the page says neither.
#[tokio::test]
async fn an_open_refund_says_so_and_looks_again_by_itself() {
    let shop = Shop::open_with(&["--provider-timeout", "300ms"]).await;
    paid(&shop, "pm_card_visa").await;
    let lost = json!({"on": {"operation": "refunds.create"}, "fault": "hang", "times": 4});
    shop.provider.fault(lost).await;
    let form = opens(&shop).await;
    let place = sends(&shop, &form).await.location().to_owned();
    let page = shop.operator().sees(&place).await;
    assert_eq!(page.heading(), "The provider is being asked");
    let text = page.text("main");
    assert!(
        text.contains("Whether €4.90 has gone back is not known yet"),
        "{text}"
    );
    assert!(
        !text.contains("Given back") && !text.contains("Not given back"),
        "{text}"
    );
    assert!(page.html.contains("http-equiv=\"refresh\""));
    assert_eq!(sends(&shop, &form).await.location(), place);
    let page = shop
        .operator()
        .sees(&format!("{}/new", refunds_of(&shop).await))
        .await;
    assert!(page.text("main").contains("On its way back €4.90"));
}

#[tokio::test]
async fn the_page_follows_a_slow_bank_and_one_that_sends_it_back() {
    let shop = shop().await;
    paid(&shop, "pm_card_pendingRefund").await;
    let place = sends(&shop, &opens(&shop).await)
        .await
        .location()
        .to_owned();
    let page = shop.operator().sees(&place).await;
    assert_eq!(page.heading(), "On its way back");
    assert!(page.html.contains("http-equiv=\"refresh\""));
    shop.provider.control("settle", json!({})).await;
    is(&shop, "succeeded", 1).await;
    assert_eq!(shop.operator().sees(&place).await.heading(), "Given back");

    let shop = crate::refund_notices::shop().await;
    paid(&shop, "pm_card_refundFail").await;
    let place = sends(&shop, &opens(&shop).await)
        .await
        .location()
        .to_owned();
    is(&shop, "succeeded", 1).await;
    shop.provider.control("settle", json!({})).await;
    is(&shop, "failed", 1).await;
    let page = shop.operator().sees(&place).await;
    assert_eq!(page.heading(), "Not given back");
    assert!(page.text("main").contains("has sent it back"));
    assert!(!page.html.contains("http-equiv=\"refresh\""));
}

/// The money is not at the provider any more, of which we have not heard.
#[tokio::test]
async fn the_page_says_that_the_provider_refuses() {
    let shop = Shop::open().await;
    let (_, intent) = paid(&shop, "pm_card_visa").await;
    shop.settles().await;
    shop.provider.loses_webhooks().await;
    gives_back(&shop, &intent, 490).await;
    let place = sends(&shop, &opens(&shop).await)
        .await
        .location()
        .to_owned();
    let page = shop.operator().sees(&place).await;
    assert_eq!(page.heading(), "Not given back");
    assert!(
        page.text("main")
            .contains("The provider refuses it: charge_already_refunded")
    );
    shop.provider.mends().await;
    let event = shop.provider.events("refund.created").await.remove(0);
    crate::world::Letter::of(&event).to(&shop.url).await;
    came_to(&shop, 1, 490).await;
}

/// Ten of a currency with two decimals, with none, and with three of which the last is 0.
#[tokio::test]
async fn r64_thirds_end_at_exactly_zero() {
    for (currency, minor, thirds, left, total, between) in [
        (
            "eur",
            1000,
            ["3.33", "3.33", "3.34"],
            ["10.00", "6.67", "3.34"],
            "€10.00",
            "0.001",
        ),
        (
            "jpy",
            1000,
            ["333", "333", "334"],
            ["1000", "667", "334"],
            "¥1000",
            "0.5",
        ),
        (
            "kwd",
            10_000,
            ["3.33", "3.330", "3.340"],
            ["10.000", "6.670", "3.340"],
            "KWD 10.000",
            "1.235",
        ),
    ] {
        let flags = ["--currency", currency, "--tax-rates", ""];
        let shop = Shop::open_with_workers(&flags).await;
        sells_tea_for(&shop, minor).await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let status = buyer.buys().await;
        assert_eq!(buyer.waits_at(&status).await, "Paid");
        let refused = sends(&shop, &opens(&shop).await.with("amount", between)).await;
        assert_eq!(refused.status, 422);
        assert!(!refused.text("#amount-error").is_empty());
        for (n, (amount, left)) in (1..).zip(thirds.into_iter().zip(left)) {
            let form = opens(&shop).await;
            assert_eq!(form.field("amount"), left);
            sends(&shop, &form.with("amount", amount)).await.location();
            is(&shop, "succeeded", n).await;
        }
        let page = order_page(&shop, &buyer).await;
        assert_eq!(page.text(".badge"), "Refunded");
        let text = page.text("main").replace('\u{a0}', " ");
        assert!(
            text.contains(&format!("Given back in all {total}")),
            "{text}"
        );
        assert!(!text.contains("Not refunded"), "{text}");
        let notices = mails(&shop, "refund_notice").await;
        assert_eq!(notices.len(), 3);
        let plain = notices.iter().map(|mail| mail.part("text/plain"));
        assert_eq!(plain.filter(|it| it.contains("Nothing is left")).count(), 1);
        came_to(&shop, 3, minor).await;
    }
}

/// The address is typed with a wrong method, or a body that is no form.
#[tokio::test]
async fn what_is_no_form_changes_nothing() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    let refunds = refunds_of(&shop).await;
    assert_eq!(shop.operator().sees(&refunds).await.status, 405);
    let body = client()
        .post(format!("{}{refunds}", shop.url))
        .basic_auth("admin", Some(crate::world::PASSWORD))
        .header("content-type", "application/json")
        .body("{}");
    let answer = Page::of(body.send().await.expect("an answer")).await;
    assert_eq!(answer.status, 415);
    assert_eq!(answer.heading(), "This form did not arrive as it was sent");
    assert_eq!(shop.count(BOOKED).await, 0);
}
