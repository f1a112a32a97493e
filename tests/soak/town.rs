//! The processes of a soak, the wires between them, and what is done to them.

use std::{io::Write as _, net::SocketAddr, time::Duration};

use boring_checkout::{app::Shop, config::Cli, db::Db, provider};
use clap::Parser as _;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{
    blows::PROGRESS,
    size::Size,
    world::{Broker, Database, MailServer, PASSWORD, Process, Provider, Relay},
};

pub const SHOPS: usize = 3;

/// The lease of a purchase. Whoever is frozen is frozen for longer, and so may a call of the provider take longer.
pub const LEASE: Duration = Duration::from_secs(1);

/// Whoever walks away from their bank is not waited for.
pub const AUTHENTICATION_TIME: Duration = Duration::from_secs(10);

/// A shop that cannot start, since its connection to the database breaks each time, is started again so often.
const STARTS_MAX: usize = 20;

/// How long the last of it may take once all is well: some of it is somebody's who is dead, and the broker waits for them.
const SETTLING: Duration = Duration::from_mins(5);

/// Bytes after which a connection breaks, on average: after some dozens of calls of the provider, webhooks or messages, and
/// after some hundreds of statements.
const CALLS: u64 = 150_000;
const MESSAGES: u64 = 150_000;
const STATEMENTS: u64 = 250_000;

/// All of it.
pub struct Town {
    pub db: Db,
    pub client: provider::Provider,
    pub provider_url: String,
    pub mails: MailServer,
    pub broker: Option<Broker>,
    pub wires: Wires,
    pub most_memory_kb: u64,
    pub false_starts: usize,
    database: Database,
    shops: Vec<Process>,
    provider: Option<Process>,
    provider_flags: Vec<String>,
    shop_flags: Vec<String>,
}

/// Every connection between two processes is one of these.
pub struct Wires {
    /// From the shops to PostgreSQL. SQLite has none.
    pub database: Relay,
    /// From the shops to the provider.
    pub calls: Relay,
    /// From the provider to a shop.
    pub webhooks: Relay,
    /// From the shops to the broker.
    pub messages: Relay,
}

