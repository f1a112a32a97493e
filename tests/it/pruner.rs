//! What is of no more use is deleted. What was pruned still cannot run twice.

use std::time::Duration;

use boring_checkout::{
    app::App,
    db::Db,
    ids::CheckoutId,
    outbox::{
        self, Message,
        inbox::{CONSUMERS, consume},
    },
    probe::Boundary,
    pruner::{Pruned, Pruner, Retention},
};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    late_success,
    outbox::another_shop,
    world::{Expected, Letter, ONCE, Process, Shop, eventually, failing, holding, probed},
};

const DAY: u64 = 24 * 3600;
const EVENTS: &str = "select count(*) from processed_events";
const OUTBOX: &str = "select count(*) from outbox";
const INBOX: &str = "select count(*) from inbox";
const SESSIONS: &str = "select count(*) from sessions";
const CARTS: &str = "select count(*) from carts";
const OLD_EVENTS: &str = "select count(*) from processed_events where event_id like 'evt_old_%'";

fn pruner_on(db: &Db, app: &App) -> Pruner {
    Pruner {
        db: db.clone(),
        clock: app.till.clock.clone(),
        keep: Retention {
            keep_events: TimeDelta::days(35),
            keep_messages: TimeDelta::days(35),
            keep_carts: TimeDelta::days(60),
        },
    }
}

fn pruner(shop: &Shop) -> Pruner {
    pruner_on(shop.db(), shop.app())
}

/// Deletes all that is old by now.
async fn prunes(shop: &Shop) -> Pruned {
    let now = shop.app().till.clock.now();
    prunes_at(&pruner(shop), now).await
}

async fn prunes_at(pruner: &Pruner, now: DateTime<Utc>) -> Pruned {
    let round = pruner.round(now, &CancellationToken::new()).await;
    round.expect("a round")
}

/// So much later, for the shop and for the provider.
async fn days_pass(shop: &Shop, days: u64) {
    shop.later(days * DAY);
    let seconds = json!({"advance_seconds": days * DAY});
    shop.provider.control("clock", seconds).await;
}

/// Does something to the database behind the shop's back, at a time.
async fn at(db: &Db, time: DateTime<Utc>, sql: &'static str) -> u64 {
    let mut tx = db.begin().await.expect("a transaction");
    let changed = tx.query(sql).bind(time).execute().await.expect(sql);
    tx.commit().await.expect("a commit");
    changed
}

/// Two thousand events of a time.
async fn two_thousand_events(db: &Db, time: DateTime<Utc>) {
    let sql = "insert into processed_events (event_id, type, verdict, received_at)
               with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000)
               select 'evt_old_' || i, 'charge.succeeded', 'ignored', $1 from n";
    assert_eq!(at(db, time, sql).await, 2000);
}

/// What a repeat would change.
async fn effects(shop: &Shop) -> Vec<i64> {
    let counts = [
        "select count(*) from checkouts",
        "select count(*) from payments",
        "select count(*) from orders",
        "select count(*) from shipments",
        "select count(*) from emails",
        "select cast(coalesce(sum(attempts), 0) as bigint) from emails",
        "select count(*) from refunds",
        "select cast(coalesce(sum(attempts), 0) as bigint) from refunds",
        "select count(*) from discrepancies",
        OUTBOX,
        "select cast(sum(stock) as bigint) from products",
    ];
    join_all(counts.map(|sql| shop.count(sql))).await
}

async fn messages(shop: &Shop) -> Vec<Message> {
    let all = shop.db().query("select * from outbox");
    all.fetch_all().await.expect("messages")
}

/// The webhooks of old events, each three times, with a fresh signature.
async fn provider_sends(shop: &Shop, events: &[Value]) {
    for event in events {
        let now = shop.app().till.clock.now().timestamp();
        let letter = Letter::of(event).dated(&now);
        let copies = join_all((0..3).map(|_| async { letter.clone().to(&shop.url).await })).await;
        assert!(copies.iter().all(|answer| answer.status == 200), "{event}");
    }
}

