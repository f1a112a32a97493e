//! A simulator of one's own for each test, and a client that speaks to it.

use std::{future::Future, time::Duration};

use boring_checkout::simulator::{Control, Simulator, SimulatorConfig, WebhookTarget};
use reqwest::{
    Method,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde_json::Value;
use tempfile::TempDir;

pub(super) const KEY: &str = "sk_test_boring";

/// A purchase that succeeds, and needs no return URL.
pub(super) const PURCHASE: &str =
    "amount=4200&currency=usd&confirm=true&payment_method=pm_card_visa&payment_method_types[]=card";

pub(super) struct World {
    simulator: Simulator,
    config: SimulatorConfig,
    client: reqwest::Client,
    /// Keeps the database's folder until the test ends.
    folder: Option<TempDir>,
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Vec<u8>,
    pub(super) body: Value,
}

impl World {
    /// In memory, and nobody listens to its events.
    pub(super) async fn open() -> Self {
        Self::start(SimulatorConfig::default(), None).await
    }

    /// On disk, so that it can be restarted.
    pub(super) async fn on_disk(webhooks: Vec<WebhookTarget>) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("not/there/yet/provider.db");
        let database_url = format!("sqlite://{}", file.display());
        let config = SimulatorConfig {
            database_url,
            webhooks,
            ..SimulatorConfig::default()
        };
        Self::start(config, Some(folder)).await
    }

    pub(super) async fn with_webhook(url: String, secret: &str) -> Self {
        let target = WebhookTarget {
            url,
            secret: secret.to_owned(),
        };
        let config = SimulatorConfig {
            webhooks: vec![target],
            ..SimulatorConfig::default()
        };
        Self::start(config, None).await
    }

    /// On a database that is there already.
    pub(super) async fn at(database_url: &str, webhooks: Vec<WebhookTarget>) -> Self {
        Self::with(SimulatorConfig {
            database_url: database_url.to_owned(),
            webhooks,
            ..SimulatorConfig::default()
        })
        .await
    }

    /// As configured.
    pub(super) async fn with(config: SimulatorConfig) -> Self {
        Self::start(config, None).await
    }

    async fn start(config: SimulatorConfig, folder: Option<TempDir>) -> Self {
        let simulator = Simulator::start_with(config.clone()).await.unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self {
            simulator,
            config,
            client,
            folder,
        }
    }

    /// The same database, another process.
    pub(super) async fn restart(self) -> Self {
        self.simulator.stop().await;
        Self::start(self.config, self.folder).await
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.simulator.url())
    }

    /// The typed controls, as a Rust test has them.
    pub(super) fn levers(&self) -> Control {
        self.simulator.control()
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, "", &[]).await
    }

    pub(super) async fn post(&self, path: &str, form: &str) -> Answer {
        self.call(Method::POST, path, form, &[]).await
    }

    pub(super) async fn post_with_key(&self, path: &str, form: &str, key: &str) -> Answer {
        self.call(Method::POST, path, form, &[("idempotency-key", key)])
            .await
    }

    pub(super) async fn buys(&self, form: &str) -> Answer {
        self.post("/v1/payment_intents", form).await
    }

    pub(super) async fn buys_with_key(&self, form: &str, key: &str) -> Answer {
        self.post_with_key("/v1/payment_intents", form, key).await
    }

    /// A customer, by id.
    pub(super) async fn customer(&self) -> String {
        self.post("/v1/customers", "").await.id().to_owned()
    }

    /// What an attempt to keep a payment method is answered with.
    pub(super) async fn attaches(&self, method: &str, customer: &str) -> Answer {
        let path = format!("/v1/payment_methods/{method}/attach");
        self.post(&path, &format!("customer={customer}")).await
    }

    pub(super) async fn refunds(&self, form: &str) -> Answer {
        self.post("/v1/refunds", form).await
    }

    pub(super) async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, "", &[]).await
    }

    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        form: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        self.try_call(method, path, form, headers)
            .await
            .expect("an answer")
    }

    /// `Err` when the connection ended without an answer.
    pub(super) async fn try_call(
        &self,
        method: Method,
        path: &str,
        form: &str,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<Answer> {
        let mut request = self
            .client
            .request(method, self.url(path))
            .bearer_auth(KEY)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::read(request.send().await?).await
    }

    /// `POST /_control/…` with JSON, expected to work.
    pub(super) async fn control(&self, path: &str, body: Value) -> Value {
        let answer = self.try_control(path, body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    pub(super) async fn try_control(&self, path: &str, body: Value) -> Answer {
        let request = self
            .client
            .post(self.url(&format!("/_control/{path}")))
            .bearer_auth(KEY);
        let response = request.body(body.to_string()).send().await.unwrap();
        Answer::read(response).await.unwrap()
    }

    pub(super) async fn faults(&self, fault: Value) {
        self.control("faults", fault).await;
    }

    pub(super) async fn advances(&self, seconds: i64) {
        let body = serde_json::json!({ "advance_seconds": seconds });
        self.control("clock", body).await;
    }

    /// What would happen by itself later happens now.
    pub(super) async fn settles(&self) {
        self.control("settle", serde_json::json!({})).await;
    }

    pub(super) fn database_url(&self) -> String {
        self.config.database_url.clone()
    }

    /// The same, but only to one object.
    pub(super) async fn settles_object(&self, id: &str) {
        let body = serde_json::json!({ "object": id });
        self.control("settle", body).await;
    }

    /// All events, oldest first.
    pub(super) async fn events(&self) -> Vec<Value> {
        let list = self.get("/v1/events?limit=100").await.body;
        let mut events = list["data"].as_array().unwrap().clone();
        events.reverse();
        events
    }

    /// The types of the events since there were `before`, oldest first.
    pub(super) async fn told_since(&self, before: usize) -> Vec<String> {
        let events = self.events().await;
        let types = events[before..].iter().map(|event| &event["type"]);
        types
            .map(|kind| kind.as_str().unwrap().to_owned())
            .collect()
    }

    pub(super) async fn ledger(&self) -> Value {
        self.get("/_control/ledger").await.body
    }

    pub(super) async fn succeeded(&self) -> i64 {
        self.ledger().await["payment_intents"]["succeeded"]
            .as_i64()
            .unwrap()
    }

    pub(super) fn client(&self) -> &reqwest::Client {
        &self.client
    }
}

impl Answer {
    pub(super) async fn read(response: reqwest::Response) -> reqwest::Result<Self> {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let bytes = response.bytes().await?.to_vec();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Ok(Self {
            status,
            headers,
            bytes,
            body,
        })
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(super) fn error(&self) -> &Value {
        &self.body["error"]
    }

    pub(super) fn id(&self) -> &str {
        self.body["id"].as_str().expect("an object with an id")
    }
}

/// Waits for a condition, and gives up after ten seconds.
pub(super) async fn eventually<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(10), waiting).await;
    assert!(waited.is_ok(), "not in ten seconds: {what}");
}