impl Town {
    pub async fn found(size: &Size, broker: Option<Broker>) -> Self {
        let wires = Wires::open().await;
        let database = Database::fresh().await;
        let db = database.open().await;
        let database = database.behind(&wires.database);
        let webhooks = wires.webhooks.address;
        let ledger = database.file("provider.db");
        let target = format!("http://{webhooks}/webhooks/provider=whsec_boring");
        let provider = Process::provider(&ledger, &["--webhook", &target]).await;
        let provider_url = provider.url.clone();
        wires.calls.leads_to(address(&provider.url));
        let mails = MailServer::open().await;
        if let Some(broker) = &broker {
            wires.messages.leads_to(broker.address());
        }
        let mut town = Self {
            client: provider::Provider::new(&provider_url, "sk_test_boring".into(), 10 * LEASE)
                .expect("a URL"),
            shop_flags: shop_flags(&database, &wires, &mails, broker.is_some()),
            provider_flags: [
                ("--listen", address(&provider_url).to_string()),
                ("--webhook", target),
            ]
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value])
            .collect(),
            db,
            provider_url,
            mails,
            broker,
            wires,
            most_memory_kb: 0,
            false_starts: 0,
            database,
            shops: Vec::new(),
            provider: Some(provider),
        };
        for _ in 0..SHOPS {
            let shop = town.opens_shop().await;
            town.shops.push(shop);
        }
        town.webhooks_lead_to(0);
        town.is_stocked().await;
        // From now on nothing is well any more.
        town.provider_is_killed(Duration::ZERO, Some(size.seed))
            .await;
        town.wires.break_down(size.seed);
        town
    }

    /// Plenty of everything but lamps.
    async fn is_stocked(&self) {
        let mut tx = self.db.begin().await.expect("a transaction");
        let delivery = "update products set stock = stock + 1000000, stocked = stocked + 1000000
                        where sku <> 'LMP-01'";
        tx.query(delivery).execute().await.expect("delivered");
        tx.commit().await.expect("a commit");
    }

    pub fn addresses(&self) -> Vec<String> {
        self.shops.iter().map(|shop| shop.url.clone()).collect()
    }

    pub fn webhooks_lead_to(&self, shop: usize) {
        let shop = &self.shops[shop % SHOPS];
        self.wires.webhooks.leads_to(address(&shop.url));
    }

    /// Some are killed at once, and opened again a while later.
    pub async fn shops_are_killed(&mut self, shops: &[usize], closed: Duration) {
        for &shop in shops {
            let memory_kb = self.shops[shop].resident_kilobytes();
            self.most_memory_kb = self.most_memory_kb.max(memory_kb);
            self.shops[shop].end();
            self.keeps_log(&self.shops[shop]);
        }
        sleep(closed).await;
        for &shop in shops {
            self.shops[shop] = self.opens_shop().await;
        }
    }

    pub async fn shop_is_frozen(&self, shop: usize, time: Duration) {
        self.shops[shop].freezes();
        sleep(time).await;
        self.shops[shop].thaws();
    }

    pub async fn provider_is_frozen(&self, time: Duration) {
        let provider = self.provider.as_ref().expect("it runs");
        provider.freezes();
        sleep(time).await;
        provider.thaws();
    }

    /// It opens again in the same place, with chaos of that seed, if any.
    pub async fn provider_is_killed(&mut self, closed: Duration, chaos: Option<u64>) {
        if let Some(provider) = self.provider.take() {
            self.keeps_log(&provider);
            provider.kill();
        }
        sleep(closed).await;
        let ledger = self.database.file("provider.db");
        let mut flags = self.provider_flags.clone();
        flags.extend(
            chaos
                .into_iter()
                .flat_map(|seed| ["--chaos".to_owned(), seed.to_string()]),
        );
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        self.provider = Some(Process::provider(&ledger, &flags).await);
    }

    pub async fn broker_is_killed(&mut self, closed: Duration) {
        if let Some(broker) = &mut self.broker {
            broker.kill();
            sleep(closed).await;
            broker.starts().await;
        }
    }

    /// As whoever watches over it does: it is started until it runs.
    async fn opens_shop(&mut self) -> Process {
        let flags: Vec<&str> = self.shop_flags.iter().map(String::as_str).collect();
        let mut log = String::new();
        for _ in 0..STARTS_MAX {
            match Process::serve(&flags).await {
                Ok(shop) => return shop,
                Err(why) => log = why,
            }
            self.false_starts += 1;
            sleep(Duration::from_millis(50)).await;
        }
        panic!("the shop does not start: {log}");
    }

    /// Nothing breaks any more.
    pub async fn heals(&mut self) {
        self.wires.mend();
        self.provider_is_killed(Duration::ZERO, None).await;
        for shop in &self.shops {
            self.most_memory_kb = self.most_memory_kb.max(shop.resident_kilobytes());
        }
    }

    /// Waits until nothing is left to be done. One more shop joins, for which time runs fifty times as fast: leases of the dead
    /// run out for it, and waits are over.
    pub async fn settles(&self) -> Result<(), String> {
        let flags = self.shop_flags.iter().map(String::as_str);
        let cli = ["boring-checkout", "--listen", "127.0.0.1:0"];
        let cli = Cli::try_parse_from(cli.into_iter().chain(flags)).expect("valid flags");
        let heir = Shop::start(&cli.serve).await.expect("it starts");
        let provider = Provider::at(&self.provider_url);
        let hours = json!({"advance_seconds": 4 * 3600});
        provider.control("clock", hours).await;
        let deadline = Instant::now() + SETTLING;
        let mut left = self.left(&provider).await;
        let mut said = Instant::now();
        while !left.is_empty() && Instant::now() < deadline {
            if said.elapsed() > PROGRESS {
                println!("settling: {}", left.join(", "));
                said = Instant::now();
            }
            provider.control("settle", json!({})).await;
            heir.app.till.clock.advance(Duration::from_secs(5));
            sleep(Duration::from_millis(100)).await;
            left = self.left(&provider).await;
        }
        heir.stop().await;
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("it never settled: {}", left.join(", ")))
        }
    }

    /// What is not done yet.
    async fn left(&self, provider: &Provider) -> Vec<String> {
        let mut left = Vec::new();
        for (what, sql) in [
            (
                "checkouts pending",
                "select count(*) from checkouts where status = 'pending'",
            ),
            (
                "refunds pending",
                "select count(*) from refunds where status = 'pending'",
            ),
            (
                "messages unpublished",
                "select count(*) from outbox where published_at is null",
            ),
            (
                "messages unconsumed",
                "select 3 * (select count(*) from outbox) - (select count(*) from inbox)",
            ),
            (
                "mails unsent",
                "select count(*) from emails where sent_at is null and given_up_at is null",
            ),
        ] {
            let count = self.count(sql).await;
            if count != 0 {
                left.push(format!("{count} {what}"));
            }
        }
        let unheard = provider.unheard(&self.db).await;
        if unheard > 0 {
            left.push(format!("{unheard} events unheard"));
        }
        left
    }

    pub async fn count(&self, sql: &'static str) -> i64 {
        self.db.query(sql).fetch_scalar().await.expect(sql)
    }

    fn keeps_log(&self, process: &Process) {
        let path = self.database.folder().join("log");
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(path);
        let log = write!(log.expect("a file"), "{}", process.log());
        log.expect("written");
    }

    /// What all shops and providers have logged.
    pub fn log(&self) -> String {
        for process in self.shops.iter().chain(&self.provider) {
            self.keeps_log(process);
        }
        let path = self.database.folder().join("log");
        std::fs::read_to_string(path).expect("a log")
    }

    /// Closes everything, and says where the rest can be looked at.
    pub fn stays(mut self) -> String {
        self.shops.drain(..).for_each(Process::kill);
        self.provider.into_iter().for_each(Process::kill);
        self.database.stays()
    }
}

