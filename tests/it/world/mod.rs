//! A shop of its own for each test, with a provider of its own: real HTTP, a real database.
//!
//! The database is a SQLite file in a temporary folder or, when `TEST_DATABASE_URL` names a PostgreSQL server, a
//! fresh schema there. The same stories run on both.

mod aiosmtpd;
mod books;
mod broker;
mod caller;
mod database;
mod letter;
mod mail_server;
mod operator;
mod page;
mod probes;
mod process;
mod provider;
mod raw;
mod relay;
mod visitor;

use std::time::Duration;

use boring_checkout::{
    app::App,
    audit::{self, Counts, Report},
    config::Cli,
    db::Db,
    lab::trail,
};
use clap::Parser as _;
use serde_json::json;

pub use self::{
    aiosmtpd::{Aiosmtpd, STEPS},
    books::Books,
    broker::Broker,
    caller::{Answer, Caller, fresh_key, tea, with},
    database::Database,
    letter::{Letter, event},
    mail_server::{Mail, MailServer, Mood},
    operator::{Operator, PASSWORD},
    page::{Form, Page},
    probes::{failing, front, holding, probed},
    process::{Process, command},
    provider::Provider,
    raw::raw,
    relay::Relay,
    visitor::Visitor,
};

/// What `settles` and the like wait for at most. Nothing takes as long; a condition that never comes fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A shop, running in this process. Its stories are of requests and webhooks, so it has no workers unless it says so.
pub struct Shop {
    pub provider: Provider,
    pub database: Database,
    pub url: String,
    running: boring_checkout::app::Shop,
}

impl Shop {
    pub async fn open() -> Self {
        Self::open_with(&[]).await
    }

    /// With flags of the command line.
    pub async fn open_with(flags: &[&str]) -> Self {
        Self::open_on(Database::fresh().await, flags).await
    }

    pub async fn open_on(database: Database, flags: &[&str]) -> Self {
        Self::start(database, &[flags, &["--no-workers"]].concat()).await
    }

    /// With everything that works without being asked.
    pub async fn open_with_workers(flags: &[&str]) -> Self {
        Self::open_on_with_workers(Database::fresh().await, flags).await
    }

    pub async fn open_on_with_workers(database: Database, flags: &[&str]) -> Self {
        Self::start(database, flags).await
    }

    async fn start(database: Database, flags: &[&str]) -> Self {
        keep_the_trail();
        let running = boring_checkout::app::Shop::start(&parse(&database, flags))
            .await
            .expect("the shop starts");
        let simulator = running.simulator.as_ref().expect("a simulator beside it");
        Self {
            provider: Provider::at(&simulator.url()),
            url: running.url(),
            database,
            running,
        }
    }

    pub fn app(&self) -> &App {
        &self.running.app
    }

    pub fn db(&self) -> &Db {
        &self.app().till.db
    }

    /// Somebody with a cookie jar of their own.
    pub fn visitor(&self) -> Visitor {
        Visitor::at(&self.url)
    }

    /// Somebody who knows the operator's password.
    pub fn operator(&self) -> Operator {
        Operator::at(&self.url, PASSWORD)
    }

    /// Moves the shop's clock ahead, as far as webhooks allow (300 s altogether).
    pub fn later(&self, seconds: u64) {
        self.app().till.clock.advance(Duration::from_secs(seconds));
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }

    /// Waits until nothing is undecided and the shop has heard of every event that tells it something.
    pub async fn settles(&self) {
        // What the provider would do by itself later, it does now.
        self.provider.control("settle", json!({})).await;
        eventually("the shop settles", || async {
            let pending: i64 = self
                .count("select count(*) from checkouts where status = 'pending'")
                .await;
            pending == 0 && self.provider.unheard(self.db()).await <= 0
        })
        .await;
    }

    /// The same, and has heard of every other event as well.
    pub async fn hears_everything(&self) {
        self.settles().await;
        eventually("every event is here", || async {
            let heard = self.count("select count(*) from processed_events").await;
            let made = self.provider.ledger().await["events"].take();
            made.as_i64().expect("a number") <= heard
        })
        .await;
    }

