//! The typed controls, for tests in Rust, and that `/_control` tells the same.

use std::time::Duration;

use boring_checkout::simulator::{ControlError, Fault, Simulator, SimulatorConfig};
use serde_json::json;

use super::{
    receiver::{Receiver, SECRET, everything_is_delivered},
    world::{PURCHASE, World, eventually},
};

const CREATE: &str = "payment_intents.create";

#[tokio::test]
async fn a_lost_answer_is_armed_met_and_gone() {
    let world = World::open().await;
    let control = world.levers();

    let armed = control
        .arm(Fault::on_operation(CREATE).drop_response().skip(1).times(2))
        .unwrap();

    assert_eq!((armed.seen, armed.struck), (0, 0));
    assert_eq!(control.faults(), [armed]);
    let shown = world.get("/_control/faults").await.body;
    assert_eq!(
        shown["data"],
        json!([{"id": 1, "on": {"operation": CREATE}, "fault": "drop_response", "skip": 1, "times": 2, "seen": 0, "struck": 0}])
    );
    let mut answered = Vec::new();
    for _ in 0..4 {
        let post = reqwest::Method::POST;
        let answer = world.try_call(post, "/v1/payment_intents", PURCHASE, &[]);
        answered.push(answer.await.is_ok());
    }
    assert_eq!(answered, [true, false, false, true]);
    assert_eq!(control.faults(), []);
    let faults: Vec<_> = control.requests().iter().map(|it| it.fault).collect();
    assert_eq!(
        faults,
        [None, Some("drop_response"), Some("drop_response"), None]
    );
    let ledger = control.ledger().await.unwrap();
    assert_eq!(ledger.payment_intents.succeeded, 4);
    assert_eq!(ledger.payment_intents.amount_succeeded, 4 * 4200);
}

#[tokio::test]
async fn what_cannot_be_asked_for_over_http_cannot_in_rust_either() {
    let control = World::open().await.levers();
    for (fault, about) in [
        (
            Fault::on_operation("payment_intents.created").hang(),
            "operation",
        ),
        (Fault::on_operation(CREATE).error_after(200), "status"),
        (
            Fault::on_operation(CREATE).delay(Duration::from_hours(1)),
            "delay",
        ),
        (Fault::on_operation(CREATE).hang().times(0), "times"),
        (Fault::on_webhook("payment_intent.paid").drop(), "type"),
        (Fault::on_webhook("*").duplicate(1), "copies"),
    ] {
        let refused = control.arm(fault).unwrap_err().to_string();
        assert!(refused.contains(about), "{refused}");
    }
    assert_eq!(control.faults(), []);
    let too_far = control.advance(Duration::MAX).await.unwrap_err();
    assert!(matches!(too_far, ControlError::Refused(_)), "{too_far}");
    let nobody = control.redeliver("evt_nobody", 1).await.unwrap_err();
    assert!(matches!(nobody, ControlError::NoSuchEvent(_)), "{nobody}");
    let too_many = control.redeliver("evt_nobody", 101).await.unwrap_err();
    assert!(matches!(too_many, ControlError::Refused(_)), "{too_many}");
}

#[tokio::test]
async fn the_books_are_the_same_in_rust_and_in_json() {
    let world = World::open().await;
    world.buys(&format!("{PURCHASE}&metadata[order]=7")).await;
    world.buys_with_key("amount=100&currency=usd", "k").await;
    let control = world.levers();

    let all = control.ledger().await.unwrap();
    let one = control.ledger_of(&[("order", "7")]).await.unwrap();

    assert_eq!(
        (all.payment_intents.total, all.payment_intents.succeeded),
        (2, 1)
    );
    assert_eq!(all.payment_intents.requires_payment_method, 1);
    assert_eq!(
        (
            one.payment_intents.total,
            one.payment_intents.amount_succeeded
        ),
        (1, 4200)
    );
    assert_eq!(serde_json::to_value(&all).unwrap(), world.ledger().await);
    let narrowed = world.get("/_control/ledger?metadata[order]=7").await.body;
    assert_eq!(serde_json::to_value(&one).unwrap(), narrowed);
    let requests = serde_json::to_value(control.requests()).unwrap();
    assert_eq!(world.get("/_control/requests").await.body["data"], requests);
    assert_eq!(requests[0]["idempotency_key"], "k");
}

#[tokio::test]
async fn an_event_is_delivered_again_on_request() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    let control = world.levers();
    world.buys(PURCHASE).await;
    everything_is_delivered(&world).await;
    let delivered = control.deliveries().await.unwrap();
    let paid = delivered
        .iter()
        .find(|it| it.kind == "payment_intent.succeeded")
        .unwrap();
    assert_eq!((paid.attempt, paid.status), (1, Some(200)));

    let again = control.redeliver(&paid.event, 2).await.unwrap();

    assert_eq!(again.len(), 2);
    assert!(
        again
            .iter()
            .all(|it| it.url == receiver.url() && it.status == Some(200))
    );
    assert_eq!(receiver.count("payment_intent.succeeded"), 3);
    let shown = serde_json::to_value(control.deliveries().await.unwrap()).unwrap();
    assert_eq!(world.get("/_control/deliveries").await.body["data"], shown);
}

