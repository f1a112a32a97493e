//! What follows a payment: each order's news is published, in its order, whatever becomes of others; and it is acted on
//! once.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use boring_checkout::{
    checkout::Till,
    config::Cli,
    db::Db,
    ids::CheckoutId,
    outbox::{
        self, Message,
        bus::{Bus, InProcess, PublishError},
        comeback::{self, Published},
        inbox::{CONSUMERS, consume},
        operator,
        relay::Relay,
    },
    probe::{Boundary, Probe},
    workers::{Work as _, Workers},
};
use clap::Parser as _;
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::timeout;

use crate::world::{self, Database, Expected, ONCE, Shop, eventually, probed};

/// A bus that refuses the first news of some, and remembers what it took.
#[derive(Debug, Default)]
struct PickyBus {
    refused: Mutex<BTreeSet<CheckoutId>>,
    down: Mutex<bool>,
    taken: Mutex<Vec<Message>>,
}

impl PickyBus {
    fn refuses(&self, aggregate: CheckoutId) {
        self.refused.lock().expect("not poisoned").insert(aggregate);
    }

    fn mends(&self) {
        self.refused.lock().expect("not poisoned").clear();
        *self.down.lock().expect("not poisoned") = false;
    }

    /// What it took about `aggregate`, in order.
    fn heard_of(&self, aggregate: CheckoutId) -> Vec<i64> {
        let taken = self.taken.lock().expect("not poisoned");
        let about = taken.iter().filter(|it| it.aggregate_id == aggregate);
        about.map(|message| message.version).collect()
    }
}

#[async_trait]
impl Bus for PickyBus {
    async fn publish(&self, message: &Message, _returns: i64) -> Result<(), PublishError> {
        if *self.down.lock().expect("not poisoned") {
            return Err(PublishError::Unavailable("down".to_owned()));
        }
        let refused = self.refused.lock().expect("not poisoned");
        if message.version == 1 && refused.contains(&message.aggregate_id) {
            return Err(PublishError::Refused("not this one".to_owned()));
        }
        self.taken
            .lock()
            .expect("not poisoned")
            .push(message.clone());
        Ok(())
    }
}

/// A shop whose own workers do nothing, and a relay in the test's hand.
async fn by_hand() -> (Shop, Arc<PickyBus>, Relay) {
    let shop = Shop::open().await;
    let bus = Arc::new(PickyBus::default());
    let relay = relay_to(&shop, &bus);
    (shop, bus, relay)
}

fn relay_to(shop: &Shop, bus: &Arc<PickyBus>) -> Relay {
    let till = &shop.app().till;
    Relay::to(Arc::<PickyBus>::clone(bus), &till.db, &till.clock)
}

async fn writes(till: &Till, aggregate: CheckoutId, version: i64) {
    let mut tx = till.db.begin().await.expect("a transaction");
    let now = till.clock.now();
    outbox::write(&mut tx, aggregate, "note", version, json!({}), now)
        .await
        .expect("a row");
    tx.commit().await.expect("a commit");
}

/// Claims once, and publishes what was claimed. Returns how much that was.
async fn turn(relay: &Relay) -> usize {
    let room = i64::try_from(Relay::PLACES).expect("few");
    let rows = relay.claim(room).await.expect("a claim");
    let claimed = rows.len();
    for done in join_all(rows.into_iter().map(|row| relay.perform(row))).await {
        done.expect("performed");
    }
    claimed
}

async fn unpublished(shop: &Shop) -> i64 {
    shop.count("select count(*) from outbox where published_at is null")
        .await
}

const PARKED: &str = "select count(*) from outbox where parked_at is not null";

