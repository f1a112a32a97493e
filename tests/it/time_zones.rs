//! The shop, and its database, are somewhere on earth, and an hour is an hour there too.

use std::process::Command;

use boring_checkout::simulator::Simulator;
use chrono::{DateTime, Datelike as _, TimeDelta, Utc};

use crate::{
    abandoned::cancels,
    reconciler::{comes_up, goes_down, quiet_provider},
    world::{Books, Database, Expected, NOTHING, Process, Provider, Visitor, eventually},
};

/// A shop in a process of its own, in a place of its own.
struct Place {
    shop: Process,
    books: Books,
    provider: Provider,
    _database: Database,
    _simulator: Simulator,
}

impl Place {
    async fn at(zone: &str) -> Self {
        let database = Database::fresh_in(zone).await;
        let (simulator, provider) = quiet_provider().await;
        let shop = Process::of(
            Command::new(env!("CARGO_BIN_EXE_boring-checkout"))
                .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn"])
                .args(["--mail-folder", &database.mail_folder()])
                .args(["--database-url", &database.url()])
                .args(["--provider-url", &provider.url])
                .args(["--lease", "300ms", "--provider-timeout", "5s"])
                .env("TZ", zone),
        )
        .await;
        Self {
            shop,
            books: Books::of(&database, &provider).await,
            provider,
            _database: database,
            _simulator: simulator,
        }
    }

    /// Somebody who has pressed Pay with this card, and their status page.
    async fn sells(&self, card: &str) -> (Visitor, String) {
        let buyer = self.shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await.with("payment_method", card);
        let status = buyer.submits(&form).await.location().to_owned();
        (buyer, status)
    }

    /// Moves an instant of the one open checkout, and lets the reconciler look at it now.
    async fn alters(&self, update: &'static str, at: DateTime<Utc>) {
        let looks = "select cast(sum(attempts) as bigint) from checkouts";
        let before = self.books.count(looks).await;
        let mut tx = self.books.db().begin().await.expect("a transaction");
        let update = tx.query(update).bind(at).bind(Utc::now());
        update.execute().await.expect("an update");
        tx.commit().await.expect("a commit");
        eventually("it is looked at", || async {
            self.books.count(looks).await > before
        })
        .await;
    }

    /// Somebody is asked by their bank. They have an hour from the instant at which they were.
    async fn waits_an_hour(&self, zone: &str) {
        self.sells("pm_card_threeDSecure2Required").await;
        let asked = "select asked_at from checkouts where status = 'pending'";
        let stored: DateTime<Utc> = self
            .books
            .db()
            .query(asked)
            .fetch_scalar()
            .await
            .expect("a time");
        let age = Utc::now() - stored;
        assert!(age.abs() < TimeDelta::minutes(1), "{zone}: {stored}");

        let asked = "update checkouts set asked_at = $1, drive_at = $2, lease_until = $2
                     where status = 'pending'";
        // The last of it: a clock that was put back by an hour since.
        for minutes in [58, 2 - 60] {
            self.alters(asked, Utc::now() - TimeDelta::minutes(minutes))
                .await;
            let given_up = cancels(&self.provider).await;
            assert!(given_up.is_empty(), "{zone}: after {minutes} minutes");
        }
        self.alters(asked, Utc::now() - TimeDelta::minutes(61))
            .await;
        self.books.settle().await;
        assert_eq!(cancels(&self.provider).await.len(), 1, "{zone}");
    }

    /// A key is sent again for 23 hours, and not after.
    async fn keeps_a_key_for_a_day(&self, zone: &str) {
        let create = "/v1/payment_intents";
        for (hours, is_sent) in [(22, true), (24, false)] {
            goes_down(&self.provider, "*", "drop_request").await;
            self.sells("pm_card_visa").await;
            let created = "update checkouts set created_at = $1, drive_at = $2, lease_until = $2
                           where status = 'pending'";
            let before = self.provider.calls("POST", create).await.len();
            comes_up(&self.provider).await;
            self.alters(created, Utc::now() - TimeDelta::hours(hours))
                .await;
            let looked_for = "select count(*) from checkouts
                              where status = 'pending' and look_up_since is not null";
            if is_sent {
                self.books.settle().await;
            } else {
                eventually("it is looked for", || async {
                    self.books.count(looked_for).await == 1
                })
                .await;
            }
            let sent = self.provider.calls("POST", create).await.len() > before;
            assert_eq!(sent, is_sent, "{zone}: after {hours} hours");
        }
        let found = "update checkouts set look_up_since = $1, drive_at = $2, lease_until = $2
                     where status = 'pending'";
        self.alters(found, Utc::now() - TimeDelta::minutes(11))
            .await;
        self.books.settle().await;
    }

    /// What is shown says in which zone, and is what is stored.
    async fn names_the_zone(&self, zone: &str) {
        let placed = "select max(created_at) from orders";
        let (buyer, status) = self.sells("pm_card_visa").await;
        assert_eq!(buyer.waits_at(&status).await, "Paid");
        let order = buyer.sees(&status).await.link_that_starts("/orders/");
        let placed: DateTime<Utc> = self
            .books
            .db()
            .query(placed)
            .fetch_scalar()
            .await
            .expect("a time");
        let age = Utc::now() - placed;
        assert!(age.abs() < TimeDelta::minutes(1), "{zone}: {placed}");
        let shown = placed.format("%-d %B %Y, %H:%M UTC").to_string();
        let page = buyer.sees(&order).await.text("main");
        assert!(page.contains(&shown), "{zone}: {shown} in {page}");
    }
}

/// In POSIX's words, with a summer time that began half an hour ago.
fn zone_with_a_change() -> String {
    let change = Utc::now() - TimeDelta::minutes(30);
    let (day, time) = (change.ordinal0(), change.format("%H:%M:%S"));
    let end = (day + 100) % 365;
    format!("WIN0SUM,{day}/{time},{end}/0")
}

async fn an_hour_is_an_hour_in(zone: &str) {
    let place = Place::at(zone).await;
    place.waits_an_hour(zone).await;
    place.books.expect(NOTHING).await;
    place.keeps_a_key_for_a_day(zone).await;
    place.names_the_zone(zone).await;
    let expected = Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    };
    place.books.expect(expected).await;
}

#[tokio::test]
async fn r49_an_hour_is_an_hour_in_brisbane() {
    an_hour_is_an_hour_in("Australia/Brisbane").await;
}

#[tokio::test]
async fn r49_an_hour_is_an_hour_in_los_angeles() {
    an_hour_is_an_hour_in("America/Los_Angeles").await;
}

#[tokio::test]
async fn r49_an_hour_is_an_hour_at_greenwich() {
    an_hour_is_an_hour_in("UTC").await;
}

#[tokio::test]
async fn r49_an_hour_is_an_hour_when_the_clocks_change() {
    an_hour_is_an_hour_in(&zone_with_a_change()).await;
}
