//! The simulator's controls.

use boring_checkout::{db::Db, webhooks::KINDS};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::client;

/// The key of every test.
const KEY: &str = "sk_test_boring";

/// The simulator's controls.
pub struct Provider {
    client: Client,
    pub url: String,
}

impl Provider {
    pub fn at(url: &str) -> Self {
        Self {
            client: client(),
            url: url.to_owned(),
        }
    }

    /// The next call of `operation` meets `fault`.
    pub async fn next(&self, operation: &str, fault: &str) {
        self.fault(json!({ "on": { "operation": operation }, "fault": fault }))
            .await;
    }

    pub async fn fault(&self, fault: Value) {
        self.control("faults", fault).await;
    }

    /// Nobody hears of anything it does, until it catches up.
    pub async fn loses_webhooks(&self) {
        self.fault(json!({"on": {"webhook": "*"}, "fault": "drop", "times": 100_000}))
            .await;
    }

    /// It charges, and its answers get lost.
    pub async fn loses_answers(&self) {
        let lost = json!({"on": {"operation": "payment_intents.create"}, "fault": "drop_response", "times": 100_000});
        self.fault(lost).await;
    }

    /// It mends, and delivers what it could not.
    pub async fn catches_up(&self) {
        self.mends().await;
        self.control("clock", json!({"advance_seconds": 4 * 3600}))
            .await;
    }

    /// All events of a kind, newest first.
    pub async fn events(&self, kind: &str) -> Vec<Value> {
        let path = format!("/v1/events?limit=100&type={kind}");
        self.reads(&path).await["data"]
            .as_array()
            .expect("a list")
            .clone()
    }

    /// Sends an event to the shop again, now, and tells how it was answered.
    pub async fn delivers(&self, event: &Value, copies: u32) -> Vec<Value> {
        let id = event["id"].as_str().expect("an id");
        let lever = format!("events/{id}/deliver");
        let sent = self.control(&lever, json!({"copies": copies})).await["deliveries"].take();
        let answers = sent.as_array().expect("a list").iter();
        answers.map(|sent| sent["status"].clone()).collect()
    }

    /// What is armed does not happen any more.
    pub async fn mends(&self) {
        let request = self.client.delete(format!("{}/_control/faults", self.url));
        self.answer(request).await;
    }

    pub async fn control(&self, name: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}/_control/{name}", self.url));
        let request = request
            .header("content-type", "application/json")
            .body(body.to_string());
        self.answer(request).await
    }

    /// A call of its API, as somebody at the provider's dashboard makes it.
    pub async fn posts(&self, path: &str) -> Value {
        self.answer(self.client.post(format!("{}{path}", self.url)))
            .await
    }

    /// Another shop of the same account takes a payment. Whether it gets its answer is its own affair.
    pub async fn is_used_by_another_shop(&self) {
        let payment = "amount=490&currency=eur&confirm=true&payment_method=pm_card_visa&payment_method_types[0]=card";
        let request = self.client.post(format!("{}/v1/payment_intents", self.url));
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .bearer_auth(KEY)
            .body(payment);
        drop(request.send().await);
    }

    /// All the money that it took, in minor units.
    pub async fn charged(&self) -> i64 {
        self.ledger().await["payment_intents"]["amount_succeeded"]
            .as_i64()
            .expect("a number")
    }

    /// How many events it has made that tell a shop something, and that the shop of `db` has not heard of yet.
    pub async fn unheard(&self, db: &Db) -> i64 {
        let made = &self.ledger().await["events_by_type"];
        let told = KINDS.map(|kind| made[kind].as_i64().unwrap_or_default());
        let kinds: Value = KINDS.map(|kind| (kind, 1)).into_iter().collect();
        let heard: i64 = db
            .query(
                "select count(*) from processed_events
                 where type in (select key from json_each($1 /*pg ::json */))",
            )
            .bind(kinds.to_string())
            .fetch_scalar()
            .await
            .expect("a number");
        told.iter().sum::<i64>() - heard
    }

    pub async fn ledger(&self) -> Value {
        self.reads("/_control/ledger").await
    }

    /// The journal of calls of one operation's method and path, newest first.
    pub async fn calls(&self, method: &str, path: &str) -> Vec<Value> {
        let journal = self.reads("/_control/requests").await;
        let all = journal["data"].as_array().expect("a list").clone();
        all.into_iter()
            .filter(|call| call["method"] == method && call["path"] == path)
            .collect()
    }

    pub async fn reads(&self, path: &str) -> Value {
        self.answer(self.client.get(format!("{}{path}", self.url)))
            .await
    }

    async fn answer(&self, request: RequestBuilder) -> Value {
        let response = request
            .bearer_auth(KEY)
            .send()
            .await
            .expect("the simulator answers");
        let status = response.status();
        let body = response.text().await.expect("a body");
        assert!(status.is_success(), "{status}: {body}");
        serde_json::from_str(&body).expect("JSON")
    }
}