/// Each by itself would take a transaction for each consumer, and one for its mark.
#[tokio::test]
async fn what_is_published_at_once_shares_its_transactions() {
    const NEWS: usize = 16;
    let shop = Shop::open().await;
    let commits = Arc::new(AtomicUsize::new(0));
    let probe = Probe::new({
        let commits = Arc::clone(&commits);
        move |boundary| {
            commits.fetch_add(
                usize::from(boundary == Boundary::AfterCommit),
                Ordering::SeqCst,
            );
            async { Ok(()) }
        }
    });
    let till = probed(shop.app(), probe);
    for _ in 0..NEWS {
        writes(&shop.app().till, CheckoutId::new(), 1).await;
    }
    let bus = InProcess::new(till.db.clone(), till.clock.clone());
    let relay = Relay::to(Arc::new(bus), &till.db, &till.clock);
    assert_eq!(turn(&relay).await, NEWS);

    assert_eq!(unpublished(&shop).await, 0);
    let heard = shop.count("select count(*) from inbox").await;
    assert_eq!(usize::try_from(heard), Ok(NEWS * CONSUMERS.len()));
    let commits = commits.load(Ordering::SeqCst);
    // How many share one is for the machine to say: who is alone waits for nobody.
    assert!(commits < 3 * NEWS, "{commits} commits, not four each");
}

#[tokio::test]
async fn a_paid_order_is_shipped() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");

    shop.finishes().await;
    assert_eq!(shop.count("select count(*) from shipments").await, 1);
    assert_eq!(shop.report().await.counts.outbox_unpublished, 0);
    shop.expects(ONCE).await;
}

