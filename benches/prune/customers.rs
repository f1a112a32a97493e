//! Customers who buy one thing after the other, as fast as they are served, or with a pause in between.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use boring_checkout::pruner::Pruner;
use reqwest::{Client, Response, redirect::Policy};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::prune;

pub struct Customers {
    client: Client,
    shop: String,
    number: u32,
    /// What each waits for after a purchase.
    pause: Duration,
}

/// What was bought in a window.
pub struct Bought {
    /// Purchases a second.
    pub rate: f64,
    /// How long the submission of the form took, of 99 in a hundred.
    p99: Duration,
}

impl fmt::Display for Bought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>6.1} purchases/s, p99 {:>4} ms",
            self.rate,
            self.p99.as_millis()
        )
    }
}

impl Customers {
    pub fn of(shop: &str, number: u32) -> Self {
        let client = Client::builder()
            .redirect(Policy::none())
            .tls_certs_only([]);
        Self {
            client: client.build().unwrap(),
            shop: shop.to_owned(),
            number,
            pause: Duration::ZERO,
        }
    }

    /// The same people, when they have time.
    pub fn unhurried(self) -> Self {
        Self {
            pause: Duration::from_secs(1),
            ..self
        }
    }

    pub async fn buy_for(&self, window: Duration) -> Bought {
        self.buy(async { tokio::time::sleep(window).await }).await
    }

    /// And how many rows were pruned meanwhile.
    pub async fn buy_while(&self, pruner: &Pruner, window: Duration) -> (Bought, u32) {
        let stopping = CancellationToken::new();
        let (bought, rows) = tokio::join!(
            async {
                let bought = self.buy_for(window).await;
                stopping.cancel();
                bought
            },
            prune(pruner, &stopping)
        );
        (bought, rows)
    }

    /// How many rows were pruned, and how long it took.
    pub async fn buy_until_pruned(&self, pruner: &Pruner) -> (Bought, u32, Duration) {
        let (mut rows, began) = (0, Instant::now());
        let bought = self
            .buy(async {
                rows = prune(pruner, &CancellationToken::new()).await;
            })
            .await;
        (bought, rows, began.elapsed())
    }

    async fn buy(&self, until: impl Future<Output = ()>) -> Bought {
        let closing = CancellationToken::new();
        let took = Arc::new(Mutex::new(Vec::new()));
        let began = Instant::now();
        let mut buying = JoinSet::new();
        for _ in 0..self.number {
            let (client, shop, pause) = (self.client.clone(), self.shop.clone(), self.pause);
            let (closing, took) = (closing.clone(), Arc::clone(&took));
            buying.spawn(async move {
                while !closing.is_cancelled() {
                    let time = purchase(&client, &shop).await;
                    took.lock().unwrap().push(time);
                    closing.run_until_cancelled(tokio::time::sleep(pause)).await;
                }
            });
        }
        until.await;
        closing.cancel();
        while let Some(ended) = buying.join_next().await {
            ended.unwrap();
        }
        let seconds = began.elapsed().as_secs_f64();
        let mut took = std::mem::take(&mut *took.lock().unwrap());
        took.sort_unstable();
        Bought {
            rate: f64::from(u32::try_from(took.len()).unwrap()) / seconds,
            p99: *took.get(took.len() * 99 / 100).expect("a purchase"),
        }
    }
}

/// Buys something, and returns how long the submission of the form took.
async fn purchase(client: &Client, shop: &str) -> Duration {
    let form = [("sku", "TEA-01"), ("quantity", "1")];
    let added = post(client, shop, "/cart/items", "", &form).await;
    let cookie = added.headers().get("set-cookie").expect("a session");
    let cookie = cookie
        .to_str()
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let page = client
        .get(format!("{shop}/checkout"))
        .header("cookie", &cookie);
    let page = page.send().await.unwrap().text().await.unwrap();
    let hidden = |name: &str| {
        let (_, rest) = page
            .split_once(&format!("name=\"{name}\" value=\""))
            .expect("a field");
        rest.split('"').next().unwrap()
    };
    let form = [
        ("idempotency_key", hidden("idempotency_key")),
        ("quoted_total", hidden("quoted_total")),
        ("quoted_cart", hidden("quoted_cart")),
        ("email", "buyer@example.com"),
        ("name", "A Buyer"),
        ("address", "1 Plain Street"),
        ("city", "Ordinary"),
        ("postal_code", "12345"),
        ("country", "DE"),
        ("payment_method", "pm_card_visa"),
    ];
    let began = Instant::now();
    let submitted = post(client, shop, "/checkout", &cookie, &form).await;
    let took = began.elapsed();
    let status = submitted.headers().get("location").expect("an address");
    assert!(
        status.to_str().unwrap().starts_with("/checkouts/"),
        "not bought"
    );
    took
}

async fn post(
    client: &Client,
    shop: &str,
    path: &str,
    cookie: &str,
    form: &[(&str, &str)],
) -> Response {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    let request = client
        .post(format!("{shop}{path}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("cookie", cookie)
        .body(body);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 303, "{path}");
    answer
}
