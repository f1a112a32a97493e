//! The shop is killed at the worst moments, and started again on the same database.

use std::net::SocketAddr;

use boring_checkout::simulator::{Simulator, SimulatorConfig, WebhookTarget};
use futures_util::future::join_all;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::json;

use crate::world::{
    Books, Database, Expected, Form, ONCE, Process, Provider, Relay, Visitor, eventually,
};

const CREATE: &str = "payment_intents.create";

/// A provider that outlives the shops, and the wire on which its webhooks reach the shop of the moment.
pub struct Town {
    pub database: Database,
    pub provider: Provider,
    pub wire: Relay,
    pub books: Books,
    _simulator: Simulator,
}

impl Town {
    pub async fn found() -> Self {
        let database = Database::fresh().await;
        let wire = Relay::open().await;
        let simulator = Simulator::start_with(SimulatorConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            database_url: "sqlite::memory:".to_owned(),
            key: "sk_test_boring".to_owned(),
            webhooks: vec![WebhookTarget {
                url: format!("http://{}/webhooks/provider", wire.address),
                secret: "whsec_boring".to_owned(),
            }],
            ..SimulatorConfig::default()
        })
        .await
        .expect("the simulator starts");
        let provider = Provider::at(&simulator.url());
        let books = Books::of(&database, &provider).await;
        Self {
            database,
            provider,
            wire,
            books,
            _simulator: simulator,
        }
    }

    async fn opens_shop(&self) -> Process {
        let flags = ["--lease", "300ms", "--provider-timeout", "5s"];
        let shop = Process::shop(&self.database, &self.provider, &flags).await;
        self.wire
            .leads_to(shop.address().parse().expect("an address"));
        shop
    }

    /// Kills the shop in the middle of a purchase, once `moment` has come; opens it again and mends the provider.
    async fn killed_when(&self, moment: impl AsyncFn() -> bool) -> (Process, Visitor, Form) {
        let shop = self.opens_shop().await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let submission = tokio::spawn(buyer.submission(&form).send());
        eventually("the moment comes", || moment()).await;
        shop.kill();
        let answer = submission.await.expect("no panic");
        assert!(
            answer.is_err(),
            "the customer was answered too early: {answer:?}"
        );
        self.provider.mends().await;
        let shop = self.opens_shop().await;
        let buyer = buyer.moved_to(&shop.url);
        (shop, buyer, form)
    }
}

/// What the customer may do next. All of it ends the same.
async fn every_way_back(buyer: &Visitor, form: &Form) {
    let again = buyer.submits(form).await.location().to_owned();
    assert_eq!(buyer.sees("/checkout").await.location(), again);
    assert_eq!(buyer.waits_at(&again).await, "Paid");
    assert_eq!(buyer.submits(form).await.location(), again);
}

#[tokio::test]
async fn killed_after_the_intent_was_committed_and_before_the_charge() {
    let town = Town::found().await;
    let hang = json!({"on": {"operation": CREATE}, "fault": "hang"});
    town.provider.fault(hang).await;

    let (_shop, buyer, form) = town
        .killed_when(async || town.books.count("select count(*) from checkouts").await == 1)
        .await;
    every_way_back(&buyer, &form).await;

    town.books.expect(ONCE).await;
}

#[tokio::test]
async fn r14_killed_after_the_charge_and_before_the_record() {
    let town = Town::found().await;
    town.provider.loses_webhooks().await;
    let delay = json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 1500});
    town.provider.fault(delay).await;

    let (_shop, buyer, form) = town
        .killed_when(async || town.provider.ledger().await["payment_intents"]["succeeded"] == 1)
        .await;
    assert_eq!(town.books.count("select count(*) from orders").await, 0);
    every_way_back(&buyer, &form).await;

    town.books.expect(ONCE).await;
}

#[tokio::test]
async fn killed_after_the_record_and_before_the_answer() {
    let town = Town::found().await;
    let delay = json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 60_000});
    town.provider.fault(delay).await;

    let (_shop, buyer, form) = town
        .killed_when(async || town.books.count("select count(*) from orders").await == 1)
        .await;
    every_way_back(&buyer, &form).await;

    town.books.expect(ONCE).await;
}

#[tokio::test]
async fn r14_killed_and_only_the_webhook_comes_back() {
    let town = Town::found().await;
    town.provider.loses_webhooks().await;
    let delay = json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 60_000});
    town.provider.fault(delay).await;

    let (_shop, buyer, _) = town
        .killed_when(async || town.provider.ledger().await["payment_intents"]["succeeded"] == 1)
        .await;
    // The customer never looks. The provider tries again an hour later.
    eventually("the delivery is made again", || async {
        town.provider
            .control("clock", json!({"advance_seconds": 3600}))
            .await;
        town.books.count("select count(*) from orders").await == 1
    })
    .await;

    let cart = buyer.sees("/cart").await;
    assert!(
        !cart.text("main").contains("Plain black tea"),
        "the cart is used up"
    );
    town.books.expect(ONCE).await;
}

/// Twelve customers who press the button again until they have paid, and a shop that is killed again and again.
#[tokio::test]
async fn killed_at_random_moments_under_load() {
    const CUSTOMERS: usize = 12;
    const KILLS: usize = 10;
    let seed = rand::rng().random();
    println!("seed {seed}");
    let mut rng = SmallRng::seed_from_u64(seed);
    let town = Town::found().await;
    let mut shop = town.opens_shop().await;
    // Customers reach whatever shop there is through a front of their own.
    let front = Relay::open().await;
    front.leads_to(shop.address().parse().expect("an address"));
    let url = format!("http://{}", front.address);
    let visitors = (0..CUSTOMERS).map(|_| async { Visitor::at(&url).with_cart("TEA-01", 1).await });
    let buyers = join_all(visitors).await;
    let forms = join_all(buyers.iter().map(Visitor::opens_checkout)).await;

    let insisting = async {
        join_all(
            buyers
                .iter()
                .zip(&forms)
                .map(|(buyer, form)| insist(buyer, form)),
        )
        .await;
    };
    let killing = async {
        for _ in 0..KILLS {
            let moment = std::time::Duration::from_millis(rng.random_range(0..150));
            tokio::time::sleep(moment).await;
            let killed = std::mem::replace(&mut shop, town.opens_shop().await);
            killed.kill();
            front.leads_to(shop.address().parse().expect("an address"));
        }
    };
    tokio::join!(insisting, killing);

    let n = i64::try_from(CUSTOMERS).expect("few");
    town.books
        .expect(Expected {
            charges: n,
            orders: n,
            sold: n,
        })
        .await;
}

/// Sends the form until the answer leads to a page that says "Paid".
pub async fn insist(buyer: &Visitor, form: &Form) {
    eventually("the customer has paid", || async {
        let Ok(answer) = buyer.submission(form).send().await else {
            return false;
        };
        let Some(location) = answer.headers().get("location") else {
            return false;
        };
        let location = location.to_str().expect("text");
        match buyer.get(location).send().await {
            Ok(page) => page
                .text()
                .await
                .is_ok_and(|html| html.contains("<h1>Paid</h1>")),
            Err(_) => false,
        }
    })
    .await;
}
