//! A program that buys through the API.

use reqwest::{Client, RequestBuilder, header::HeaderMap};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Shop, client};

/// A program with an API key.
pub struct Caller {
    client: Client,
    api: String,
    api_key: String,
}

/// What it is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

/// A key that nobody has drawn yet.
pub fn fresh_key() -> String {
    Uuid::new_v4().to_string()
}

/// One unit of tea, paid at once.
pub fn tea() -> Value {
    json!({
        "email": "buyer@example.com",
        "name": "A Buyer",
        "items": [{ "sku": "TEA-01", "quantity": 1 }],
        "payment_method": "pm_card_visa",
    })
}

/// The same with another value in a field.
pub fn with(body: &Value, field: &str, value: impl Into<Value>) -> Value {
    let mut body = body.clone();
    body[field] = value.into();
    body
}

impl Caller {
    pub fn at(shop: &str, api_key: &str) -> Self {
        Self {
            client: client(),
            api: format!("{shop}/api/v1"),
            api_key: api_key.to_owned(),
        }
    }

    /// The same program at another front of the shop.
    pub fn moved_to(&self, shop: &str) -> Self {
        Self::at(shop, &self.api_key)
    }

    pub async fn buys(&self, key: &str, body: &Value) -> Answer {
        self.posts("/checkouts", key, body).await
    }

    pub async fn posts(&self, path: &str, key: &str, body: &Value) -> Answer {
        Answer::to(self.post(path, body).header("idempotency-key", key)).await
    }

    pub async fn gets(&self, path: &str) -> Answer {
        let request = self.client.get(format!("{}{path}", self.api));
        Answer::to(request.bearer_auth(&self.api_key)).await
    }

    /// A request without a key.
    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client
            .post(format!("{}{path}", self.api))
            .bearer_auth(&self.api_key)
            .header("content-type", "application/json")
            .body(body.to_string())
    }
}

impl Answer {
    pub async fn to(request: RequestBuilder) -> Self {
        Self::of(request.send().await.expect("an answer")).await
    }

    pub async fn of(response: reqwest::Response) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.expect("a whole answer"),
        }
    }

    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value
            .map(|value| value.to_str().expect("text"))
            .unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// A field of it that is text.
    pub fn text(&self, field: &str) -> String {
        let json = self.json();
        let text = json[field].as_str();
        text.unwrap_or_else(|| panic!("no {field}: {json}"))
            .to_owned()
    }

    pub fn is_replayed(&self) -> bool {
        self.header("idempotent-replayed") == "true"
    }

    /// It is a problem of this status and kind.
    #[track_caller]
    pub fn is_problem(&self, status: u16, kind: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["type"], format!("/api/v1/docs#{kind}"), "{self:?}");
        assert_eq!(problem["status"], status);
        for said in ["title", "detail"] {
            assert!(
                problem[said].as_str().is_some_and(|it| it.len() > 5),
                "{self:?}"
            );
        }
        problem
    }
}

impl Shop {
    /// A program with the key `demo`.
    pub fn caller(&self) -> Caller {
        Caller::at(&self.url, "demo")
    }
}
