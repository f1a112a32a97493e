//! Who gets in, and what every answer has.

use std::net::TcpListener;

use boring_checkout::simulator::{Simulator, SimulatorConfig, WebhookTarget};

use super::world::{Answer, KEY, PURCHASE, World};

#[tokio::test]
async fn every_answer_has_the_headers_that_sdks_read() {
    let world = World::open().await;

    let paid = world.buys_with_key(PURCHASE, "a key").await;

    let request_id = paid.header("request-id").unwrap();
    assert!(request_id.starts_with("req_") && request_id.len() == 18);
    assert_eq!(paid.header("original-request"), Some(request_id));
    assert_eq!(paid.header("idempotency-key"), Some("a key"));
    assert_eq!(paid.header("idempotent-replayed"), None);
    assert_eq!(paid.header("stripe-should-retry"), Some("false"));
    assert_eq!(paid.header("content-type"), Some("application/json"));
    assert_eq!(paid.header("cache-control"), Some("no-cache, no-store"));
    assert!(paid.header("stripe-version").unwrap().ends_with(".endive"));
    let versioned = world
        .call(
            reqwest::Method::GET,
            "/v1/events",
            "",
            &[("stripe-version", "2026-07-29.dahlia")],
        )
        .await;
    assert_eq!(
        versioned.header("stripe-version"),
        Some("2026-07-29.dahlia")
    );
    let odd = world
        .call(
            reqwest::Method::GET,
            "/v1/events",
            "",
            &[("stripe-version", "latest")],
        )
        .await;
    assert_eq!(odd.status, 400);
}

#[tokio::test]
async fn nobody_gets_in_without_the_key() {
    let world = World::open().await;
    for path in [
        "/v1/payment_intents",
        "/v1/nothing",
        "/_control/ledger",
        "/_control/faults",
    ] {
        let none = world.client().get(world.url(path)).send().await.unwrap();
        let wrong = world
            .client()
            .get(world.url(path))
            .bearer_auth("sk_test_somebody_else")
            .send()
            .await
            .unwrap();
        assert_eq!(none.status(), 401, "{path}");
        let wrong = Answer::read(wrong).await.unwrap();
        assert_eq!(wrong.status, 401, "{path}");
        assert!(
            !String::from_utf8_lossy(&wrong.bytes).contains("sk_test_somebody_else"),
            "{path}"
        );
    }
    let basic = world
        .client()
        .get(world.url("/v1/payment_intents"))
        .basic_auth(KEY, Some(""))
        .send()
        .await
        .unwrap();
    assert_eq!(basic.status(), 200);
}

#[tokio::test]
async fn what_does_not_exist_is_404() {
    let world = World::open().await;
    let unknown_id = world.get("/v1/payment_intents/pi_nobody").await;
    let unknown_url = world.get("/v1/nothing/here").await;

    assert_eq!(unknown_id.status, 404);
    assert_eq!(unknown_id.error()["code"], "resource_missing");
    assert_eq!(unknown_url.status, 404);
    assert_eq!(
        unknown_url.error()["message"],
        "Unrecognized request URL (GET: /v1/nothing/here)."
    );
    assert_eq!(world.get("/elsewhere").await.status, 404);
    assert_eq!(world.get("/_control/elsewhere").await.status, 404);
    assert_eq!(
        world
            .call(reqwest::Method::DELETE, "/v1/payment_intents", "", &[])
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn what_cannot_start_says_why_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let with_database = |url: &str| SimulatorConfig {
        database_url: url.to_owned(),
        ..SimulatorConfig::default()
    };
    let with_webhook = |url: &str| SimulatorConfig {
        webhooks: vec![WebhookTarget {
            url: url.to_owned(),
            secret: String::new(),
        }],
        ..SimulatorConfig::default()
    };
    let on_a_taken_port = SimulatorConfig {
        listen: taken.local_addr().unwrap(),
        ..SimulatorConfig::default()
    };

    for (config, reason) in [
        (with_database("postgres://localhost/shop"), "sqlite:"),
        (
            with_database("sqlite:///proc/nowhere/provider.db"),
            "folder",
        ),
        (with_database("sqlite:///"), "unable to open"),
        (with_webhook("localhost:3000/hook"), "http://"),
        (with_webhook("nowhere"), "nowhere"),
        (on_a_taken_port, "cannot listen"),
    ] {
        let refusal = Simulator::start_with(config).await.unwrap_err().to_string();
        assert!(refusal.contains(reason), "{refusal}");
        assert!(!refusal.contains('\n'), "{refusal}");
    }
}
