//! The customer of a program comes back from the bank's page to the shop, where they have no session.

use std::time::Duration;

use serde_json::json;

use crate::{
    authentication,
    world::{Answer, NOTHING, Page, Shop, Visitor, fresh_key, tea, with},
};

const ASKS: &str = "pm_card_threeDSecure2Required";
const DAY: Duration = Duration::from_hours(24);

/// A purchase of a program's that waits for its customer's bank.
async fn asked(shop: &Shop) -> Answer {
    let body = with(&tea(), "payment_method", ASKS);
    let asked = shop.caller().buys(&fresh_key(), &body).await;
    assert_eq!(asked.status, 202, "{asked:?}");
    asked
}

/// Answers the bank at `page`, and says where on the shop's pages that leads.
async fn answers(shop: &Shop, page: &str, verdict: &str) -> String {
    let path = page
        .strip_prefix(&shop.provider.url)
        .expect("the provider's");
    let pressed = Visitor::at(&shop.provider.url)
        .posts(path, &[("verdict", verdict)])
        .await;
    let back = pressed.location().strip_prefix(&shop.url);
    back.expect("the shop's").to_owned()
}

fn links(page: &Page, start: &str) -> Vec<String> {
    let links = page.attributes("main a", "href");
    links
        .into_iter()
        .filter(|it| it.starts_with(start))
        .collect()
}

#[tokio::test]
async fn whoever_has_the_link_sees_how_it_stands_and_nobody_else_does() {
    let shop = Shop::open().await;
    let mine = asked(&shop).await;
    let path = format!("/checkouts/{}", mine.text("id"));
    let back = answers(&shop, &mine.text("next_action_url"), "approve").await;
    assert!(back.starts_with(&format!("{path}?key=")), "{back}");

    let customer = shop.visitor();
    assert_eq!(customer.waits_at(&back).await, "Paid");
    let page = customer.sees(&back).await;
    let order = page.link_that_starts(&format!("{}/orders/", shop.url));
    let order = customer.sees(order.trim_start_matches(&shop.url)).await;
    assert_eq!(order.status, 200, "{}", order.html);
    assert!(page.text("main").contains("€4.90"));

    let (_, key) = back.split_once("key=").expect("a key");
    let key = key.split('&').next().expect("a key");
    let other = shop.caller().buys(&fresh_key(), &tea()).await.text("id");
    let (buyer, of_a_session) = authentication::asked(&shop).await;
    let other_digit = if key.ends_with('0') { "1" } else { "0" };
    let wrong = format!("{}{other_digit}", &key[..key.len() - 1]);
    for stranger in [
        path.clone(),
        format!("{path}?key="),
        format!("{path}?key={wrong}"),
        format!("{path}?key=9{key}"),
        format!("/checkouts/{other}?key={key}"),
        format!("{of_a_session}?key={key}"),
        format!("/orders/{}?key={key}", order.text(".order-number")),
    ] {
        assert_eq!(customer.sees(&stranger).await.status, 404, "{stranger}");
    }
    // A browser that has a session comes back by it alone.
    let question = buyer.sees(&of_a_session).await;
    let question = question.link_that_starts(&shop.provider.url);
    let back_there = answers(&shop, &question, "refuse").await;
    assert!(!back_there.contains("key="), "{back_there}");

    shop.app().till.clock.advance(14 * DAY);
    assert_eq!(customer.sees(&back).await.status, 404, "its time is over");
}

#[tokio::test]
async fn while_it_waits_and_after_a_decline_the_page_speaks_of_no_cart() {
    let shop = Shop::open().await;
    shop.provider
        .fault(json!({"on": {"webhook": "*"}, "fault": "drop", "times": 99}))
        .await;
    let asked = asked(&shop).await;
    let question = asked.text("next_action_url");
    let back = answers(&shop, &question, "refuse").await;
    let customer = shop.visitor();
    let waits = customer.sees(&back).await;
    let again = links(&waits, "/checkouts/");
    for link in &again {
        assert_eq!(customer.sees(link).await.status, 200, "{link}");
    }
    shop.later(5);
    assert_eq!(customer.waits_at(&back).await, "The payment was declined");
    let page = customer.sees(&back).await;
    assert!(page.text("main").contains("You were not charged."));
    assert!(!page.text("main").contains("cart"), "{}", page.html);
    shop.provider.mends().await;
    shop.has(NOTHING).await;
}
