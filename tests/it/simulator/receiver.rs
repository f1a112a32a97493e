//! A shop that receives webhooks, and what it makes of them.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use boring_checkout::simulator::WebhookTarget;
use chrono::Utc;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::{net::TcpListener, task::JoinHandle};

use super::world::{World, eventually};

pub(super) const SECRET: &str = "whsec_test";

/// An event as it arrived.
#[derive(Clone)]
pub(super) struct Letter {
    signature: String,
    body: Bytes,
    pub(super) event: Value,
}

impl Letter {
    /// Its age in seconds, and each signature on it.
    pub(super) fn signatures(&self) -> (i64, Vec<String>) {
        let mut elements = self.signature.split(',');
        let timestamp = elements.next().unwrap().strip_prefix("t=").unwrap();
        let signatures = elements.map(|element| element.strip_prefix("v1=").unwrap().to_owned());
        let age = Utc::now().timestamp() - timestamp.parse::<i64>().unwrap();
        (age, signatures.collect())
    }

    /// What a receiver with this secret expects: it computes the signature again.
    pub(super) fn signature_of(&self, secret: &str) -> String {
        let timestamp = self.signature.split([',', '=']).nth(1).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(timestamp.as_bytes());
        mac.update(b".");
        mac.update(&self.body);
        hex::encode(mac.finalize().into_bytes())
    }
}

/// A shop's webhook endpoint.
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    inbox: Inbox,
    server: JoinHandle<()>,
}

#[derive(Clone, Default)]
struct Inbox {
    letters: Arc<Mutex<Vec<Letter>>>,
    /// The statuses of the next answers; 200 when none are left.
    answers: Arc<Mutex<VecDeque<u16>>>,
    /// Takes everything and says nothing.
    is_silent: bool,
    present: Arc<Present>,
}

/// How many deliveries wait for their answers.
#[derive(Default)]
struct Present {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// One of them, until it is answered or its sender has hung up.
struct Waiting(Arc<Present>);

impl Waiting {
    fn begin(present: &Arc<Present>) -> Self {
        let now = present.now.fetch_add(1, Ordering::SeqCst) + 1;
        present.most.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(present))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn receive(State(inbox): State<Inbox>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let _waiting = Waiting::begin(&inbox.present);
    let signature = headers["stripe-signature"].to_str().unwrap().to_owned();
    let event = serde_json::from_slice(&body).unwrap();
    inbox.letters.lock().unwrap().push(Letter {
        signature,
        body,
        event,
    });
    if inbox.is_silent {
        std::future::pending::<()>().await;
    }
    let status = inbox.answers.lock().unwrap().pop_front().unwrap_or(200);
    StatusCode::from_u16(status).unwrap()
}

impl Receiver {
    pub(super) async fn open() -> Self {
        Self::open_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub(super) async fn open_at(address: SocketAddr) -> Self {
        Self::with(address, Inbox::default()).await
    }

    /// One that never answers.
    pub(super) async fn silent() -> Self {
        let inbox = Inbox {
            is_silent: true,
            ..Inbox::default()
        };
        Self::with(SocketAddr::from(([127, 0, 0, 1], 0)), inbox).await
    }

    async fn with(address: SocketAddr, inbox: Inbox) -> Self {
        let router = Router::new()
            .route("/hook", post(receive))
            .with_state(inbox.clone());
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            address,
            inbox,
            server,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(super) fn target(&self) -> WebhookTarget {
        WebhookTarget {
            url: self.url(),
            secret: SECRET.to_owned(),
        }
    }

    pub(super) fn answers(&self, statuses: &[u16]) {
        self.inbox.answers.lock().unwrap().extend(statuses);
    }

    pub(super) fn most_at_a_time(&self) -> usize {
        self.inbox.present.most.load(Ordering::SeqCst)
    }

    pub(super) fn letters(&self) -> Vec<Letter> {
        self.inbox.letters.lock().unwrap().clone()
    }

    /// The id of each event that arrived.
    pub(super) fn arrived(&self) -> HashSet<String> {
        let letters = self.inbox.letters.lock().unwrap();
        let ids = letters.iter().map(|letter| letter.event["id"].as_str());
        ids.map(|id| id.unwrap().to_owned()).collect()
    }

    /// How often each type arrived.
    pub(super) fn counts(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for letter in self.letters() {
            *counts
                .entry(letter.event["type"].as_str().unwrap().to_owned())
                .or_default() += 1;
        }
        counts
    }

    pub(super) fn count(&self, kind: &str) -> usize {
        self.counts().get(kind).copied().unwrap_or(0)
    }

    pub(super) async fn gets(&self, number: usize) {
        eventually(&format!("{number} letters arrive"), || async {
            self.letters().len() >= number
        })
        .await;
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Signed, with the secret of every test and nothing else, at this moment.
pub(super) fn is_genuine(letter: &Letter) -> bool {
    let (age, signatures) = letter.signatures();
    (0..300).contains(&age) && signatures == [letter.signature_of(SECRET)]
}

pub(super) async fn attempts(world: &World) -> Vec<Value> {
    world.get("/_control/deliveries").await.body["data"]
        .as_array()
        .unwrap()
        .clone()
}

/// Waits until so many attempts were made.
pub(super) async fn failed(world: &World, number: usize) {
    eventually("the attempts failed", || async {
        attempts(world).await.len() == number
    })
    .await;
}

pub(super) async fn pending(world: &World) -> i64 {
    let events = world.get("/v1/events?limit=100").await.body;
    events["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["pending_webhooks"].as_i64().unwrap())
        .sum()
}

pub(super) async fn everything_is_delivered(world: &World) {
    eventually("everything is delivered", || async {
        pending(world).await == 0
    })
    .await;
}
