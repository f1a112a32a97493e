//! Webhooks in the provider's hand, or in one that imitates it.

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Page, client};

/// A delivery: a body, and what is signed with which secret at what time.
#[derive(Clone)]
pub struct Letter {
    body: Vec<u8>,
    at: String,
    secret: String,
}

impl Letter {
    /// Signed now with the secret of every test.
    pub fn new(body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            at: chrono::Utc::now().timestamp().to_string(),
            secret: "whsec_boring".to_owned(),
        }
    }

    pub fn of(event: &Value) -> Self {
        Self::new(event.to_string())
    }

    pub fn dated(self, at: &impl ToString) -> Self {
        let at = at.to_string();
        Self { at, ..self }
    }

    pub fn signed_with(self, secret: &str) -> Self {
        let secret = secret.to_owned();
        Self { secret, ..self }
    }

    /// What stands in `Stripe-Signature`.
    pub fn signature(&self) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).expect("any length");
        mac.update(self.at.as_bytes());
        mac.update(b".");
        mac.update(&self.body);
        let tag = hex::encode(mac.finalize().into_bytes());
        format!("t={},v1={tag}", self.at)
    }

    /// Delivers it to the shop at `url`.
    pub async fn to(&self, url: &str) -> Page {
        let answer = self.request(&format!("{url}/webhooks/provider")).send();
        Page::of(answer.await.expect("an answer")).await
    }

    /// The delivery, for tests that change something about it.
    pub fn request(&self, address: &str) -> RequestBuilder {
        client()
            .post(address)
            .header("content-type", "application/json; charset=utf-8")
            .header("stripe-signature", self.signature())
            .body(self.body.clone())
    }
}

/// An event of test mode about a payment intent for `checkout`.
pub fn event(id: &str, kind: &str, intent: &str, checkout: &str) -> Value {
    let status = match kind {
        "payment_intent.succeeded" => "succeeded",
        "payment_intent.canceled" => "canceled",
        _ => "requires_payment_method",
    };
    json!({
        "id": id, "object": "event", "type": kind, "livemode": false,
        "data": {"object": {
            "id": intent, "object": "payment_intent", "amount": 490, "amount_received": 490,
            "currency": "eur", "status": status, "metadata": {"checkout_id": checkout},
            "last_payment_error": {"type": "card_error", "code": "card_declined"},
        }},
    })
}
