//! The simulator is killed, two hundred times, while several clients are paid through it.
//!
//! Each client does what an SDK does: it sends a request with a key until it is answered. What was answered once has
//! to be answered again in the same bytes by whatever process comes next, each key has to have had one effect, and
//! each effect has to become known to the receiver of webhooks.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

use super::{
    receiver::{Receiver, SECRET},
    world::{Answer, KEY},
};
use crate::world::{Process, Relay, client};

const KILLS: usize = 200;
const CLIENTS: usize = 6;
const AMOUNT: i64 = 4200;
const REFUND: i64 = 1000;

/// How often each event is told on the way of one wish.
const STORY: [(&str, usize); 10] = [
    ("charge.failed", 1),
    ("charge.refund.updated", 1),
    ("charge.refunded", 1),
    ("charge.succeeded", 1),
    ("charge.updated", 1),
    ("payment_intent.created", 1),
    ("payment_intent.payment_failed", 1),
    ("payment_intent.succeeded", 1),
    ("refund.created", 1),
    ("refund.updated", 1),
];

/// A simulator in one process after another, on one database.
struct Provider {
    folder: TempDir,
    receiver: Receiver,
    process: Mutex<Option<Process>>,
    /// Clients reach whatever process there is.
    front: Relay,
    client: reqwest::Client,
    answered: Mutex<Vec<Answered>>,
    /// How many requests were answered.
    count: watch::Sender<usize>,
    is_over: AtomicBool,
}

/// A request with a key, and its first answer.
#[derive(Clone)]
struct Answered {
    path: String,
    form: String,
    key: String,
    status: u16,
    bytes: Vec<u8>,
}

impl Provider {
    async fn open() -> Self {
        let provider = Self {
            folder: tempfile::tempdir().unwrap(),
            receiver: Receiver::open().await,
            process: Mutex::default(),
            front: Relay::open().await,
            client: client(),
            answered: Mutex::default(),
            count: watch::Sender::default(),
            is_over: AtomicBool::default(),
        };
        provider.is_killed_and_started_again().await;
        provider
    }

    async fn is_killed_and_started_again(&self) {
        let killed = self.process.lock().unwrap().take();
        if let Some(process) = killed {
            process.kill();
        }
        let database = self.folder.path().join("provider.db");
        let database_url = format!("sqlite://{}", database.display());
        let webhook = format!("{}={SECRET}", self.receiver.url());
        let started = Process::provider(&database_url, &["--webhook", &webhook]).await;
        self.front.leads_to(started.address().parse().unwrap());
        *self.process.lock().unwrap() = Some(started);
    }

    async fn post(&self, url: &str, form: &str, key: &str) -> reqwest::Result<Answer> {
        let request = self
            .client
            .post(url)
            .bearer_auth(KEY)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header("idempotency-key", key)
            .body(form.to_owned());
        Answer::read(request.send().await?).await
    }

    /// The process of the moment, for whoever looks at what it makes of things and is not cut off.
    fn url(&self, path: &str) -> String {
        let process = self.process.lock().unwrap();
        format!("{}{path}", process.as_ref().unwrap().url)
    }