/// By the look once a second alone, twenty in a row would take twenty seconds.
#[tokio::test]
async fn the_relay_is_woken_by_the_commit_and_not_before() {
    let (shop, bus, relay) = by_hand().await;
    let till = &shop.app().till;
    let mut work = shop.db().work();
    // Whoever begins to listen to other processes is told that there may be something, and so it is with this one.
    while timeout(Duration::from_secs(1), work.changed())
        .await
        .is_ok()
    {}
    let mut tx = till.db.begin().await.expect("a transaction");
    let now = till.clock.now();
    outbox::write(&mut tx, CheckoutId::new(), "note", 1, json!({}), now)
        .await
        .expect("a row");
    assert!(!work.has_changed().expect("open"));
    tx.commit().await.expect("a commit");
    assert!(work.has_changed().expect("open"));

    let workers = Workers::on(&till.db);
    workers.start(relay);
    let began = Instant::now();
    for _ in 0..20 {
        let aggregate = CheckoutId::new();
        writes(till, aggregate, 1).await;
        eventually("it is published", || async {
            bus.heard_of(aggregate) == [1]
        })
        .await;
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    workers.stop().await;
}

#[tokio::test]
async fn a_message_that_comes_again_changes_nothing() {
    let shop = Shop::open().await;
    shop.visitor().with_cart("TEA-01", 1).await.buys().await;
    shop.settles().await;
    let message: Message = shop
        .db()
        .query("select * from outbox")
        .fetch_one()
        .await
        .expect("its news");
    let now = shop.app().till.clock.now();

    for consumer in CONSUMERS {
        let deliveries = (0..20).map(|_| consume(shop.db(), consumer, &message, now));
        for acknowledged in join_all(deliveries).await {
            acknowledged.expect("acknowledged");
        }
    }

    let consumers = i64::try_from(CONSUMERS.len()).expect("few");
    let inboxes = "select count(*) from inbox";
    assert_eq!(shop.count(inboxes).await, consumers);
    assert_eq!(shop.count("select count(*) from shipments").await, 1);
    // What a consumer did is not done again, even when the effect has been undone since: it has been consumed.
    shop.alters("delete from shipments").await;
    for consumer in CONSUMERS {
        let again = consume(shop.db(), consumer, &message, now).await;
        again.expect("acknowledged");
    }
    assert_eq!(shop.count("select count(*) from shipments").await, 0);
}

#[tokio::test]
async fn r58_more_refused_messages_than_places_hold_up_nobody() {
    let (shop, bus, relay) = by_hand().await;
    let till = &shop.app().till;
    for _ in 0..=Relay::PLACES * 2 {
        let poison = CheckoutId::new();
        bus.refuses(poison);
        writes(till, poison, 1).await;
    }
    while turn(&relay).await > 0 {}
    // All of them are due again when the good ones come.
    till.clock.advance(Duration::from_secs(2));
    let good: Vec<CheckoutId> = (0..Relay::PLACES).map(|_| CheckoutId::new()).collect();
    for &aggregate in &good {
        writes(till, aggregate, 1).await;
    }

    assert_eq!(turn(&relay).await, Relay::PLACES);
    for &aggregate in &good {
        assert_eq!(bus.heard_of(aggregate), [1], "in the first turn");
    }

    // The bad ones wait longer each time, and are parked.
    let bad = i64::try_from(Relay::PLACES * 2 + 1).expect("few");
    let mut turns = 0;
    while shop.count(PARKED).await < bad {
        till.clock.advance(Duration::from_secs(61));
        while turn(&relay).await > 0 {}
        turns += 1;
        assert!(turns <= 10, "they are never parked");
    }
    assert!(turns >= 8, "parked after {turns} turns");
    till.clock.advance(Duration::from_hours(24));
    assert_eq!(turn(&relay).await, 0, "what is parked costs nothing");

    // Once it is mended, one command brings them all.
    bus.mends();
    let retried = operator::retry(shop.db(), None).await.expect("retried");
    assert_eq!(retried, u64::try_from(bad).expect("few"));
    while turn(&relay).await > 0 {}
    assert_eq!(unpublished(&shop).await, 0);
}

#[tokio::test]
async fn a_bus_that_is_down_parks_nothing() {
    let (shop, bus, relay) = by_hand().await;
    let till = &shop.app().till;
    let aggregate = CheckoutId::new();
    writes(till, aggregate, 1).await;
    *bus.down.lock().expect("not poisoned") = true;
    for _ in 0..30 {
        assert_eq!(turn(&relay).await, 1);
        assert_eq!(turn(&relay).await, 0, "not before it has waited");
        till.clock.advance(Duration::from_secs(61));
    }
    assert_eq!(shop.count(PARKED).await, 0);

    bus.mends();
    assert_eq!(turn(&relay).await, 1);
    assert_eq!(bus.heard_of(aggregate), [1]);
}

#[tokio::test]
async fn later_news_of_an_order_waits_for_the_earlier_and_for_no_other() {
    let (shop, bus, relay) = by_hand().await;
    let till = &shop.app().till;
    let (stuck, free) = (CheckoutId::new(), CheckoutId::new());
    bus.refuses(stuck);
    for version in 1..=3 {
        writes(till, stuck, version).await;
        writes(till, free, version).await;
    }

    while turn(&relay).await > 0 {}
    assert_eq!(bus.heard_of(free), [1, 2, 3]);
    assert_eq!(bus.heard_of(stuck), [0; 0]);
    bus.mends();
    till.clock.advance(Duration::from_secs(2));
    while turn(&relay).await > 0 {}
    assert_eq!(bus.heard_of(stuck), [1, 2, 3]);
}

#[tokio::test]
async fn relays_share_the_work_and_what_one_of_them_dies_with_comes_again() {
    let (shop, bus, relay) = by_hand().await;
    let till = &shop.app().till;
    let all: Vec<CheckoutId> = (0..30).map(|_| CheckoutId::new()).collect();
    for &aggregate in &all {
        writes(till, aggregate, 1).await;
    }

    let claims = join_all((0..6).map(|_| relay.claim(5))).await;
    let claimed: usize = claims
        .iter()
        .map(|rows| rows.as_ref().expect("a claim").len())
        .sum();
    assert!(claimed <= 30);
    while !relay.claim(16).await.expect("a claim").is_empty() {}
    // All relays died with their rows in hand. Nobody else has them before their lease has run out.
    assert_eq!(turn(&relay).await, 0);
    till.clock.advance(Duration::from_secs(61));
    while turn(&relay).await > 0 {}
    for aggregate in all {
        assert_eq!(bus.heard_of(aggregate), [1]);
    }
    assert_eq!(unpublished(&shop).await, 0);
}

/// The id was handed out, and is visible only after a higher one was published. SQLite has one writer, so there a lower
/// id cannot become visible later.
#[tokio::test]
async fn r59_a_lower_id_that_is_committed_later_is_published_too() {
    let (shop, bus, relay) = by_hand().await;
    if !shop.database.is_postgres() {
        return;
    }
    let till = &shop.app().till;
    let (slow, rolled_back, quick) = (CheckoutId::new(), CheckoutId::new(), CheckoutId::new());
    let open = async |aggregate| {
        let mut tx = till.db.begin().await.expect("a transaction");
        let now = till.clock.now();
        outbox::write(&mut tx, aggregate, "note", 1, json!({}), now)
            .await
            .expect("a row");
        tx
    };
    let (slow_tx, rolled_back_tx) = (open(slow).await, open(rolled_back).await);
    writes(till, quick, 1).await;

    assert_eq!(turn(&relay).await, 1);
    assert_eq!(bus.heard_of(quick), [1]);
    rolled_back_tx.rollback().await.expect("undone");
    slow_tx.commit().await.expect("a commit");
    assert_eq!(turn(&relay).await, 1);
    assert_eq!(bus.heard_of(slow), [1]);
    assert_eq!(bus.heard_of(rolled_back), [0; 0]);
}

#[tokio::test]
async fn what_a_process_without_workers_leaves_another_takes_up() {
    let shop = Shop::open().await;
    let buyers = (0..3).map(|_| async {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let status = buyer.buys().await;
        assert_eq!(buyer.waits_at(&status).await, "Paid");
    });
    join_all(buyers).await;
    shop.settles().await;
    assert_eq!(unpublished(&shop).await, 3);

    let other = another_shop(&shop, &[]).await;
    shop.finishes().await;
    assert_eq!(shop.count("select count(*) from shipments").await, 3);
    other.stop().await;
    shop.expects(Expected {
        charges: 3,
        orders: 3,
        sold: 3,
    })
    .await;
}

/// It has published the message and was slow to say so. Meanwhile another relay published it too, and a consumer handed
/// it back: what is parked must not look as if it had arrived.
#[tokio::test]
async fn a_relay_that_is_late_cannot_mark_what_has_come_back() {
    let (shop, _bus, relay) = by_hand().await;
    let till = &shop.app().till;
    writes(till, CheckoutId::new(), 1).await;
    let mut claimed = relay.claim(1).await.expect("a claim");
    let message = shop.db().query("select * from outbox").fetch_one().await;
    let published = Published {
        message: message.expect("a message"),
        returns: 0,
    };
    let hands_back = async || {
        let now = till.clock.now();
        let parked = comeback::park(shop.db(), &published, 5, "unreadable", now).await;
        parked.expect("asked")
    };
    assert!(!hands_back().await, "not before it is marked");
    assert_eq!(shop.count(PARKED).await, 0);
    shop.alters("update outbox set published_at = created_at")
        .await;
    assert!(hands_back().await);

    let late = claimed.pop().expect("a row");
    relay.perform(late).await.expect("performed");
    assert_eq!(shop.count(PARKED).await, 1);
    assert!(hands_back().await, "it has come back already");
    assert_eq!(shop.count("select returns from outbox").await, 1);

    // Published anew: the consumers have another copy of it now, and that one may be readable.
    shop.alters("update outbox set parked_at = null, published_at = created_at")
        .await;
    assert!(hands_back().await, "it has come back already");
    assert_eq!(shop.count(PARKED).await, 0);
}

/// Another process, as far as the database can tell.
pub async fn another_shop(shop: &Shop, flags: &[&str]) -> boring_checkout::app::Shop {
    shop_on(&shop.database, &shop.provider.url, flags).await
}

/// A shop with workers in this process, on a database that others use too.
pub async fn shop_on(
    database: &Database,
    provider: &str,
    flags: &[&str],
) -> boring_checkout::app::Shop {
    let (database, mail) = (database.url(), database.mail_folder());
    let common = ["boring-checkout", "--listen", "127.0.0.1:0"];
    let mail = ["--mail-folder", &mail];
    let here = ["--database-url", &database, "--provider-url", provider];
    let cli = Cli::try_parse_from(common.iter().chain(&here).chain(&mail).chain(flags));
    boring_checkout::app::Shop::start(&cli.expect("valid flags").serve)
        .await
        .expect("it starts")
}

/// News of an order that does not exist, and news that nobody can read.
#[tokio::test]
async fn what_no_consumer_can_act_on_is_listed_and_can_be_retried_by_a_command() {
    let shop = Shop::open_with_workers(&[]).await;
    let till = &shop.app().till;
    let nobodys =
        json!({"format": 1, "checkout_id": CheckoutId::new(), "order_number": "0000-0000-00"});
    let newer =
        json!({"format": 2, "checkout_id": CheckoutId::new(), "order_number": "0000-0000-00"});
    for payload in [nobodys, newer, json!({"order": 1})] {
        let mut tx = till.db.begin().await.expect("a transaction");
        let now = till.clock.now();
        outbox::write(&mut tx, CheckoutId::new(), "order.placed", 1, payload, now)
            .await
            .expect("a row");
        tx.commit().await.expect("a commit");
    }
    eventually("all are parked", || async {
        till.clock.advance(Duration::from_secs(61));
        shop.count(PARKED).await == 3
    })
    .await;
    // To whom it means nothing has consumed it.
    let theirs = "select count(*) from inbox where consumer in ('fulfilment', 'mailer')";
    assert_eq!(shop.count(theirs).await, 0);

    let listed = command(&shop, &["list"]).await;
    assert_eq!(listed.lines().count(), 3, "{listed}");
    for line in listed.lines() {
        assert!(line.contains("order.placed/1  parked since"), "{line}");
        assert!(line.contains("fulfilment: "), "{line}");
    }
    let first = listed.split_whitespace().next().expect("a number");
    assert_eq!(command(&shop, &["retry", first]).await, "1 tried again.\n");
    // A person has found out what they were.
    shop.alters("update outbox set event_type = 'mistake'")
        .await;
    assert_eq!(command(&shop, &["retry"]).await, "2 tried again.\n");
    shop.finishes().await;
    assert_eq!(command(&shop, &["list"]).await, "");
    assert_eq!(command(&shop, &["retry"]).await, "0 tried again.\n");
}

async fn command(shop: &Shop, arguments: &[&str]) -> String {
    world::command(&shop.database, &[&["outbox"], arguments].concat()).await
}

/// A consumer that cannot commit is asked again, and what it does is done once.
#[tokio::test]
async fn a_consumer_that_fails_is_asked_again() {
    let shop = Shop::open_with_workers(&[]).await;
    shop.alters("alter table shipments rename to shipments_elsewhere")
        .await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let failed =
        "select count(*) from outbox where last_error is not null and published_at is null";
    eventually("it has failed", || async { shop.count(failed).await == 1 }).await;

    shop.alters("alter table shipments_elsewhere rename to shipments")
        .await;
    shop.later(61);
    shop.finishes().await;
    assert_eq!(shop.count("select count(*) from shipments").await, 1);
    shop.expects(ONCE).await;
}

/// An outbox that the version before this one wrote.
#[tokio::test]
async fn news_without_a_format_is_of_the_first() {
    let shop = Shop::open().await;
    shop.visitor().with_cart("TEA-01", 1).await.buys().await;
    shop.settles().await;
    let db: &Db = shop.db();
    let (mut message,): (sqlx::types::Json<serde_json::Value>,) = db
        .query("select payload from outbox")
        .fetch_one()
        .await
        .expect("its news");
    assert_eq!(message["format"], 1);
    message.as_object_mut().expect("an object").remove("format");
    let mut tx = db.begin().await.expect("a transaction");
    tx.query("update outbox set payload = $1")
        .bind(message)
        .execute()
        .await
        .expect("changed");
    tx.commit().await.expect("a commit");

    let other = another_shop(&shop, &[]).await;
    shop.finishes().await;
    assert_eq!(shop.count("select count(*) from shipments").await, 1);
    other.stop().await;
}