    /// Waits until all that follows from what has happened is done.
    pub async fn finishes(&self) {
        eventually("everything is published and every mail is sent", || async {
            self.count(
                "select (select count(*) from outbox where published_at is null)
                      + (select count(*) from emails where sent_at is null and given_up_at is null)",
            )
            .await
                == 0
        })
        .await;
    }

    pub async fn count(&self, sql: &'static str) -> i64 {
        self.db().query(sql).fetch_scalar().await.expect(sql)
    }

    /// Does something to the database behind the shop's back.
    pub async fn alters(&self, sql: &'static str) -> u64 {
        let mut tx = self.db().begin().await.expect("a transaction");
        let changed = tx.query(sql).execute().await.expect(sql);
        tx.commit().await.expect("a commit");
        changed
    }

    pub async fn report(&self) -> Report {
        let till = &self.app().till;
        audit::audit(&till.db, &till.provider, till.clock.now())
            .await
            .expect("both ledgers can be read")
    }

    /// The end of every story: all invariants hold, and so much has happened.
    pub async fn expects(&self, expected: Expected) {
        self.settles().await;
        self.has(expected).await;
    }

    /// All invariants hold, and so much has happened, while the shop may not know every event any more.
    pub async fn has(&self, expected: Expected) {
        let report = self.report().await;
        assert!(report.ok, "{report}");
        let Counts {
            orders,
            provider_succeeded,
            ..
        } = report.counts;
        let sold = self
            .count("select cast(coalesce(sum(stocked - stock), 0) as bigint) from products")
            .await;
        let found = Expected {
            charges: provider_succeeded,
            orders,
            sold,
        };
        assert_eq!(found, expected, "{report}");
    }
}

/// What a story came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Expected {
    /// Succeeded payments at the provider.
    pub charges: i64,
    pub orders: i64,
    /// Units that left the shelf for good.
    pub sold: i64,
}

/// One of everything: the healthy end of a purchase of one unit.
pub const ONCE: Expected = Expected {
    charges: 1,
    orders: 1,
    sold: 1,
};

/// Nothing of anything.
pub const NOTHING: Expected = Expected {
    charges: 0,
    orders: 0,
    sold: 0,
};

/// An HTTP client that follows no redirects: the tests want to see them.
pub fn client() -> reqwest::Client {
    // Nothing is encrypted here, but a client cannot be built without it. It may be there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only([])
        .build()
        .expect("a client")
}

/// Waits for a condition, never for a time.
pub async fn eventually<F: Future<Output = bool>>(what: &str, condition: impl Fn() -> F) {
    within(PATIENCE, what, condition).await;
}

/// Waits for a condition that may take longer than usual.
pub async fn within<F: Future<Output = bool>>(
    patience: Duration,
    what: &str,
    condition: impl Fn() -> F,
) {
    let deadline = tokio::time::Instant::now() + patience;
    while !condition().await {
        assert!(tokio::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// As the program does, for the lab of every shop in this process.
fn keep_the_trail() {
    static KEPT: std::sync::Once = std::sync::Once::new();
    KEPT.call_once(|| {
        use tracing_subscriber::{
            EnvFilter,
            layer::{Identity, SubscriberExt as _},
            util::SubscriberInitExt as _,
        };
        // Nobody reads the lines; but libraries have their spans, as in the program.
        let trail = trail::beside(Identity::new(), EnvFilter::new("info"));
        let log = tracing_subscriber::registry().with(trail);
        log.try_init().expect("nobody else keeps the log");
    });
}

pub fn parse(database: &Database, flags: &[&str]) -> boring_checkout::config::ServeArgs {
    let url = database.url();
    let mail = database.mail_folder();
    let common = [
        "boring-checkout",
        "--mail-folder",
        &mail,
        "--listen",
        "127.0.0.1:0",
        "--provider-listen",
        "127.0.0.1:0",
        "--provider-database-url",
        "sqlite::memory:",
        "--database-url",
        &url,
    ];
    let password = if flags.contains(&"--admin-password") {
        &[][..]
    } else {
        &["--admin-password", PASSWORD]
    };
    Cli::try_parse_from(common.iter().chain(flags).chain(password))
        .expect("valid flags")
        .serve
}