/// Every message once more, to everybody, and once more.
async fn bus_delivers(shop: &Shop, messages: &[Message]) {
    let now = shop.app().till.clock.now();
    for message in messages.iter().chain(messages) {
        for consumer in CONSUMERS {
            let consumed = consume(shop.db(), consumer, message, now).await;
            consumed.expect("acknowledged");
        }
    }
}

/// Another process reads all of the provider's list but its first event, whose position it has, and does what there is
/// to do.
async fn list_is_read_again(shop: &Shop) {
    let events = shop.provider.reads("/v1/events?limit=100").await["data"].take();
    let events = events.as_array().expect("a list");
    let first = events.last().expect("an event")["id"].as_str();
    let mut tx = shop.db().begin().await.expect("a transaction");
    tx.query("delete from events_read")
        .execute()
        .await
        .expect("deleted");
    tx.query("insert into events_read (id, event_id, created, read_at) values (1, $1, 0, $2)")
        .bind(first)
        // It was read a while ago: it is anybody's turn.
        .bind(shop.app().till.clock.now() - TimeDelta::minutes(5))
        .execute()
        .await
        .expect("a position");
    tx.commit().await.expect("a commit");
    assert_eq!(shop.provider.unheard(shop.db()).await, 2);

    let other = another_shop(shop, &[]).await;
    other.app.till.clock.advance(Duration::from_secs(40 * DAY));
    eventually("the list is read", || async {
        shop.provider.unheard(shop.db()).await == 0
    })
    .await;
    shop.finishes().await;
    other.stop().await;
}

#[tokio::test]
async fn forty_days_later_the_form_the_webhook_and_the_message_change_nothing() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    // Somebody who comes back in between, for the same and for more.
    let regular = shop.visitor().with_cart("TEA-01", 1).await;
    let old_form = regular.opens_checkout().await;
    let first = regular.submits(&old_form).await.location().to_owned();
    assert_eq!(regular.waits_at(&first).await, "Paid");
    shop.settles().await;
    let other = another_shop(&shop, &[]).await;
    shop.finishes().await;
    other.stop().await;
    let told = messages(&shop).await;
    assert_eq!(told.len(), 2);
    let sent = shop.provider.events("payment_intent.succeeded").await;
    assert_eq!(sent.len(), 2);
    let events = shop.count(EVENTS).await;
    shop.later(20 * DAY);
    regular.adds("MUG-01", 1).await;
    shop.later(20 * DAY);

    let pruned = prunes(&shop).await;
    let expected = Pruned {
        processed_events: usize::try_from(events).expect("few"),
        outbox: 2,
        inbox: 2 * CONSUMERS.len(),
        sessions: 1,
        carts: 0,
    };
    assert_eq!(pruned, expected);
    assert_eq!(prunes(&shop).await, Pruned::default());
    let before = effects(&shop).await;
    let both = || Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    };
    shop.has(both()).await;

    // The list, by a provider that shows more than it says.
    list_is_read_again(&shop).await;
    shop.provider
        .control("clock", json!({"advance_seconds": 40 * DAY}))
        .await;
    shop.alters("delete from processed_events").await;
    // The webhooks.
    provider_sends(&shop, &sent).await;
    assert_eq!(shop.count(EVENTS).await, 2);
    // The message.
    bus_delivers(&shop, &told).await;
    // The form, from somebody we do not know any more, who learns nothing of whose it is …
    for _ in 0..2 {
        let page = buyer.submits(&form).await;
        assert_eq!(page.status, 422);
        assert!(!page.html.contains("/checkouts/"), "{}", page.html);
    }
    assert_eq!(buyer.sees(&status).await.status, 404);
    // … and from somebody we do.
    for _ in 0..2 {
        assert_eq!(regular.submits(&old_form).await.location(), first);
    }

    let other = another_shop(&shop, &[]).await;
    shop.finishes().await;
    other.stop().await;
    assert_eq!(effects(&shop).await, before);
    shop.has(both()).await;
}

