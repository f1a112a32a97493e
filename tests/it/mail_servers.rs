//! The mail server is a real one, aiosmtpd, in any mood. What it does delays mails, and nothing else.
//!
//! `scripts/test` says with `TEST_PYTHON` where it is. Without, there is nothing here to run.

use std::{process::Command, time::Duration};

use boring_checkout::{db::Db, mail::operator, probe::Boundary};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use serde_json::json;

use crate::{
    outbox::shop_on,
    reconciler::{came_to, quiet_provider},
    world::{
        Aiosmtpd, Books, Database, Expected, ONCE, Process, Relay, STEPS, Shop, Visitor,
        eventually, failing, front, within,
    },
};

/// A customer, from the cart to the page that says "Paid".
async fn buys(visitor: Visitor, email: &str) {
    let buyer = visitor.with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await.with("email", email);
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "Paid");
}

async fn shop_with(server: &Aiosmtpd) -> Shop {
    Shop::open_with_workers(&["--smtp-url", &server.url()]).await
}

/// `boring-checkout mail …`, by an operator.
async fn mail(database: &Database, argument: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.args(["mail", argument, "--database-url", &database.url()]);
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.expect("no panic").expect("it starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// What `mail list` shows.
async fn listed(db: &Db) -> String {
    let owed = operator::owed(db).await.expect("a list");
    let lines: Vec<String> = owed.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Waits until a mail has waited `attempts` times for this reason.
async fn is_waiting(db: &Db, attempts: u32, reason: &str) {
    within(Duration::from_secs(90), reason, || async {
        let listed = listed(db).await;
        let is_seen = |attempt| listed.contains(&format!("{attempt} attempts: "));
        (attempts..100).any(is_seen) && listed.contains(reason)
    })
    .await;
}

/// Moves the clock until no mail waits any more.
async fn all_is_sent(shop: &Shop) {
    eventually("every mail is sent", || async {
        shop.later(1);
        listed(shop.db()).await.is_empty()
    })
    .await;
    shop.finishes().await;
}

/// So many purchases, with a mail for each that arrived once.
async fn are_told_once(shop: &Shop, server: &Aiosmtpd, purchases: usize) {
    server.takes().await;
    assert_eq!(server.mails().len(), purchases);
    assert_eq!(server.message_ids().len(), purchases);
    let n = i64::try_from(purchases).expect("few");
    assert_eq!(shop.report().await.counts.emails, n);
    let expected = Expected {
        charges: n,
        orders: n,
        sold: n,
    };
    came_to(shop, expected).await;
}

#[tokio::test]
async fn r54_a_mail_server_that_refuses_everybody_and_is_mended() {
    let refuses = async |step| {
        let Some(server) = Aiosmtpd::open() else {
            return;
        };
        server.does_at("refuses", step).await;
        let shop = shop_with(&server).await;
        buys(shop.visitor(), "tea@example.com").await;
        eventually("it was refused often", || async {
            shop.later(10);
            let listed = listed(shop.db()).await;
            assert!(!listed.contains("given up at"), "{step}: {listed}");
            (8..100).any(|attempts| listed.contains(&format!("{attempts} attempts: ")))
        })
        .await;
        assert_eq!(server.mails().len(), 0, "{step}");

        server.takes().await;
        all_is_sent(&shop).await;
        are_told_once(&shop, &server, 1).await;
    };
    join_all(["EHLO", "MAIL", "DATA"].map(refuses)).await;
}

/// It never answers while the customers buy, so none of their requests can have waited for it.
#[tokio::test]
async fn r54_a_mail_server_that_hangs_keeps_no_customer_waiting() {
    const CUSTOMERS: usize = 6;
    for step in ["banner", "EHLO", "DATA"] {
        let Some(server) = Aiosmtpd::open() else {
            return;
        };
        server.does_at("hangs", step).await;
        let shop = shop_with(&server).await;
        buys(shop.visitor(), "tea@example.com").await;
        eventually("it hangs", || async { server.count("visit") > 0 }).await;
        let customers = (1..CUSTOMERS).map(|_| buys(shop.visitor(), "tea@example.com"));
        join_all(customers).await;
        let shipped = "select count(*) from shipments";
        eventually("all are shipped", || async {
            shop.count(shipped).await == 6
        })
        .await;
        assert_eq!(server.mails().len(), 0, "{step}");

        server.takes().await;
        all_is_sent(&shop).await;
        are_told_once(&shop, &server, CUSTOMERS).await;
    }
}

/// It hangs until the postmen have had enough, at each step at once.
#[tokio::test]
async fn r54_a_mail_server_that_hangs_is_left_after_a_while() {
    let hangs = async |step| {
        let Some(server) = Aiosmtpd::open() else {
            return;
        };
        server.does_at("hangs", step).await;
        let shop = shop_with(&server).await;
        buys(shop.visitor(), "tea@example.com").await;
        is_waiting(shop.db(), 1, "time").await;
        // It may have taken the mail, and be too slow to say so.
        let next = shop.db().query("select not_before from emails");
        let next: DateTime<Utc> = next.fetch_scalar().await.expect("a time");
        let wait = next - shop.app().till.clock.now();
        assert!(wait > TimeDelta::minutes(4), "{step}: {wait}");
        server.takes().await;
        all_is_sent(&shop).await;
        are_told_once(&shop, &server, 1).await;
    };
    join_all(STEPS.map(hangs)).await;
}

#[tokio::test]
async fn r54_a_mail_server_that_is_dead_for_a_day() {
    let Some(server) = Aiosmtpd::open() else {
        return;
    };
    let wire = Relay::open().await;
    let url = format!("smtp://{}", wire.address);
    let shop = Shop::open_with_workers(&["--smtp-url", &url]).await;
    buys(shop.visitor(), "tea@example.com").await;
    shop.settles().await;
    for attempt in 1..=4 {
        is_waiting(shop.db(), attempt, "waits until").await;
        shop.later(6 * 3600);
    }
    is_waiting(shop.db(), 5, "waits until").await;

    wire.leads_to(server.address);
    shop.later(15 * 60);
    shop.finishes().await;
    server.takes().await;
    assert_eq!(server.mails().len(), 1);
    assert_eq!(shop.report().await.counts.emails, 1);
    came_to(&shop, ONCE).await;
}

#[tokio::test]
async fn r55_a_mail_that_is_taken_and_the_connection_dropped_comes_again_under_its_id() {
    let Some(server) = Aiosmtpd::open() else {
        return;
    };
    server.is(json!({"does": "drops"})).await;
    let shop = shop_with(&server).await;
    buys(shop.visitor(), "tea@example.com").await;
    is_waiting(shop.db(), 1, "waits until").await;
    eventually("it is taken", || async { server.mails().len() == 1 }).await;

    server.takes().await;
    all_is_sent(&shop).await;
    server.takes().await;
    assert_eq!(server.mails().len(), 2);
    assert_eq!(server.message_ids().len(), 1, "the receiver can tell");
    assert_eq!(shop.report().await.counts.emails, 1);
    came_to(&shop, ONCE).await;
}

#[tokio::test]
async fn r55_one_recipient_of_many_is_always_refused() {
    const OTHERS: usize = 40;
    let Some(server) = Aiosmtpd::open() else {
        return;
    };
    let nobody = json!({"does": "takes", "refused": ["nobody@example.com"]});
    server.is(nobody).await;
    let shop = shop_with(&server).await;
    buys(shop.visitor(), "nobody@example.com").await;
    for n in 0..OTHERS {
        buys(shop.visitor(), &format!("buyer{n}@example.com")).await;
    }
    eventually("the one is given up", || async {
        shop.later(10);
        let listed = listed(shop.db()).await;
        listed.lines().count() == 1 && listed.contains("given up at")
    })
    .await;
    server.takes().await;
    let mails = server.mails();
    let mut told: Vec<&str> = mails.iter().map(|mail| mail.to[0].as_str()).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!((told.len(), mails.len()), (OTHERS, OTHERS), "each once");

    assert_eq!(mail(&shop.database, "retry").await, "1 tried again.\n");
    all_is_sent(&shop).await;
    are_told_once(&shop, &server, OTHERS + 1).await;
}

/// The transaction ends after the news of the order was written, and not with a commit.
#[tokio::test]
async fn r54_an_order_that_is_rolled_back_is_not_told_of() {
    let Some(server) = Aiosmtpd::open() else {
        return;
    };
    let shop = Shop::open_with_workers(&["--smtp-url", &server.url(), "--lease", "1s"]).await;
    shop.provider.loses_webhooks().await;
    let news =
        |at| matches!(at, Boundary::AfterStatement(sql) if sql.starts_with("insert into outbox"));
    let (probe, strikes) = failing("XX000", 1, news);
    let broken = Visitor::at(&front(&shop, probe).await);
    let buyer = broken.with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let answer = buyer.submission(&form).send().await.expect("an answer");
    assert!(!answer.status().is_success());
    assert_eq!(strikes.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(shop.count("select count(*) from orders").await, 0);
    assert_eq!(shop.count("select count(*) from outbox").await, 0);
    assert_eq!(listed(shop.db()).await, "");
    assert_eq!(server.count("visit"), 0);

    // The reconciler records what was paid, and then there is something to tell.
    shop.later(5);
    eventually("it is told", || async { server.mails().len() == 1 }).await;
    shop.finishes().await;
    shop.provider.catches_up().await;
    are_told_once(&shop, &server, 1).await;
}

/// The mail server said yes, the shop has heard it, and is killed before it can commit that. Only these mails come
/// again, and none of those that were marked.
#[tokio::test]
async fn r55_killed_between_accepted_and_sent() {
    const MARKED: usize = 3;
    const IN_FLIGHT: usize = 4;
    let Some(server) = Aiosmtpd::open() else {
        return;
    };
    let database = Database::fresh().await;
    let (_simulator, provider) = quiet_provider().await;
    let books = Books::of(&database, &provider).await;
    let url = server.url();
    let shop = Process::shop_with_workers(&database, &provider, &["--smtp-url", &url]).await;
    for _ in 0..MARKED {
        buys(shop.visitor(), "tea@example.com").await;
    }
    eventually("those are marked", || async {
        server.mails().len() == MARKED && listed(books.db()).await.is_empty()
    })
    .await;
    server.is(json!({"does": "holds"})).await;
    for _ in 0..IN_FLIGHT {
        buys(shop.visitor(), "tea@example.com").await;
    }
    eventually("the rest is in flight", || async {
        server.mails().len() == MARKED + IN_FLIGHT
    })
    .await;

    let mut lock = books.db().begin_alone().await.expect("a transaction");
    if database.is_postgres() {
        let all = lock.query("lock table emails in share mode").execute();
        all.await.expect("a lock");
    }
    server.takes().await;
    eventually("the shop has heard that they are taken", || async {
        server.count("farewell") == MARKED + IN_FLIGHT
    })
    .await;
    shop.kill();
    drop(lock);
    let owed = listed(books.db()).await;
    assert_eq!(owed.lines().count(), IN_FLIGHT, "{owed}");

    let heir = shop_on(&database, &provider.url, &["--smtp-url", &url]).await;
    heir.app.till.clock.advance(Duration::from_mins(5));
    eventually("they are sent again", || async {
        listed(books.db()).await.is_empty()
    })
    .await;
    heir.stop().await;
    server.takes().await;
    assert_eq!(server.mails().len(), MARKED + 2 * IN_FLIGHT);
    assert_eq!(server.message_ids().len(), MARKED + IN_FLIGHT);
    let n = i64::try_from(MARKED + IN_FLIGHT).expect("few");
    assert_eq!(books.report().await.counts.emails, n);
    books
        .expect(Expected {
            charges: n,
            orders: n,
            sold: n,
        })
        .await;
}

const PASSWORD: &str = "correct-horse";
const BUYER: &str = "tea@example.com";

/// A shop in a process of its own, which trusts the mail server's authority, or does not know it.
struct Sealed {
    server: Aiosmtpd,
    database: Database,
    provider: crate::world::Provider,
    _simulator: boring_checkout::simulator::Simulator,
}

impl Sealed {
    async fn with(tls: &str) -> Option<Self> {
        let flags = ["--tls", tls, "--password", PASSWORD];
        let server = Aiosmtpd::open_with(&flags)?;
        let (simulator, provider) = quiet_provider().await;
        Some(Self {
            server,
            database: Database::fresh().await,
            provider,
            _simulator: simulator,
        })
    }

    async fn opens_shop(&self, tls: &str, password: &str, is_trusted: bool) -> Process {
        let (scheme, query) = match tls {
            "implicit" => ("smtps", ""),
            _ => ("smtp", "?tls=required"),
        };
        let address = self.server.address;
        let url = format!("{scheme}://shop:{password}@{address}{query}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "debug"])
            .args(["--database-url", &self.database.url()])
            .args(["--provider-url", &self.provider.url])
            .env("SMTP_URL", url);
        if is_trusted {
            command.env("SSL_CERT_FILE", self.server.authority());
        }
        Process::of(&mut command).await
    }

    /// The mail waits for this reason, and nobody who reads the log learns who gets it, or the password.
    async fn waits(&self, shop: &Process, password: &str, reason: &str) {
        let db = self.database.open().await;
        is_waiting(&db, 2, reason).await;
        let listed = mail(&self.database, "list").await;
        assert!(listed.contains(reason), "{listed}");
        for not_said in ["given up", "refused: "] {
            assert!(!listed.contains(not_said), "{listed}");
        }
        assert!(!listed.contains(password), "{listed}");
        assert_eq!(self.server.mails().len(), 0);
        let log = shop.log();
        assert!(log.contains("mail not sent"), "{log}");
        for secret in [password, BUYER] {
            assert!(!log.contains(secret), "{secret} in {log}");
        }
    }

    async fn sends(self) {
        let books = Books::of(&self.database, &self.provider).await;
        eventually("it is sent", || async {
            listed(books.db()).await.is_empty()
        })
        .await;
        self.server.takes().await;
        assert_eq!(self.server.mails().len(), 1);
        assert_eq!(self.server.mails()[0].to, [BUYER]);
        assert_eq!(books.report().await.counts.emails, 1);
        books.expect(ONCE).await;
    }
}

/// In good order: the postmen put down what they hold, so that the next ones need not wait for a lease.
async fn closes(shop: Process) {
    shop.asks_to_stop();
    assert!(shop.ends().await.success());
}

#[tokio::test]
async fn a_mail_server_that_cannot_prove_who_it_is_gets_neither_mail_nor_password() {
    for tls in ["implicit", "starttls"] {
        let Some(sealed) = Sealed::with(tls).await else {
            return;
        };
        let shop = sealed.opens_shop(tls, PASSWORD, false).await;
        buys(shop.visitor(), BUYER).await;
        sealed.waits(&shop, PASSWORD, "certificate").await;
        assert_eq!(sealed.server.count("login"), 0);
        closes(shop).await;

        let _shop = sealed.opens_shop(tls, PASSWORD, true).await;
        sealed.sends().await;
    }
}

/// It is not the mail's fault, so it is not given up as refused.
#[tokio::test]
async fn with_a_wrong_password_the_mails_wait_for_the_right_one() {
    for tls in ["implicit", "starttls"] {
        let Some(sealed) = Sealed::with(tls).await else {
            return;
        };
        let shop = sealed.opens_shop(tls, "battery-staple", true).await;
        buys(shop.visitor(), BUYER).await;
        sealed.waits(&shop, "battery-staple", "535").await;
        assert!(sealed.server.count("login") > 0);
        closes(shop).await;

        let _shop = sealed.opens_shop(tls, PASSWORD, true).await;
        sealed.sends().await;
    }
}

/// A server that offers no TLS, or somebody on the way who hides the offer.
#[tokio::test]
async fn where_tls_is_required_nothing_is_said_without() {
    let Some(server) = Aiosmtpd::open() else {
        return;
    };
    let url = format!("{}?tls=required", server.url());
    let shop = Shop::open_with_workers(&["--smtp-url", &url]).await;
    buys(shop.visitor(), BUYER).await;
    is_waiting(shop.db(), 2, "STARTTLS").await;
    assert_eq!(server.mails().len(), 0);
    shop.expects(ONCE).await;
}