impl Wires {
    async fn open() -> Self {
        Self {
            database: Relay::open().await,
            calls: Relay::open().await,
            webhooks: Relay::open().await,
            messages: Relay::open().await,
        }
    }

    /// Their names, and how often they broke.
    pub fn broken(&self) -> [(&'static str, usize); 4] {
        [
            ("database", self.database.broken()),
            ("calls", self.calls.broken()),
            ("webhooks", self.webhooks.broken()),
            ("messages", self.messages.broken()),
        ]
    }

    fn break_down(&self, seed: u64) {
        self.database.breaks(seed, STATEMENTS);
        self.calls.breaks(seed.wrapping_add(1), CALLS);
        self.webhooks.breaks(seed.wrapping_add(2), CALLS);
        self.messages.breaks(seed.wrapping_add(3), MESSAGES);
    }

    fn mend(&self) {
        for wire in [&self.database, &self.calls, &self.webhooks, &self.messages] {
            wire.mends();
        }
    }
}

fn shop_flags(
    database: &Database,
    wires: &Wires,
    mails: &MailServer,
    has_broker: bool,
) -> Vec<String> {
    let mut flags = vec![
        ("--database-url", database.url()),
        ("--provider-url", format!("http://{}", wires.calls.address)),
        ("--smtp-url", mails.url.clone()),
        ("--admin-password", PASSWORD.to_owned()),
        ("--lease", format!("{}ms", LEASE.as_millis())),
        ("--provider-timeout", "2s".to_owned()),
        (
            "--authentication-time",
            format!("{}s", AUTHENTICATION_TIME.as_secs()),
        ),
        // Customers try more often than people do.
        ("--attempts-per-session", "1000".to_owned()),
    ];
    if has_broker {
        flags.push(("--bus-url", format!("nats://{}", wires.messages.address)));
    }
    let flags = flags.into_iter();
    flags
        .flat_map(|(flag, value)| [flag.to_owned(), value])
        .collect()
}

fn address(url: &str) -> SocketAddr {
    let address = url.trim_start_matches("http://").parse();
    address.expect("an address")
}
