//! What was heard, and asking for an event again: `boring-checkout events`.

use serde_json::Value;

use crate::world::{ONCE, Shop, command};

async fn redeliver(shop: &Shop, event: &str) -> String {
    let arguments = [
        "events",
        "redeliver",
        event,
        "--provider-url",
        &shop.provider.url,
    ];
    command(&shop.database, &arguments).await
}

async fn the_event(shop: &Shop, kind: &str) -> String {
    let events = shop.provider.events(kind).await;
    let id = events.first().and_then(|event| event.get("id"));
    id.and_then(Value::as_str).expect("an event").to_owned()
}

/// Neither the answer nor a webhook arrived, and nobody looks by itself.
#[tokio::test]
async fn an_event_that_never_came_can_be_asked_for_and_takes_effect_once() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    shop.provider.loses_answers().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    buyer.buys().await;
    let event = the_event(&shop, "payment_intent.succeeded").await;
    assert_eq!(
        command(&shop.database, &["events", "list"]).await,
        "",
        "nothing was heard"
    );

    let told = redeliver(&shop, &event).await;
    assert_eq!(
        told,
        format!("{event}  payment_intent.succeeded  was new, and took effect\n")
    );
    assert_eq!(
        shop.count("select count(*) from orders").await,
        1,
        "it is paid"
    );
    let told = redeliver(&shop, &event).await;
    assert!(
        told.contains("had been processed before: nothing was changed"),
        "{told}"
    );

    let listed = command(&shop.database, &["events", "list"]).await;
    let line = listed.strip_suffix('\n').expect("one line");
    assert!(
        line.contains(&event) && line.ends_with("applied"),
        "{listed}"
    );
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn the_newest_events_are_listed_first_and_as_many_as_wanted() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.hears_everything().await;

    let all = command(&shop.database, &["events", "list"]).await;
    let heard = shop.count("select count(*) from processed_events").await;
    assert_eq!(i64::try_from(all.lines().count()), Ok(heard), "{all}");
    let times: Vec<&str> = all.lines().map(|line| &line[..20]).collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older), "{all}");
    let one = command(&shop.database, &["events", "list", "--limit", "1"]).await;
    assert_eq!(one.lines().next(), all.lines().next());
    assert_eq!(one.lines().count(), 1);
    shop.expects(ONCE).await;
}