#[tokio::test]
async fn forty_days_later_money_that_went_back_does_not_go_back_again() {
    let shop = late_success::shop().await;
    let (_, _, intent) = late_success::declined(&shop).await;
    late_success::is_paid(&shop, &intent, "pm_card_visa").await;
    late_success::is_given_back(&shop).await;
    shop.finishes().await;
    let told = messages(&shop).await;
    let events = shop.provider.events("payment_intent.succeeded").await;
    assert!(!told.is_empty() && !events.is_empty());
    let before = effects(&shop).await;

    days_pass(&shop, 40).await;
    eventually("it prunes by itself", || async {
        shop.count(OUTBOX).await == 0
    })
    .await;
    prunes(&shop).await;
    assert_eq!(shop.count(INBOX).await, 0);
    provider_sends(&shop, &events).await;
    bus_delivers(&shop, &told).await;
    shop.finishes().await;

    let after = effects(&shop).await;
    let but_the_outbox = |counts: &[i64]| {
        let (outbox, rest): (Vec<_>, Vec<_>) = counts
            .iter()
            .copied()
            .enumerate()
            .partition(|(i, _)| *i == 9);
        (outbox.len(), rest)
    };
    assert_eq!(but_the_outbox(&after), but_the_outbox(&before));
    late_success::nothing_came_of_it(&shop).await;
}

