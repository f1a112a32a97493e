//! What a Prometheus server reads.

use std::collections::BTreeMap;

use serde_json::json;

use crate::world::{Letter, NOTHING, ONCE, Shop, event};

/// Name with labels, and value.
async fn metrics(shop: &Shop) -> BTreeMap<String, String> {
    let page = shop.visitor().sees("/metrics").await;
    assert_eq!(page.status, 200);
    assert!(
        page.header("content-type")
            .starts_with("text/plain; version=0.0.4")
    );
    assert_eq!(page.header("set-cookie"), "");
    let mut all = BTreeMap::new();
    for line in page.html.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').expect("a value");
        let value = value
            .parse()
            .unwrap_or_else(|_| panic!("no number: {line}"));
        let before = all.insert(name.to_owned(), value);
        assert_eq!(before, None, "{name} is there twice");
    }
    all
}

#[tokio::test]
async fn a_purchase_shows_in_all_numbers_that_it_concerns() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.settles().await;
    let mine = event("evt_1", "payment_intent.succeeded", "pi_unknown", "nobody");
    for _ in 0..2 {
        assert_eq!(Letter::of(&mine).to(&shop.url).await.status, 200);
    }
    let unsigned = Letter::of(&mine).signed_with("whsec_wrong");
    assert_eq!(unsigned.to(&shop.url).await.status, 400);

    let all = metrics(&shop).await;
    for (name, value) in [
        (r#"boring_checkouts{status="paid"}"#, "1"),
        (r#"boring_checkouts{status="pending"}"#, "0"),
        ("boring_checkouts_pending_age_seconds", "0"),
        ("boring_outbox_unpublished", "1"),
        ("boring_outbox_parked", "0"),
        ("boring_mails_waiting", "0"),
        ("boring_discrepancies_open", "0"),
        ("boring_database_up", "1"),
        (r#"boring_webhooks_total{verdict="duplicate"}"#, "1"),
        (r#"boring_webhooks_total{verdict="refused"}"#, "1"),
        (r#"boring_webhooks_total{verdict="failed"}"#, "0"),
        (
            r#"boring_provider_requests_total{outcome="no_answer"}"#,
            "0",
        ),
        (
            r#"boring_http_request_duration_seconds_count{route="/checkout",status="3xx"}"#,
            "1",
        ),
        (
            r#"boring_http_request_duration_seconds_bucket{route="/checkout",status="3xx",le="+Inf"}"#,
            "1",
        ),
    ] {
        assert_eq!(
            all.get(name).map(String::as_str),
            Some(value),
            "{name} in {all:#?}"
        );
    }
    assert_ne!(all[r#"boring_provider_requests_total{outcome="ok"}"#], "0");
    assert_ne!(all[r#"boring_webhooks_total{verdict="ignored"}"#], "0");
    shop.expects(ONCE).await;
}

/// No label comes from outside: else whoever likes fills the memory, and customers are told of.
#[tokio::test]
async fn strangers_add_no_labels_and_nobody_is_told_of() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    for path in [
        "/products/NONE-1",
        "/products/NONE-2",
        "/nothing/here",
        "/also/nothing?email=x%40y",
        "/admin/secret/path",
        "/admin/checkouts/1",
        "/static/none.css",
    ] {
        shop.visitor().sees(path).await;
        shop.operator().sees(path).await;
    }
    let all = metrics(&shop).await;
    let routes: std::collections::BTreeSet<_> = all
        .keys()
        .filter_map(|name| name.split_once("route=\"")?.1.split('"').next())
        .collect();
    for route in &routes {
        let is_ours = [
            "/products/{sku}",
            "none",
            "/static/{*path}",
            "/admin/checkouts/{id}",
        ];
        let is_known = is_ours.contains(route)
            || [
                "/",
                "/cart",
                "/cart/items",
                "/checkout",
                "/checkouts/{id}",
                "/webhooks/provider",
            ]
            .contains(route);
        assert!(is_known, "{route} in {routes:?}");
    }
    let text = format!("{all:?}");
    for private in ["@", "buyer", "pi_", &status] {
        assert!(!text.contains(private), "{private} in {text}");
    }
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn what_is_stuck_shows_with_its_age_and_is_read_again_after_ten_seconds() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    let lost = json!({"on": {"operation": "*"}, "fault": "drop_response", "times": 1000});
    shop.provider.fault(lost).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    let before = metrics(&shop).await;
    assert_eq!(before[r#"boring_checkouts{status="pending"}"#], "1");
    assert_ne!(
        before[r#"boring_provider_requests_total{outcome="no_answer"}"#],
        "0"
    );
    shop.later(9);
    let kept = metrics(&shop).await;
    assert_eq!(kept["boring_outbox_unpublished"], "0");
    shop.provider.mends().await;
    shop.later(60);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.later(11);
    shop.alters("update outbox set parked_at = created_at, last_error = 'x'")
        .await;
    let after = metrics(&shop).await;
    assert_eq!(after[r#"boring_checkouts{status="pending"}"#], "0");
    assert_eq!(after["boring_outbox_parked"], "1");
    // Whoever asks again at once costs the database nothing.
    shop.alters("update outbox set parked_at = null").await;
    shop.later(9);
    assert_eq!(metrics(&shop).await["boring_outbox_parked"], "1");
    shop.later(2);
    assert_eq!(metrics(&shop).await["boring_outbox_parked"], "0");
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn while_the_database_is_away_the_counters_are_still_there() {
    let shop = Shop::open().await;
    shop.visitor().sees("/").await;
    let (probe, _) = crate::world::failing("08006", usize::MAX, |boundary| {
        use boring_checkout::probe::Boundary::{AfterBegin, AfterSnapshot};
        matches!(boundary, AfterBegin | AfterSnapshot)
    });
    let front = crate::world::front(&shop, probe).await;
    let page = crate::world::Visitor::at(&front).sees("/metrics").await;
    assert_eq!(page.status, 200);
    assert!(
        page.html.contains("boring_database_up 0\n"),
        "{}",
        page.html
    );
    assert!(
        !page.html.contains("boring_checkouts"),
        "nothing is made up"
    );
    assert!(
        page.html.contains(r#"route="/",status="2xx""#),
        "{}",
        page.html
    );
    shop.expects(NOTHING).await;
}
