//! Endpoints, made and changed through the API.

use serde_json::{Value, json};

use super::{
    receiver::{Receiver, attempts, everything_is_delivered, failed, is_genuine, pending},
    world::{Answer, PURCHASE, World},
};

const ENDPOINTS: &str = "/v1/webhook_endpoints";

async fn create(world: &World, receiver: &Receiver, more: &str) -> Answer {
    let form = format!("url={}&{more}", receiver.url());
    let created = world.post(ENDPOINTS, &form).await;
    assert_eq!(created.status, 200, "{}", created.body);
    created
}

async fn urls(world: &World) -> Vec<Value> {
    let list = world.get(ENDPOINTS).await.body;
    assert_eq!(list["url"], ENDPOINTS);
    let endpoints = list["data"].as_array().unwrap();
    endpoints.iter().map(|it| it["url"].clone()).collect()
}

#[tokio::test]
async fn an_endpoint_gets_the_events_it_asked_for_in_its_own_version() {
    let receiver = Receiver::open().await;
    let world = World::open().await;

    let created = create(
        &world,
        &receiver,
        "enabled_events[]=payment_intent.succeeded&enabled_events[]=charge.dispute.created&connect=false\
         &api_version=2026-10-28.endive&description=mine&metadata[a]=b",
    )
    .await;
    world.buys(PURCHASE).await;
    everything_is_delivered(&world).await;

    let letters = receiver.letters();
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].event["type"], "payment_intent.succeeded");
    assert_eq!(letters[0].event["api_version"], "2026-10-28.endive");
    let secret = created.body["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_"));
    let (_, signatures) = letters[0].signatures();
    assert_eq!(signatures, [letters[0].signature_of(secret)]);
    // The secret is told once.
    let mut endpoint = created.body.clone();
    endpoint.as_object_mut().unwrap().remove("secret");
    let shown = world.get(&format!("{ENDPOINTS}/{}", created.id())).await;
    assert_eq!(shown.body, endpoint);
    let expected = json!({
        "id": created.id(), "object": "webhook_endpoint", "api_version": "2026-10-28.endive",
        "application": null, "created": endpoint["created"], "description": "mine",
        "enabled_events": ["payment_intent.succeeded", "charge.dispute.created"], "livemode": false,
        "metadata": {"a": "b"}, "status": "enabled", "url": receiver.url()
    });
    assert_eq!(endpoint, expected);
    // For everybody else an event is in the version of the account.
    let event = world
        .get("/v1/events?type=payment_intent.succeeded")
        .await
        .body;
    let version = event["data"][0]["api_version"].as_str().unwrap();
    assert!(version.ends_with(".endive"));
}

#[tokio::test]
async fn an_endpoint_can_be_changed() {
    let (before, after) = (Receiver::open().await, Receiver::open().await);
    let world = World::open().await;
    let created = create(
        &world,
        &before,
        "enabled_events[]=*&description=old&metadata[a]=1&metadata[b]=2",
    )
    .await;
    let path = format!("{ENDPOINTS}/{}", created.id());

    let form = format!(
        "url={}&enabled_events[]=charge.succeeded&description=&metadata[a]=&metadata[c]=3",
        after.url()
    );
    let changed = world.post(&path, &form).await;
    world.buys(PURCHASE).await;
    everything_is_delivered(&world).await;

    assert_eq!(changed.status, 200);
    assert_eq!(changed.body["url"], after.url());
    assert_eq!(changed.body["description"], Value::Null);
    assert_eq!(changed.body["metadata"], json!({"b": "2", "c": "3"}));
    assert_eq!(changed.body["secret"], Value::Null);
    assert_eq!(before.letters().len(), 0);
    assert_eq!(after.counts().len(), 1);
    assert_eq!(after.count("charge.succeeded"), 1);
    let cleared = world.post(&path, "metadata=").await;
    assert_eq!(cleared.body["metadata"], json!({}));
    assert_eq!(world.get(&path).await.body, cleared.body);
}