    async fn get(&self, path: &str) -> Value {
        let request = self.client.get(self.url(path)).bearer_auth(KEY);
        let answer = Answer::read(request.send().await.unwrap()).await.unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// Sends a request until it is answered.
    async fn insists(&self, path: &str, form: &str, key: &str) -> Answer {
        let url = format!("http://{}{path}", self.front.address);
        loop {
            match self.post(&url, form, key).await {
                // The first one is not at its end yet.
                Ok(answer) if answer.status == 409 => {}
                Ok(answer) => {
                    assert!(matches!(answer.status, 200 | 402), "{}", answer.body);
                    self.answered.lock().unwrap().push(Answered {
                        path: path.to_owned(),
                        form: form.to_owned(),
                        key: key.to_owned(),
                        status: answer.status,
                        bytes: answer.bytes.clone(),
                    });
                    self.count.send_modify(|count| *count += 1);
                    return answer;
                }
                // Killed, or not open yet.
                Err(_) => {}
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// A declined card, then one that pays, and some of it back; over and over.
    async fn is_paid_by(&self, client: usize) -> Vec<String> {
        let mut wishes = Vec::new();
        while !self.is_over.load(Ordering::Relaxed) {
            let wish = format!("{client}-{}", wishes.len());
            let form = format!(
                "amount={AMOUNT}&currency=usd&payment_method_types[]=card&metadata[wish]={wish}"
            );
            let created = self
                .insists("/v1/payment_intents", &form, &format!("create {wish}"))
                .await;
            let confirm = format!("/v1/payment_intents/{}/confirm", created.id());
            let declined = self
                .insists(
                    &confirm,
                    "payment_method=pm_card_chargeDeclined",
                    &format!("decline {wish}"),
                )
                .await;
            assert_eq!(declined.status, 402);
            let paid = self
                .insists(
                    &confirm,
                    "payment_method=pm_card_visa",
                    &format!("pay {wish}"),
                )
                .await;
            assert_eq!(paid.body["status"], "succeeded");
            let form = format!("payment_intent={}&amount={REFUND}", created.id());
            self.insists("/v1/refunds", &form, &format!("refund {wish}"))
                .await;
            wishes.push(wish);
        }
        wishes
    }

    /// Kills it in the middle of its work, and looks at what the next process makes of that.
    async fn is_killed_at_random_moments(&self, rng: &mut SmallRng) {
        let mut checked = 0;
        let mut newest_event = None;
        for _ in 0..KILLS {
            let target = checked + rng.random_range(1..=4);
            let mut count = self.count.subscribe();
            count.wait_for(|count| *count >= target).await.unwrap();
            tokio::time::sleep(Duration::from_micros(rng.random_range(0..15_000))).await;
            let answered = self.answered.lock().unwrap()[checked..].to_vec();
            if rng.random_range(0..10) == 0 {
                // Then some are retried later.
                self.receiver.answers(&[500]);
            }

            self.is_killed_and_started_again().await;

            checked += answered.len();
            join_all(answered.iter().map(|it| self.replays(it))).await;
            self.made_one_intent_each(&answered).await;
            self.keeps_every_event(&mut newest_event).await;
        }
        self.is_over.store(true, Ordering::Relaxed);
    }

    async fn replays(&self, first: &Answered) {
        let again = self
            .post(&self.url(&first.path), &first.form, &first.key)
            .await
            .unwrap();
        assert_eq!(again.status, first.status, "{}", first.key);
        assert_eq!(
            again.header("idempotent-replayed"),
            Some("true"),
            "{}",
            first.key
        );
        assert_eq!(again.bytes, first.bytes, "{}", first.key);
    }

    /// Among the intents of late there is one of each wish that was answered, and two of none.
    async fn made_one_intent_each(&self, answered: &[Answered]) {
        let page = self.get("/v1/payment_intents?limit=30").await;
        let mut late = HashMap::new();
        for intent in page["data"].as_array().unwrap() {
            let wish = intent["metadata"]["wish"].as_str().unwrap().to_owned();
            let before = late.insert(wish, intent["id"].clone());
            assert_eq!(before, None, "two intents of one wish: {intent}");
        }
        for first in answered {
            if let Some(wish) = first.key.strip_prefix("create ") {
                let told: Value = serde_json::from_slice(&first.bytes).unwrap();
                assert_eq!(late.get(wish), Some(&told["id"]), "{wish}");
            }
        }
    }

    /// Every event since `newest` has arrived, or is still to be delivered.
    async fn keeps_every_event(&self, newest: &mut Option<String>) {
        let events = self.everything("events", newest.as_deref()).await;
        let arrived = self.receiver.arrived();
        for event in &events {
            let id = event["id"].as_str().unwrap();
            let is_pending = event["pending_webhooks"] == 1;
            assert!(is_pending || arrived.contains(id), "{id} is lost");
        }
        if let Some(event) = events.last() {
            *newest = event["id"].as_str().map(ToOwned::to_owned);
        }
    }

    /// All objects of a kind, oldest first; only those that are newer than `since`.
    async fn everything(&self, kind: &str, since: Option<&str>) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        let Some(since) = since else {
            // From the newest down to the oldest.
            let mut path = format!("/v1/{kind}?limit=100");
            loop {
                let page = self.get(&path).await;
                all.extend(page["data"].as_array().unwrap().iter().cloned());
                if page["has_more"] == false {
                    all.reverse();
                    return all;
                }
                let last = all.last().unwrap()["id"].as_str().unwrap();
                path = format!("/v1/{kind}?limit=100&starting_after={last}");
            }
        };
        let mut newest = since.to_owned();
        loop {
            let path = format!("/v1/{kind}?limit=100&ending_before={newest}");
            let page = self.get(&path).await;
            all.extend(page["data"].as_array().unwrap().iter().rev().cloned());
            if page["has_more"] == false {
                return all;
            }
            all.last().unwrap()["id"]
                .as_str()
                .unwrap()
                .clone_into(&mut newest);
        }
    }

    async fn control(&self, lever: &str, body: Value) {
        let url = self.url(&format!("/_control/{lever}"));
        let request = self.client.post(url).bearer_auth(KEY);
        let answer = request.body(body.to_string()).send().await.unwrap();
        assert!(answer.status().is_success());
    }

    /// Waits until every event has been answered with a 2xx. The clock brings the retries.
    async fn delivers_everything(&self) {
        // What is to come by itself comes now, so that no event is made after the last look.
        self.control("settle", json!({})).await;
        let delivering = async {
            while !self.get("/v1/events?delivery_success=false").await["data"]
                .as_array()
                .unwrap()
                .is_empty()
            {
                self.control("clock", json!({"advance_seconds": 1})).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let patience = Duration::from_mins(1);
        let delivered = tokio::time::timeout(patience, delivering).await;
        assert!(delivered.is_ok(), "not every event was delivered");
    }

    /// One intent for each wish, with one declined and one successful charge and one refund, and every event of it
    /// once.
    async fn has_done_everything_once(&self, wishes: &[String]) {
        let mut intents = BTreeMap::new();
        for intent in self.everything("payment_intents", None).await {
            assert_eq!(intent["amount_received"], AMOUNT);
            let wish = intent["metadata"]["wish"].as_str().unwrap().to_owned();
            let id = intent["id"].as_str().unwrap().to_owned();
            assert_eq!(intents.insert(wish, id), None, "two intents of one wish");
        }
        let mut expected = wishes.to_vec();
        expected.sort();
        assert_eq!(intents.keys().cloned().collect::<Vec<_>>(), expected);

        let mut charges: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for charge in self.everything("charges", None).await {
            let intent = charge["payment_intent"].as_str().unwrap().to_owned();
            let status = charge["status"].as_str().unwrap().to_owned();
            charges.entry(intent).or_default().push(status);
        }
        assert_eq!(charges.len(), wishes.len());
        assert!(
            charges
                .values()
                .all(|charges| *charges == ["failed", "succeeded"])
        );

        let mut refunded = BTreeMap::new();
        for refund in self.everything("refunds", None).await {
            let intent = refund["payment_intent"].as_str().unwrap().to_owned();
            let amount = refund["amount"].as_i64().unwrap();
            *refunded.entry(intent).or_insert(0) += amount;
        }
        assert_eq!(refunded.len(), wishes.len());
        assert!(refunded.values().all(|amount| *amount == REFUND));

        let mut events: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        let arrived = self.receiver.arrived();
        let all = self.everything("events", None).await;
        for event in &all {
            let id = event["id"].as_str().unwrap();
            assert!(arrived.contains(id), "{id} is lost");
            let object = &event["data"]["object"];
            let intent = object["payment_intent"].as_str();
            let intent = intent.or(object["id"].as_str()).unwrap().to_owned();
            let kind = event["type"].as_str().unwrap().to_owned();
            *events.entry(intent).or_default().entry(kind).or_default() += 1;
        }
        assert_eq!(arrived.len(), all.len(), "events that nobody made");
        assert_eq!(events.len(), wishes.len());
        let story = STORY.map(|(kind, times)| (kind.to_owned(), times));
        let story = BTreeMap::from(story);
        for told in events.values() {
            assert_eq!(*told, story);
        }
    }
}

#[tokio::test]
async fn killed_two_hundred_times_under_load_it_loses_and_doubles_nothing() {
    let seed = rand::rng().random();
    println!("seed {seed}");
    let mut rng = SmallRng::seed_from_u64(seed);
    let provider = Provider::open().await;

    let clients = join_all((0..CLIENTS).map(|client| provider.is_paid_by(client)));
    let killer = provider.is_killed_at_random_moments(&mut rng);
    let (wishes, ()) = tokio::join!(clients, killer);

    let answered = provider.answered.lock().unwrap().clone();
    for some in answered.chunks(CLIENTS) {
        join_all(some.iter().map(|it| provider.replays(it))).await;
    }
    provider.delivers_everything().await;
    let wishes = wishes.concat();
    assert!(wishes.len() > KILLS / 10, "only {}", wishes.len());
    provider.has_done_everything_once(&wishes).await;
    println!(
        "{} requests, {} letters",
        answered.len(),
        provider.receiver.letters().len()
    );
}