#[tokio::test]
async fn the_clock_moves_and_a_reset_moves_it_back() {
    let world = World::open().await;
    let control = world.levers();
    world.buys_with_key(PURCHASE, "k").await;
    let before = control.clock();

    let after = control.advance(Duration::from_hours(25)).await.unwrap();

    assert!(after.now >= before.now + 25 * 3600);
    assert_eq!(after.offset_seconds, 25 * 3600);
    let again = world.buys_with_key(PURCHASE, "k").await;
    assert_eq!(
        again.header("idempotent-replayed"),
        None,
        "the key has expired"
    );
    control
        .arm(Fault::on_operation("*").hang().skip(99))
        .unwrap();

    control.reset().await.unwrap();

    assert_eq!(control.clock().offset_seconds, 0);
    assert_eq!(control.faults(), []);
    assert_eq!(control.requests(), []);
    assert_eq!(
        control.ledger().await.unwrap(),
        boring_checkout::simulator::Ledger::default()
    );
}

#[tokio::test]
async fn two_simulators_know_nothing_of_each_other() {
    let (one, other) = (
        Simulator::start().await.unwrap(),
        Simulator::start().await.unwrap(),
    );
    assert_ne!(one.url(), other.url());
    one.control().arm(Fault::on_operation("*").hang()).unwrap();
    assert_eq!(other.control().faults(), []);
}

#[tokio::test]
async fn faults_are_armed_for_one_key_and_cleared() {
    let world = World::open().await;
    let control = world.levers();
    control
        .arm(Fault::on_key("k").rate_limit().times(9))
        .unwrap();
    assert_eq!(world.buys_with_key(PURCHASE, "other").await.status, 200);
    assert_eq!(world.buys_with_key(PURCHASE, "k").await.status, 429);
    assert_eq!(control.faults()[0].struck, 1);

    assert_eq!(control.clear_faults(), 1);

    assert_eq!(world.buys_with_key(PURCHASE, "k").await.status, 200);
}

#[tokio::test]
async fn an_event_is_delivered_again_only_to_those_who_want_its_kind() {
    let (configured, created) = (Receiver::open().await, Receiver::open().await);
    let world = World::with_webhook(configured.url(), SECRET).await;
    let form = format!("url={}&enabled_events[]=refund.created", created.url());
    world.post("/v1/webhook_endpoints", &form).await;
    let list = world.get("/v1/webhook_endpoints").await.body;
    let first = list["data"][1]["id"].as_str().unwrap();
    world.buys("amount=100&currency=usd").await;
    everything_is_delivered(&world).await;
    let control = world.levers();
    let event = control.deliveries().await.unwrap()[0].event.clone();

    let wanted = control.redeliver(&event, 1).await.unwrap();
    let changed = "enabled_events[]=charge.failed";
    world
        .post(&format!("/v1/webhook_endpoints/{first}"), changed)
        .await;
    let unwanted = control.redeliver(&event, 1).await.unwrap();

    assert_eq!(wanted.len(), 1);
    assert_eq!(wanted[0].url, configured.url());
    assert_eq!(unwanted, []);
    assert_eq!(created.letters().len(), 0);
}

#[tokio::test]
async fn an_event_that_is_delivered_again_often_is_so_a_few_at_a_time() {
    let receiver = Receiver::silent().await;
    let world = World::with(SimulatorConfig {
        webhooks: vec![receiver.target()],
        webhook_timeout: Duration::from_millis(300),
        ..SimulatorConfig::default()
    })
    .await;
    let control = world.levers();
    world.buys("amount=100&currency=usd").await;
    eventually("it was tried once", || async {
        control.deliveries().await.unwrap().len() == 1
    })
    .await;
    let event = control.deliveries().await.unwrap()[0].event.clone();

    let sent = control.redeliver(&event, 50).await.unwrap();

    assert_eq!(sent.len(), 50);
    assert!(receiver.letters().len() > 50);
    assert!(receiver.most_at_a_time() <= 32);
}

#[tokio::test]
async fn a_move_of_the_clock_beyond_its_limit_is_refused() {
    let world = World::open().await;
    let century = 10 * 10 * 366 * 24 * 60 * 60;
    for _ in 0..10 {
        world.advances(century / 10).await;
    }

    let refused = world
        .try_control("clock", json!({"advance_seconds": 1}))
        .await;

    assert_eq!(refused.status, 400);
    assert_eq!(refused.error()["param"], "advance_seconds");
    let message = refused.error()["message"].as_str().unwrap();
    assert!(message.contains(&century.to_string()), "{message}");
    assert_eq!(world.levers().clock().offset_seconds, century);
    world.advances(0).await;
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_like_everything_else() {
    let world = World::open().await;
    let object = "x".repeat(2 * 1024 * 1024);

    for lever in ["settle", "faults", "chaos", "clock"] {
        let refused = world.try_control(lever, json!({ "object": object })).await;

        assert_eq!(refused.status, 413, "{lever}");
        assert_eq!(refused.error()["type"], "invalid_request_error", "{lever}");
        assert!(refused.error()["message"].is_string(), "{lever}");
    }
}

#[tokio::test]
async fn what_is_no_lever_is_named_in_full() {
    let world = World::open().await;

    for path in ["levers", "events/%FF/deliver"] {
        let refused = world.try_control(path, json!({})).await;

        assert_eq!(refused.status, 404, "{path}");
        let message = refused.error()["message"].as_str().unwrap();
        let in_full = format!("(POST: /_control/{path})");
        assert!(message.contains(&in_full), "{message}");
    }
}
