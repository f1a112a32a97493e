//! Each way in which a request can fail.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::world::{Answer, KEY, PURCHASE, World, eventually};

const CREATE: &str = "/v1/payment_intents";

/// Sends a purchase over a bare connection and returns everything that comes back until it is closed.
async fn raw_purchase(world: &World, fault: &str) -> std::io::Result<Vec<u8>> {
    let address = world.url("").replace("http://", "");
    let mut stream = TcpStream::connect(&address).await?;
    let request = format!(
        "POST {CREATE} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {KEY}\r\nIdempotency-Key: k\r\n\
         Boring-Fault: {fault}\r\nContent-Length: {}\r\n\r\n{PURCHASE}",
        PURCHASE.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer)
}

async fn with_fault(world: &World, fault: &str) -> Answer {
    world
        .call(
            Method::POST,
            CREATE,
            PURCHASE,
            &[("idempotency-key", "k"), ("boring-fault", fault)],
        )
        .await
}

#[tokio::test]
async fn a_dropped_request_never_happened() {
    let world = World::open().await;

    let received = raw_purchase(&world, "drop_request").await.unwrap();

    assert_eq!(received, b"", "not a byte");
    assert_eq!(world.ledger().await["payment_intents"]["total"], 0);
    let journal = world.get("/_control/requests").await.body;
    assert_eq!(journal["data"][0]["fault"], "drop_request");
    assert_eq!(journal["data"][0]["status"], Value::Null);
    assert_eq!(
        world
            .buys_with_key(PURCHASE, "k")
            .await
            .header("idempotent-replayed"),
        None
    );
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn a_dropped_response_hides_a_payment_that_happened() {
    let world = World::open().await;

    let received = raw_purchase(&world, "drop_response").await.unwrap();

    assert_eq!(received, b"", "not a byte");
    assert_eq!(world.succeeded().await, 1);
    let again = world.buys_with_key(PURCHASE, "k").await;
    assert_eq!(again.status, 200);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn a_client_sees_a_drop_as_a_broken_connection() {
    let world = World::open().await;
    world
        .faults(json!({"on": {"operation": "payment_intents.create"}, "fault": "drop_response"}))
        .await;

    let lost = world
        .try_call(Method::POST, CREATE, PURCHASE, &[("idempotency-key", "k")])
        .await;

    assert!(lost.is_err_and(|error| !error.is_timeout() && error.status().is_none()));
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn a_hanging_request_never_happened_and_holds_nobody_up() {
    let world = World::open().await;
    let hanging = with_fault(&world, "hang");
    let meanwhile = async {
        eventually("the request has arrived", || async {
            !world.get("/_control/requests").await.body["data"]
                .as_array()
                .unwrap()
                .is_empty()
        })
        .await;
        world.buys_with_key(PURCHASE, "k").await
    };

    let paid = tokio::select! {
        _ = hanging => panic!("a hanging request was answered"),
        paid = meanwhile => paid,
    };

    assert_eq!(paid.status, 200);
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn an_error_before_leaves_no_trace() {
    let world = World::open().await;

    let failed = with_fault(&world, "error_before; status=503").await;
    let retried = world.buys_with_key(PURCHASE, "k").await;

    assert_eq!(failed.status, 503);
    assert_eq!(failed.error()["type"], "api_error");
    assert_eq!(retried.status, 200);
    assert_eq!(retried.header("idempotent-replayed"), None);
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn an_error_after_is_stored_although_the_money_was_taken() {
    let world = World::on_disk(vec![]).await;

    let failed = with_fault(&world, "error_after").await;
    let world = world.restart().await;
    let retried = world.buys_with_key(PURCHASE, "k").await;

    assert_eq!(failed.status, 500);
    assert_eq!(failed.header("stripe-should-retry"), Some("false"));
    assert_eq!(retried.status, 500);
    assert_eq!(retried.bytes, failed.bytes);
    assert_eq!(retried.header("idempotent-replayed"), Some("true"));
    assert_eq!(world.succeeded().await, 1);
    let charge = world.get("/v1/charges").await.body["data"][0].clone();
    assert_eq!(charge["status"], "succeeded");
}

#[tokio::test]
async fn a_rate_limit_is_not_stored() {
    let world = World::open().await;

    let limited = with_fault(&world, "rate_limit").await;
    let retried = world.buys_with_key(PURCHASE, "k").await;

    assert_eq!(limited.status, 429);
    assert_eq!(limited.error()["code"], "rate_limit");
    assert_eq!(retried.status, 200);
}

#[tokio::test]
async fn a_delayed_answer_comes_after_the_payment() {
    let world = World::open().await;

    let paid = with_fault(&world, "delay; delay_ms=1").await;

    assert_eq!(paid.status, 200);
    let journal = world.get("/_control/requests").await.body;
    assert_eq!(journal["data"][0]["fault"], "delay");
    assert_eq!(journal["data"][0]["status"], 200);
    assert_eq!(journal["data"][0]["idempotency_key"], "k");
}

#[tokio::test]
async fn a_fault_waits_for_its_operation_and_its_turn() {
    let world = World::open().await;
    world
        .faults(json!({"on": {"operation": "payment_intents.create"}, "fault": "rate_limit", "skip": 1, "times": 2}))
        .await;
    world.get("/v1/payment_intents").await;

    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(world.buys(PURCHASE).await.status);
    }

    assert_eq!(statuses, [200, 429, 429, 200]);
    assert_eq!(world.get("/_control/faults").await.body["data"], json!([]));
}

#[tokio::test]
async fn faults_can_be_cleared() {
    let world = World::open().await;
    world
        .faults(json!({"on": {"operation": "*"}, "fault": "rate_limit", "times": 100}))
        .await;
    assert_eq!(world.get("/v1/events").await.status, 429);

    world
        .call(Method::DELETE, "/_control/faults", "", &[])
        .await;

    assert_eq!(world.get("/v1/events").await.status, 200);
}

#[tokio::test]
async fn a_malformed_fault_is_refused_with_a_reason_and_changes_nothing() {
    let world = World::open().await;
    for fault in [
        json!({}),
        json!({"on": {"operation": "payment_intents.create"}}),
        json!({"on": {"operation": "payment_intents.created"}, "fault": "hang"}),
        json!({"on": {"operation": "*"}, "fault": "explode"}),
        json!({"on": {"operation": "*"}, "fault": "delay"}),
        json!({"on": {"operation": "*"}, "fault": "error_after", "status": 200}),
        json!({"on": {"webhook": "*"}, "fault": "hang"}),
        json!("hang"),
    ] {
        let refused = world.try_control("faults", fault.clone()).await;
        assert_eq!(refused.status, 400, "{fault}");
        assert!(
            refused.error()["message"]
                .as_str()
                .is_some_and(|message| message.ends_with('.')),
            "{fault}"
        );
    }
    let asked_by_header = with_fault(&world, "explode").await;
    assert_eq!(asked_by_header.status, 400);
    assert_eq!(world.get("/_control/faults").await.body["data"], json!([]));
    assert_eq!(world.ledger().await["payment_intents"]["total"], 0);
}

#[tokio::test]
async fn a_reset_forgets_everything() {
    let world = World::open().await;
    world.buys_with_key(PURCHASE, "k").await;
    world.advances(500).await;
    world
        .faults(json!({"on": {"operation": "*"}, "fault": "hang", "skip": 99}))
        .await;

    world.control("reset", json!({})).await;

    assert_eq!(world.ledger().await["payment_intents"]["total"], 0);
    assert_eq!(world.ledger().await["events"], 0);
    assert_eq!(world.get("/_control/faults").await.body["data"], json!([]));
    assert_eq!(world.get("/_control/clock").await.body["offset_seconds"], 0);
    assert_eq!(
        world
            .buys_with_key(PURCHASE, "k")
            .await
            .header("idempotent-replayed"),
        None
    );
}

#[tokio::test]
async fn the_journal_names_no_fault_that_did_nothing_and_keeps_no_long_texts() {
    let world = World::open().await;
    let asks = [("idempotency-key", "k"), ("boring-fault", "error_after")];
    world.buys_with_key(PURCHASE, "k").await;

    let replayed = world
        .call(Method::POST, "/v1/payment_intents", PURCHASE, &asks)
        .await;
    let refused = world
        .call(Method::POST, "/v1/payment_intents", "amount=x", &asks[1..])
        .await;
    world.get(&format!("/v1/{}", "x".repeat(10_000))).await;

    assert_eq!((replayed.status, refused.status), (200, 400));
    let journal = world.get("/_control/requests").await.body;
    let faults: Vec<_> = (0..3)
        .map(|number| journal["data"][number]["fault"].clone())
        .collect();
    assert_eq!(faults, [Value::Null, Value::Null, Value::Null]);
    assert!(journal["data"][0]["path"].as_str().unwrap().len() <= 255);
}

#[tokio::test]
async fn an_error_that_is_asked_for_has_the_type_of_its_status() {
    let world = World::open().await;
    for (status, kind) in [
        (402, "card_error"),
        (404, "invalid_request_error"),
        (429, "invalid_request_error"),
        (503, "api_error"),
    ] {
        for fault in ["error_before", "error_after"] {
            let header = [("boring-fault", &*format!("{fault}; status={status}"))];
            let answer = world.call(Method::POST, CREATE, PURCHASE, &header).await;
            assert_eq!(answer.status, status);
            assert_eq!(answer.error()["type"], kind);
        }
    }
}