/// A row of every kind that grows old, as old as `event`, and so much younger than it would have to be.
async fn one_of_each(db: &Db, now: DateTime<Utc>, younger: TimeDelta) {
    let of_35_days = now - TimeDelta::days(35) + younger;
    let statements = [
        "insert into processed_events (event_id, type, verdict, received_at)
         select 'evt_' || (select count(*) from processed_events), 'ping', 'ignored', $1",
        "insert into inbox (consumer, message, consumed_at)
         select 'somebody', 'message ' || (select count(*) from inbox), $1",
    ];
    for sql in statements {
        assert_eq!(at(db, of_35_days, sql).await, 1);
    }
    let mut tx = db.begin().await.expect("a transaction");
    let aggregate = CheckoutId::new();
    outbox::write(&mut tx, aggregate, "note", 1, json!({}), of_35_days)
        .await
        .expect("a row");
    tx.query("update outbox set published_at = $2 where aggregate_id = $1")
        .bind(aggregate)
        .bind(of_35_days)
        .execute()
        .await
        .expect("published");
    tx.query("insert into carts (id, created_at, idle_since) values ($1, $2, $2)")
        .bind(CheckoutId::new())
        .bind(now - TimeDelta::days(60) + younger)
        .execute()
        .await
        .expect("a cart");
    tx.query("insert into sessions (id, record, expires_at) values ($1, '{}', $2)")
        .bind(aggregate.to_string())
        .bind(
            now.timestamp()
                + younger
                    .num_seconds()
                    .max(i64::from(younger > TimeDelta::zero())),
        )
        .execute()
        .await
        .expect("a session");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn what_is_as_old_as_it_is_kept_stays_and_a_microsecond_more_is_too_much() {
    let shop = Shop::open().await;
    let now = shop.app().till.clock.now();
    let tick = TimeDelta::microseconds(1);
    for younger in [-tick, TimeDelta::zero(), tick, TimeDelta::days(1)] {
        one_of_each(shop.db(), now, younger).await;
    }

    let one = Pruned {
        processed_events: 1,
        outbox: 1,
        inbox: 1,
        sessions: 2, // The one that expires in this very second is not good any more.
        carts: 1,
    };
    let pruner = pruner(&shop);
    assert_eq!(prunes_at(&pruner, now).await, one);
    assert_eq!(prunes_at(&pruner, now).await, Pruned::default());
    for count in [EVENTS, OUTBOX, INBOX, CARTS] {
        assert_eq!(shop.count(count).await, 3, "{count}");
    }
    let next = Pruned { sessions: 0, ..one };
    assert_eq!(prunes_at(&pruner, now + tick).await, next);
    assert_eq!(shop.count(SESSIONS).await, 2);
    prunes_at(&pruner, now + TimeDelta::days(2)).await;
    for count in [EVENTS, OUTBOX, INBOX, CARTS, SESSIONS] {
        assert_eq!(shop.count(count).await, 0, "{count}");
    }
}

#[tokio::test]
async fn what_is_not_over_is_kept_however_old_it_is() {
    let shop = Shop::open().await;
    let paid = shop.visitor().with_cart("TEA-01", 1).await;
    let status = paid.buys().await;
    assert_eq!(paid.waits_at(&status).await, "Paid");
    let declined = shop.visitor().with_cart("MUG-01", 1).await;
    let form = declined.opens_checkout().await;
    declined
        .submits(&form.with("payment_method", "pm_card_chargeDeclined"))
        .await;
    // It is open again, and changed.
    declined.adds("TEA-01", 1).await;
    shop.settles().await;
    // Of this message only some have heard: it is parked, and may be retried one day.
    let message = messages(&shop).await.remove(0);
    let now = shop.app().till.clock.now();
    for consumer in [CONSUMERS[0], CONSUMERS[1]] {
        consume(shop.db(), consumer, &message, now)
            .await
            .expect("consumed");
    }
    at(shop.db(), now, "update outbox set parked_at = $1").await;

    let pruner = pruner(&shop);
    let later = now + TimeDelta::days(3650);
    let gone = prunes_at(&pruner, later).await;
    assert_eq!((gone.outbox, gone.inbox, gone.carts), (0, 0, 0));
    shop.alters("update outbox set parked_at = null").await;
    assert_eq!(prunes_at(&pruner, later).await.outbox, 0, "never published");
    // It is retried, and published. What was consumed ten years ago is of use for a while yet.
    at(shop.db(), later, "update outbox set published_at = $1").await;
    for days in [0, 35] {
        let gone = prunes_at(&pruner, later + TimeDelta::days(days)).await;
        assert_eq!(gone, Pruned::default());
    }
    let gone = prunes_at(&pruner, later + TimeDelta::days(36)).await;
    let expected = Pruned {
        outbox: 1,
        inbox: 2,
        ..Pruned::default()
    };
    assert_eq!(gone, expected);
    assert_eq!(shop.count(CARTS).await, 2);
    assert_eq!(shop.count("select count(*) from cart_items").await, 3);
}

/// Whoever looks in every day sees their cart as long as they have a session.
#[tokio::test]
async fn nobody_loses_a_cart_that_they_can_still_see() {
    let shop = Shop::open().await;
    let pruner = Pruner {
        keep: Retention {
            keep_carts: boring_checkout::pruner::retention::CARTS_LEAST,
            ..pruner(&shop).keep
        },
        ..pruner(&shop)
    };
    let visitor = shop.visitor().with_cart("TEA-01", 1).await;
    // A cart that nobody has a session for any more, with what was in it.
    let goods = "select count(*) from cart_items";
    let mut seen = true;
    for day in 1..100 {
        if day == 20 {
            visitor.adds("TEA-01", 1).await;
        }
        shop.later(DAY);
        prunes_at(&pruner, shop.app().till.clock.now()).await;
        seen = shop.count(SESSIONS).await == 1;
        let quantity = visitor.sees("/cart").await.html.contains("TEA-01");
        assert_eq!(quantity, seen, "on day {day}");
        if seen {
            assert_eq!(shop.count(goods).await, 1, "on day {day}");
        }
    }
    assert!(!seen, "the session never ends");
    assert_eq!(shop.count(goods).await, 0);
    assert_eq!(shop.count(CARTS).await, 0);
}

#[tokio::test]
async fn what_is_added_to_a_cart_while_it_is_pruned_is_in_the_next_cart() {
    let shop = Shop::open().await;
    let visitor = shop.visitor().with_cart("TEA-01", 1).await;
    shop.visitor().with_cart("TEA-01", 1).await;
    let now = shop.app().till.clock.now();
    at(
        shop.db(),
        now - TimeDelta::days(61),
        "update carts set idle_since = $1",
    )
    .await;
    let deletes = |boundary| matches!(boundary, Boundary::AfterStatement(sql) if sql.contains("delete from carts"));
    let (probe, mut hold) = holding(deletes);
    let till = probed(shop.app(), probe);
    let pruner = pruner_on(&till.db, shop.app());

    let round = tokio::spawn(async move { prunes_at(&pruner, now).await });
    hold.reached().await;
    let adds = async { visitor.adds("MUG-01", 1).await };
    let goes_on = async {
        shop.database.has_somebody_waiting().await;
        hold.lets_go();
    };
    join(adds, goes_on).await;

    assert_eq!(round.await.expect("no panic").carts, 2);
    let status = visitor.buys().await;
    assert_eq!(visitor.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_cart_that_is_changed_or_bought_at_this_very_moment_is_not_pruned() {
    for path in ["add", "buy"] {
        let shop = Shop::open().await;
        let visitor = shop.visitor().with_cart("TEA-01", 1).await;
        let form = visitor.opens_checkout().await;
        let now = shop.app().till.clock.now();
        at(
            shop.db(),
            now - TimeDelta::days(61),
            "update carts set idle_since = $1",
        )
        .await;
        let (probe, mut hold) = holding(|boundary| boundary == Boundary::BeforeCommit);
        let front = crate::world::front(&shop, probe).await;
        let visitor = visitor.moved_to(&front);

        let change = async {
            match path {
                "add" => visitor.adds("TEA-01", 1).await,
                _ => drop(visitor.submits(&form).await),
            }
        };
        let pruner = pruner(&shop);
        let meanwhile = async {
            hold.reached().await;
            let round = async {
                // On PostgreSQL it passes the cart by. SQLite's one writer is busy, so there it comes afterwards.
                let gone = prunes_at(&pruner, now).await;
                assert_eq!(gone.carts, 0, "{path}");
            };
            if shop.database.is_postgres() {
                round.await;
                hold.lets_go();
            } else {
                join(round, async { hold.lets_go() }).await;
            }
        };
        join(change, meanwhile).await;
        assert_eq!(prunes_at(&pruner, now).await.carts, 0, "{path}");
        assert_eq!(shop.count(CARTS).await, 1, "{path}");
        // Those that were bought are not asked about again, however many there are.
        let idle = "select count(*) from carts where idle_since is not null";
        assert_eq!(shop.count(idle).await, i64::from(path == "add"), "{path}");
    }
}

#[tokio::test]
async fn pruners_at_once_delete_each_row_once_while_customers_buy() {
    let shop = Shop::open_with_workers(&[]).await;
    let now = shop.app().till.clock.now();
    two_thousand_events(shop.db(), now - TimeDelta::days(36)).await;
    let others = [shop.database.open().await, shop.database.open().await];
    let pruners = [shop.db(), &others[0], &others[1]].map(|db| pruner_on(db, shop.app()));

    let prune = join_all(pruners.iter().map(|pruner| prunes_at(pruner, now)));
    let buy = join_all((0..8).map(|_| async {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let status = buyer.buys().await;
        assert_eq!(buyer.waits_at(&status).await, "Paid");
    }));
    let (rounds, _) = join(prune, buy).await;
    let mut rows: usize = rounds.iter().map(Pruned::rows).sum();
    // What one passes by because another is at it may be left when that one stops short.
    rows += prunes_at(&pruners[0], now).await.rows();

    // The shop's own may have had some.
    assert!(rows <= 2000, "{rows} were deleted");
    assert_eq!(shop.count(OLD_EVENTS).await, 0);
    shop.finishes().await;
    assert_eq!(shop.count(OUTBOX).await, 8);
    shop.expects(Expected {
        charges: 8,
        orders: 8,
        sold: 8,
    })
    .await;
}

#[tokio::test]
async fn a_pruner_that_is_killed_leaves_the_rest_for_the_next() {
    let town = Shop::open().await;
    let buyer = town.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    town.settles().await;
    let now = town.app().till.clock.now();
    two_thousand_events(town.db(), now - TimeDelta::days(36)).await;
    let young = town.count(EVENTS).await - 2000;

    let mut left = 2000;
    while left > 0 {
        let shop =
            Process::shop_with_workers(&town.database, &town.provider, &["--log", "info"]).await;
        let before = left;
        eventually("some are deleted", || async {
            town.count(OLD_EVENTS).await < before
        })
        .await;
        if left == 2000 {
            shop.kill();
        } else {
            eventually("it says so", || async {
                shop.log().contains("pruned processed_events=")
            })
            .await;
        }
        left = town.count(OLD_EVENTS).await;
    }

    assert_eq!(town.count(EVENTS).await, young);
    town.has(ONCE).await;
}

/// Nothing of a batch that fails is gone, and the next round does it.
#[tokio::test]
async fn a_batch_that_fails_is_done_another_time() {
    let shop = Shop::open().await;
    let now = shop.app().till.clock.now();
    let boundaries: [fn(Boundary) -> bool; 4] = [
        |at| at == Boundary::BeforeBegin,
        |at| matches!(at, Boundary::AfterStatement(sql) if sql.contains("delete")),
        |at| at == Boundary::BeforeCommit,
        |at| at == Boundary::AfterCommit,
    ];
    for (at, goes) in boundaries.into_iter().zip([false, false, false, true]) {
        one_of_each(shop.db(), now, -TimeDelta::seconds(1)).await;
        let (probe, strikes) = failing("XX000", 1, at);
        let till = probed(shop.app(), probe);
        let round = pruner_on(&till.db, shop.app())
            .round(now, &CancellationToken::new())
            .await;
        round.expect_err("it failed");
        assert_eq!(strikes.load(std::sync::atomic::Ordering::SeqCst), 1);
        assert_eq!(shop.count(EVENTS).await == 0, goes);
        // PostgreSQL may still be rolling back, and until then the next round passes the rows by.
        eventually("another round deletes them", || async {
            prunes(&shop).await;
            shop.count(EVENTS).await == 0
        })
        .await;
        for count in [EVENTS, OUTBOX, INBOX, CARTS, SESSIONS] {
            assert_eq!(shop.count(count).await, 0, "{count}");
        }
        // What may go away is tried again at once.
        one_of_each(shop.db(), now, -TimeDelta::seconds(1)).await;
        let (probe, _) = failing("40001", 1, at);
        let till = probed(shop.app(), probe);
        let pruner = pruner_on(&till.db, shop.app());
        eventually("they are deleted", || async {
            prunes_at(&pruner, now).await;
            shop.count(EVENTS).await == 0
        })
        .await;
    }
}

#[tokio::test]
async fn the_audit_tells_what_was_pruned_from_what_was_lost() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.finishes().await;
    shop.settles().await;
    let broken = async || -> Vec<&'static str> {
        let report = shop.report().await;
        let broken = report.invariants.into_iter().filter(|it| !it.ok);
        broken.map(|it| it.name).collect()
    };
    // Young news that is not there was lost, whoever has heard of it.
    shop.alters("update outbox set event_type = 'order.mislaid'")
        .await;
    assert_eq!(broken().await, ["each_order_is_announced_once"]);
    shop.alters("update outbox set event_type = 'order.placed'")
        .await;
    shop.has(ONCE).await;

    days_pass(&shop, 40).await;
    eventually("it is pruned", || async { shop.count(OUTBOX).await == 0 }).await;
    shop.has(ONCE).await;
    shop.alters("delete from shipments").await;
    assert_eq!(broken().await, ["each_order_is_shipped"]);
    shop.alters("delete from emails").await;
    assert_eq!(
        broken().await,
        ["each_order_is_shipped", "each_order_is_confirmed"]
    );
}

#[tokio::test]
async fn when_nothing_is_old_the_writers_lock_is_not_asked_for() {
    let shop = Shop::open().await;
    shop.visitor().with_cart("TEA-01", 1).await.buys().await;
    shop.settles().await;
    let (probe, begun) = failing("XX000", usize::MAX, |at| at == Boundary::BeforeBegin);
    let till = probed(shop.app(), probe);
    let pruner = pruner_on(&till.db, shop.app());
    assert_eq!(
        prunes_at(&pruner, till.clock.now()).await,
        Pruned::default()
    );
    assert_eq!(begun.load(std::sync::atomic::Ordering::SeqCst), 0);
}

/// Old carts and messages of a shop that did not write down what is asked for now.
#[tokio::test]
async fn a_database_of_the_version_before_is_understood() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let now = shop.app().till.clock.now();
    // As its processes go on to write it, until the last of them is gone.
    at(
        shop.db(),
        now - TimeDelta::days(61),
        "update carts set idle_since = $1",
    )
    .await;
    assert_eq!(prunes(&shop).await.carts, 0);
    shop.expects(ONCE).await;
}