#[tokio::test]
async fn a_retry_that_comes_due_at_a_disabled_endpoint_is_the_last() {
    for enabled_in_time in [true, false] {
        let receiver = Receiver::open().await;
        receiver.answers(&[500]);
        let world = World::open().await;
        let created = create(&world, &receiver, "enabled_events[]=payment_intent.created").await;
        let path = format!("{ENDPOINTS}/{}", created.id());
        world.buys(PURCHASE).await;
        failed(&world, 1).await;

        let disabled = world.post(&path, "disabled=true").await;
        assert_eq!(disabled.body["status"], "disabled");
        // What happens meanwhile is not for it.
        world.buys(PURCHASE).await;
        if !enabled_in_time {
            world.advances(5).await;
            failed(&world, 2).await;
            let last = attempts(&world).await[0].clone();
            assert_eq!(last["error"], "the endpoint is disabled");
            assert_eq!(last["next_attempt_at"], Value::Null);
        }
        let enabled = world.post(&path, "disabled=false").await;
        assert_eq!(enabled.body["status"], "enabled");
        world.advances(4 * 60 * 60).await;
        world.buys(PURCHASE).await;

        // The first and the third event, and the first again if that was still to come.
        let letters = if enabled_in_time { 3 } else { 2 };
        receiver.gets(letters).await;
        failed(&world, 3).await;
        assert_eq!(receiver.letters().len(), letters);
        assert_eq!(pending(&world).await, i64::from(!enabled_in_time));
    }
}

#[tokio::test]
async fn a_deleted_endpoint_gets_no_more() {
    let receiver = Receiver::open().await;
    receiver.answers(&[500]);
    let world = World::open().await;
    let created = create(&world, &receiver, "enabled_events[]=*").await;
    let path = format!("{ENDPOINTS}/{}", created.id());
    world.buys("amount=100&currency=usd").await;
    failed(&world, 1).await;

    let deleted = world.delete(&path).await;
    world.advances(5).await;
    world.buys(PURCHASE).await;

    let expected = json!({"id": created.id(), "object": "webhook_endpoint", "deleted": true});
    assert_eq!(deleted.body, expected);
    assert_eq!(pending(&world).await, 0);
    assert!(urls(&world).await.is_empty());
    for again in [world.get(&path).await, world.delete(&path).await] {
        assert_eq!(again.status, 404);
        assert_eq!(again.error()["code"], "resource_missing");
    }
    // Somebody else's event arrives: had there been one for the deleted endpoint, it would have come before.
    let other = Receiver::open().await;
    create(&world, &other, "enabled_events[]=charge.succeeded").await;
    world.buys(PURCHASE).await;
    everything_is_delivered(&world).await;
    assert_eq!(receiver.letters().len(), 1);
}

#[tokio::test]
async fn what_no_endpoint_can_be_is_refused_and_changes_nothing() {
    let receiver = Receiver::open().await;
    let world = World::open().await;
    let created = create(&world, &receiver, "enabled_events[]=*").await;
    let path = format!("{ENDPOINTS}/{}", created.id());
    let url = "url=http://127.0.0.1:1/";
    let long = "x".repeat(501);
    let creations = [
        ("enabled_events[]=*".to_owned(), "url"),
        (url.to_owned(), "enabled_events"),
        (format!("{url}&enabled_events="), "enabled_events"),
        (format!("{url}&enabled_events=*"), "enabled_events"),
        (format!("{url}&enabled_events[]=charge.*"), "enabled_events"),
        (
            format!("{url}&enabled_events[]=payment_intent.updated"),
            "enabled_events",
        ),
        ("url=shop.example/hook&enabled_events[]=*".to_owned(), "url"),
        (
            "url=ftp://shop.example/&enabled_events[]=*".to_owned(),
            "url",
        ),
        (
            format!("url=http://{}/&enabled_events[]=*", "x".repeat(3000)),
            "url",
        ),
        (
            format!("{url}&enabled_events[]=*&api_version=latest"),
            "api_version",
        ),
        (format!("{url}&enabled_events[]=*&connect=2"), "connect"),
        (
            format!("{url}&enabled_events[]=*&disabled=true"),
            "disabled",
        ),
        (format!("{url}&enabled_events[]=*&secret=mine"), "secret"),
        (
            format!("{url}&enabled_events[]=*&metadata[a]={long}"),
            "metadata[a]",
        ),
    ];
    for (form, param) in &creations {
        let refused = world.post(ENDPOINTS, form).await;
        assert_eq!(refused.status, 400, "{form}");
        assert_eq!(refused.error()["param"], *param, "{form}");
    }
    for (form, param) in [
        ("url=", "url"),
        ("url=nowhere", "url"),
        ("enabled_events=", "enabled_events"),
        ("enabled_events[]=nothing", "enabled_events"),
        ("disabled=perhaps", "disabled"),
        ("api_version=2026-10-28.endive", "api_version"),
        ("metadata=x", "metadata"),
    ] {
        let refused = world.post(&path, form).await;
        assert_eq!(refused.status, 400, "{form}");
        assert_eq!(refused.error()["param"], param, "{form}");
    }
    let nobody = world
        .post(&format!("{ENDPOINTS}/we_nobody"), "disabled=true")
        .await;
    assert_eq!(nobody.status, 404);
    let mut unchanged = created.body.clone();
    unchanged.as_object_mut().unwrap().remove("secret");
    assert_eq!(world.get(&path).await.body, unchanged);
    assert_eq!(urls(&world).await.len(), 1);
}

