//! A database of an earlier version, and what this one makes of it.

use std::path::Path;

use boring_checkout::simulator::WebhookTarget;
use serde_json::json;
use sqlx::{Connection as _, SqliteConnection, migrate::Migrator};

use super::{
    receiver::{Receiver, SECRET, everything_is_delivered, is_genuine},
    world::World,
};

/// A database as it was before webhook endpoints were objects.
async fn before_webhook_endpoints(url: &str) -> SqliteConnection {
    let earlier = tempfile::tempdir().unwrap();
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/simulator");
    for file in std::fs::read_dir(migrations).unwrap() {
        let file = file.unwrap();
        if file.file_name().to_str().unwrap() < "0010" {
            std::fs::copy(file.path(), earlier.path().join(file.file_name())).unwrap();
        }
    }
    let mut db = SqliteConnection::connect(&format!("{url}?mode=rwc"))
        .await
        .unwrap();
    let migrator = Migrator::new(earlier.path()).await.unwrap();
    migrator.run_direct(None, &mut db, false).await.unwrap();
    db
}

#[tokio::test]
async fn endpoints_and_what_was_on_its_way_to_them_are_kept() {
    let receiver = Receiver::open().await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("provider.db").display());
    let mut db = before_webhook_endpoints(&url).await;
    for event in ["evt_held", "evt_pending", "evt_done"] {
        sqlx::query("insert into objects (body) values ($1)")
            .bind(
                json!({
                    "id": event, "object": "event", "created": chrono::Utc::now().timestamp(), "type": "charge.failed",
                    "data": {"object": {}}, "pending_webhooks": 0
                })
                .to_string(),
            )
            .execute(&mut db)
            .await
            .unwrap();
    }
    for (sql, text) in [
        (
            "insert into webhook_endpoints (id, url, secret, configured, created) values ('we_1', $1, 'whsec_test', 1, 7)",
            receiver.url(),
        ),
        (
            "insert into webhook_endpoints (id, url, secret, configured, enabled, created) values ('we_2', $1, 's', 1, 0, 8)",
            "http://gone.example/".to_owned(),
        ),
        (
            "insert into deliveries (event_id, endpoint_id, next_attempt_at, held) values ('evt_held', $1, 0, 1)",
            "we_1".to_owned(),
        ),
        (
            "insert into deliveries (event_id, endpoint_id, next_attempt_at, attempts) values ('evt_pending', $1, 0, 1)",
            "we_1".to_owned(),
        ),
        (
            "insert into deliveries (event_id, endpoint_id, next_attempt_at, state) values ('evt_done', $1, 0, 'delivered')",
            "we_1".to_owned(),
        ),
        (
            "insert into delivery_attempts (event_id, url, attempt, at, status) values ('evt_pending', $1, 1, 9, 500)",
            receiver.url(),
        ),
    ] {
        sqlx::query(sql).bind(text).execute(&mut db).await.unwrap();
    }
    db.close().await.unwrap();

    let world = World::at(
        &url,
        vec![WebhookTarget {
            url: receiver.url(),
            secret: SECRET.to_owned(),
        }],
    )
    .await;
    everything_is_delivered(&world).await;

    let mut events: Vec<String> = receiver
        .letters()
        .iter()
        .inspect(|letter| assert!(is_genuine(letter)))
        .map(|letter| letter.event["id"].as_str().unwrap().to_owned())
        .collect();
    events.sort();
    assert_eq!(events, ["evt_held", "evt_pending"]);
    let endpoints = world.get("/v1/webhook_endpoints").await.body;
    let shown = |n: usize| {
        (
            endpoints["data"][n]["id"].clone(),
            endpoints["data"][n]["status"].clone(),
        )
    };
    assert_eq!(shown(0), (json!("we_2"), json!("disabled")));
    assert_eq!(shown(1), (json!("we_1"), json!("enabled")));
    assert_eq!(endpoints["data"][1]["created"], 7);
    let journal = world.get("/_control/deliveries").await.body;
    let attempts = journal["data"].as_array().unwrap();
    let of_pending: Vec<_> = attempts
        .iter()
        .filter(|it| it["event"] == "evt_pending")
        .collect();
    assert_eq!(
        (&of_pending[0]["attempt"], &of_pending[1]["attempt"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(of_pending[1]["endpoint"], "we_1");
}
