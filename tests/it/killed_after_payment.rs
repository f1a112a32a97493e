//! A thousand purchases, while everything that follows a payment is killed again and again: the processes that publish,
//! consume and send, and the broker between them. The shops that sell are left alone, and sell.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use boring_checkout::{
    mail::postman::Postman,
    simulator::{Simulator, SimulatorConfig},
    workers::Work as _,
};
use futures_util::future::join_all;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use uuid::Uuid;

use crate::{
    outbox::shop_on,
    world::{Books, Broker, Database, Expected, MailServer, Process, Provider, Visitor, within},
};

/// How many customers buy at a time.
const CUSTOMERS: usize = 6;

/// Something is killed once for so many purchases.
const PURCHASES_FOR_A_KILL: usize = 20;

/// How long the last of it may take to arrive: what the dead had in hand comes again after half a minute.
const AFTERMATH: Duration = Duration::from_mins(2);

/// The thousand where somebody waits for it (`scripts/test`), fewer where somebody is at work.
fn purchases() -> usize {
    let asked = std::env::var("TEST_PURCHASES").ok();
    asked.map_or(200, |number| {
        number.parse().expect("TEST_PURCHASES is a number")
    })
}

#[tokio::test]
async fn on_the_bus_within_a_process_everything_arrives_once() {
    everything_arrives_once(None).await;
}

#[tokio::test]
async fn on_the_bus_between_processes_everything_arrives_once() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    everything_arrives_once(Some(broker)).await;
}

async fn everything_arrives_once(mut broker: Option<Broker>) {
    let all = purchases();
    let kills = all / PURCHASES_FOR_A_KILL;
    let seed = rand::rng().random();
    println!("seed {seed}");
    let mut rng = SmallRng::seed_from_u64(seed);
    let town = Town::found(broker.as_ref()).await;
    let sellers = [
        town.opens(&["--no-workers"]).await,
        town.opens(&["--no-workers"]).await,
    ];
    let mut workers = [town.opens(&[]).await, town.opens(&[]).await];

    let began = Instant::now();
    let left = AtomicUsize::new(all);
    let selling = join_all((0..CUSTOMERS).map(|n| buy(&sellers[n % sellers.len()].url, &left)));
    let killing = async {
        for kill in 0..kills {
            // Spread over all purchases, each at a moment that nobody has chosen.
            let sold = kill * PURCHASES_FOR_A_KILL + rng.random_range(0..PURCHASES_FOR_A_KILL);
            while left.load(Ordering::Relaxed) > all - sold {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            match (rng.random_range(0..3), &mut broker) {
                (2, Some(broker)) => {
                    broker.kill();
                    broker.starts().await;
                }
                (place, _) => {
                    let heir = town.opens(&[]).await;
                    std::mem::replace(&mut workers[place % 2], heir).kill();
                }
            }
        }
    };
    tokio::join!(selling, killing);
    let sold = began.elapsed();
    workers.into_iter().for_each(Process::kill);
    town.all_arrives(all).await;
    let repeats = town.mails.mails().len() - all;
    println!(
        "{all} purchases in {sold:.1?} and {kills} kills; all has arrived after {:.1?}; {repeats} mails came twice",
        began.elapsed()
    );
    // Only what a process had in its hands when it was killed.
    assert!(repeats <= kills * Postman::PLACES, "{repeats}");
}

/// Buys as long as something is left to be bought, each time as somebody new.
async fn buy(shop: &str, left: &AtomicUsize) {
    let take = |left: usize| left.checked_sub(1);
    while left
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
        .is_ok()
    {
        let buyer = Visitor::at(shop).with_cart("TEA-01", 1).await;
        let key = Uuid::new_v4().to_string();
        // What the form on the page would send, without the page.
        let form = [
            ("idempotency_key", key.as_str()),
            ("quoted_total", "490"),
            ("email", "buyer@example.com"),
            ("name", "A Buyer"),
            ("address", "1 Plain Street"),
            ("city", "Ordinary"),
            ("postal_code", "12345"),
            ("country", "DE"),
            ("payment_method", "pm_card_visa"),
        ];
        let answer = buyer.posts("/checkout", &form).await;
        assert!(answer.location().starts_with("/checkouts/"));
    }
}

/// What is not killed: the provider, the mail server and the database, and what shops are told of them.
struct Town {
    database: Database,
    provider: Provider,
    mails: MailServer,
    books: Books,
    flags: Vec<String>,
    _simulator: Simulator,
}

impl Town {
    async fn found(broker: Option<&Broker>) -> Self {
        let database = Database::fresh().await;
        let simulator = Simulator::start_with(SimulatorConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            database_url: "sqlite::memory:".to_owned(),
            key: "sk_test_boring".to_owned(),
            ..SimulatorConfig::default()
        });
        let simulator = simulator.await.expect("the simulator starts");
        let provider = Provider::at(&simulator.url());
        let books = Books::of(&database, &provider).await;
        let mails = MailServer::open().await;
        let mut flags = vec!["--smtp-url".to_owned(), mails.url.clone()];
        if let Some(broker) = broker {
            flags.extend(["--bus-url".to_owned(), broker.url()]);
        }
        let town = Self {
            database,
            provider,
            mails,
            books,
            flags,
            _simulator: simulator,
        };
        town.opens(&[]).await.kill();
        let mut tx = town.books.db().begin().await.expect("a transaction");
        tx.query("update products set stock = stock + 10000, stocked = stocked + 10000")
            .execute()
            .await
            .expect("delivered");
        tx.commit().await.expect("a commit");
        town
    }

    async fn opens(&self, flags: &[&str]) -> Process {
        let common = self.flags.iter().map(String::as_str);
        let flags: Vec<&str> = common.chain(flags.iter().copied()).collect();
        Process::shop_with_workers(&self.database, &self.provider, &flags).await
    }

    /// As many orders as shipments as mails, and books that balance.
    async fn all_arrives(&self, all: usize) {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let heir = shop_on(&self.database, &self.provider.url, &flags).await;
        // By then the leases of the dead have run out.
        heir.app.till.clock.advance(Duration::from_mins(5));
        let n = i64::try_from(all).expect("few");
        let sent = "select count(*) from emails where sent_at is not null";
        within(AFTERMATH, "everything has arrived", || async {
            self.books.count(sent).await == n
                && self.books.count("select count(*) from inbox").await == 3 * n
                && self
                    .books
                    .count("select count(*) from outbox where published_at is null")
                    .await
                    == 0
        })
        .await;
        heir.stop().await;
        assert_eq!(self.books.count("select count(*) from shipments").await, n);
        assert_eq!(self.mails.message_ids().len(), all);
        let expected = Expected {
            charges: n,
            orders: n,
            sold: n,
        };
        self.books.expect(expected).await;
    }
}