#[tokio::test]
async fn metadata_is_limited_in_all_however_it_came() {
    let receiver = Receiver::open().await;
    let world = World::open().await;
    let created = create(&world, &receiver, "enabled_events[]=*").await;
    let path = format!("{ENDPOINTS}/{}", created.id());
    let pairs = |from: usize, to: usize| {
        let pairs: Vec<String> = (from..to).map(|n| format!("metadata[{n}]=x")).collect();
        pairs.join("&")
    };

    let full = world.post(&path, &pairs(0, 50)).await;
    let fuller = world.post(&path, &pairs(50, 51)).await;
    let exchanged = world
        .post(&path, &format!("metadata[0]=&{}", pairs(50, 51)))
        .await;

    assert_eq!(
        (full.status, fuller.status, exchanged.status),
        (200, 400, 200)
    );
    assert_eq!(exchanged.body["metadata"].as_object().unwrap().len(), 50);
}

#[tokio::test]
async fn there_are_sixteen_endpoints_at_most() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), "whsec_1").await;
    for _ in 1..16 {
        create(&world, &receiver, "enabled_events[]=charge.failed").await;
    }

    let form = "url=http://127.0.0.1:1/&enabled_events[]=*";
    let refused = world.post_with_key(ENDPOINTS, form, "k").await;

    assert_eq!(refused.status, 400);
    let message = refused.error()["message"].as_str().unwrap();
    assert!(message.contains("maximum of 16"), "{message}");
    let page = world.get(&format!("{ENDPOINTS}?limit=15")).await.body;
    assert_eq!(page["has_more"], true);
    let last = page["data"][14]["id"].as_str().unwrap();
    let rest = world
        .get(&format!("{ENDPOINTS}?starting_after={last}"))
        .await
        .body;
    assert_eq!(rest["data"].as_array().unwrap().len(), 1);
    assert_eq!(rest["has_more"], false);
    world.delete(&format!("{ENDPOINTS}/{last}")).await;
    assert_eq!(world.post(ENDPOINTS, form).await.status, 200);
}

#[tokio::test]
async fn a_lost_answer_to_a_create_loses_no_secret() {
    let world = World::open().await;
    let form = "url=http://127.0.0.1:1/&enabled_events[]=*";

    let first = world.post_with_key(ENDPOINTS, form, "k").await;
    let again = world.post_with_key(ENDPOINTS, form, "k").await;

    assert_eq!(again.bytes, first.bytes);
    assert_eq!(urls(&world).await.len(), 1);
}

#[tokio::test]
async fn the_endpoints_of_the_command_line_can_be_seen_and_survive_a_reset() {
    let (configured, other) = (Receiver::open().await, Receiver::open().await);
    let world = World::on_disk(vec![configured.target()]).await;
    let listed = world.get(ENDPOINTS).await.body["data"][0].clone();
    assert_eq!(listed["url"], configured.url());
    assert_eq!(listed["enabled_events"], json!(["*"]));
    let path = format!("{ENDPOINTS}/{}", listed["id"].as_str().unwrap());
    create(&world, &other, "enabled_events[]=*").await;
    world
        .post(&path, "enabled_events[]=charge.failed&metadata[a]=b")
        .await;
    world
        .control(
            &format!("{}/roll", control(&path)),
            json!({"overlap_seconds": 0}),
        )
        .await;

    let world = world.restart().await;
    // What the API changed was not forgotten, but the command line has the last word on the secret.
    assert_eq!(world.get(&path).await.body["metadata"], json!({"a": "b"}));
    world
        .buys(&PURCHASE.replace("visa", "chargeDeclined"))
        .await;
    everything_is_delivered(&world).await;
    assert_eq!(configured.letters().len(), 1);
    assert!(is_genuine(&configured.letters()[0]));

    world.control("reset", json!({})).await;
    assert_eq!(urls(&world).await, [configured.url()]);
    let fresh = world.get(&path).await.body;
    assert_eq!(fresh["enabled_events"], json!(["*"]));
    assert_eq!(fresh["metadata"], json!({}));
    world.delete(&path).await;
    world.control("reset", json!({})).await;
    assert_eq!(urls(&world).await, [configured.url()]);
    world.buys("amount=100&currency=usd").await;
    everything_is_delivered(&world).await;
    assert_eq!(configured.letters().len(), 2);
}

fn control(path: &str) -> &str {
    path.trim_start_matches("/v1/")
}
