//! The bus between processes: whatever becomes of the broker, of its store and of those who publish and consume, each
//! order's news arrives, and is acted on once.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::{
    consumer::{AckPolicy, DeliverPolicy},
    stream::StorageType,
};
use boring_checkout::{
    checkout::Till,
    db::Tx,
    ids::CheckoutId,
    outbox::{
        self, Message,
        bus::{Bus as _, PublishError},
        inbox::{CONSUMERS, Consumer},
        nats::{ACK_WAIT, Nats, consume::Consuming},
        operator,
    },
    probe::Boundary,
    secret::Secret,
    workers::Work as _,
};
use futures_util::future::join_all;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    outbox::another_shop,
    world::{Broker, Expected, ONCE, Process, Relay, Shop, Visitor, eventually, holding, within},
};

const PARKED: &str = "select count(*) from outbox where parked_at is not null";
const SHIPMENTS: &str = "select count(*) from shipments";
const UNPUBLISHED: &str = "select count(*) from outbox where published_at is null";

/// Somebody buys one unit, and is told in less time than a broker that is down would take to be missed.
async fn buys(shop: &Shop) {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    pays(&buyer).await;
}

async fn pays(buyer: &Visitor) {
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
}

/// Waits until every consumer has heard of so many orders, and all that follows is done.
async fn arrive(shop: &Shop, orders: i64) {
    arrive_within(Duration::from_secs(30), shop, orders).await;
}

async fn arrive_within(patience: Duration, shop: &Shop, orders: i64) {
    within(patience, "all orders are shipped and confirmed", || async {
        let sent = "select count(*) from emails where sent_at is not null";
        shop.count(SHIPMENTS).await == orders
            && shop.count(sent).await == orders
            && shop.count("select count(*) from inbox").await == 3 * orders
            && shop.count(UNPUBLISHED).await == 0
    })
    .await;
}

fn so_many(orders: i64) -> Expected {
    Expected {
        charges: orders,
        orders,
        sold: orders,
    }
}

async fn writes(
    till: &Till,
    aggregate: CheckoutId,
    event_type: &str,
    version: i64,
    payload: serde_json::Value,
) {
    let mut tx = till.db.begin().await.expect("a transaction");
    let now = till.clock.now();
    outbox::write(&mut tx, aggregate, event_type, version, payload, now)
        .await
        .expect("a row");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn a_purchase_goes_through_the_broker_to_shipment_and_mail() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    buys(&shop).await;
    arrive(&shop, 1).await;

    assert_eq!(broker.stored().await, 1);
    for name in ["fulfilment", "mailer", "refunds"] {
        eventually("it is acknowledged", || async {
            let consumer = broker.consumer(name).await;
            consumer.num_ack_pending == 0 && consumer.ack_floor.stream_sequence == 1
        })
        .await;
    }
    shop.expects(ONCE).await;
}

/// `docs/bus.md` tells operators so.
#[tokio::test]
async fn what_is_created_on_the_broker_is_as_documented() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let _shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    broker.stored().await;
    let stream = broker.jetstream().await.get_stream("BORING_CHECKOUT").await;
    let stream = stream.expect("a stream");
    let stream = &stream.cached_info().config;
    assert_eq!(stream.subjects, ["boring_checkout.>"]);
    assert_eq!(stream.storage, StorageType::File);
    assert_eq!(stream.max_age, Duration::from_hours(14 * 24));
    assert_eq!(stream.duplicate_window, Duration::from_hours(1));
    for name in ["fulfilment", "mailer", "refunds"] {
        let consumer = broker.consumer(name).await.config;
        assert_eq!(consumer.ack_policy, AckPolicy::Explicit);
        assert_eq!(consumer.deliver_policy, DeliverPolicy::All);
        assert_eq!(consumer.ack_wait, ACK_WAIT);
        let without_a_bound = (consumer.max_deliver, consumer.max_ack_pending);
        assert_eq!(without_a_bound, (-1, -1));
    }
}

/// Nothing is claimed in vain while the connection is down.
#[tokio::test]
async fn a_relay_has_nothing_to_do_while_the_broker_is_missed() {
    let Some(mut broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open().await;
    buys(&shop).await;
    let bus = Nats::connect(&Secret::new(broker.url())).await;
    let bus = Arc::new(bus.expect("a URL"));
    let relay = outbox::relay::Relay::to(bus, shop.db(), &shop.app().till.clock);
    let is_due = async || relay.is_due().await.expect("an answer");
    eventually("it is connected", &is_due).await;
    broker.kill();
    eventually("it is missed", || async { !is_due().await }).await;
    broker.starts().await;
    eventually("it is connected again", &is_due).await;
}

#[tokio::test]
async fn a_broker_that_is_down_keeps_nobody_from_buying() {
    let Some(mut broker) = Broker::open().await else {
        return;
    };
    broker.kill();
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    for _ in 0..3 {
        buys(&shop).await;
    }
    assert_eq!(shop.count(UNPUBLISHED).await, 3);

    broker.starts().await;
    arrive(&shop, 3).await;
    broker.kill();
    for _ in 0..3 {
        buys(&shop).await;
    }
    assert_eq!(shop.count(SHIPMENTS).await, 3);
    broker.starts().await;
    arrive(&shop, 6).await;
    shop.expects(so_many(6)).await;
}

#[tokio::test]
async fn a_process_without_workers_never_calls_the_broker() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with(&["--bus-url", &broker.url()]).await;
    buys(&shop).await;
    shop.settles().await;
    let stream = broker.jetstream().await.get_stream("BORING_CHECKOUT").await;
    assert!(stream.is_err(), "nobody has created it");
    assert_eq!(shop.count(UNPUBLISHED).await, 1);
}

#[tokio::test]
async fn a_broker_that_is_killed_again_and_again_loses_nothing() {
    const CUSTOMERS: i64 = 24;
    let Some(mut broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    let buying = join_all((0..4).map(|_| async {
        for _ in 0..CUSTOMERS / 4 {
            buys(&shop).await;
        }
    }));
    let killing = async {
        for _ in 0..6 {
            tokio::time::sleep(Duration::from_millis(150)).await;
            broker.kill();
            broker.starts().await;
        }
    };
    tokio::join!(buying, killing);
    // What was on its way to us when the broker died is delivered again after half a minute.
    arrive_within(Duration::from_mins(1), &shop, CUSTOMERS).await;
    shop.expects(so_many(CUSTOMERS)).await;
}

/// The news was published, and the consumers could not act on it yet.
async fn published_and_not_consumed(shop: &Shop) {
    shop.alters("alter table shipments rename to shipments_elsewhere")
        .await;
    shop.alters("alter table emails rename to emails_elsewhere")
        .await;
    for _ in 0..3 {
        buys(shop).await;
    }
    eventually("all are published", || async {
        shop.count(UNPUBLISHED).await == 0
    })
    .await;
}

/// What is delivered from now on can be consumed.
async fn consumers_are_mended(shop: &Shop) {
    shop.alters("alter table shipments_elsewhere rename to shipments")
        .await;
    shop.alters("alter table emails_elsewhere rename to emails")
        .await;
}

#[tokio::test]
async fn what_a_broker_had_when_its_store_was_lost_comes_from_the_outbox_again() {
    let Some(mut broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    buys(&shop).await;
    arrive(&shop, 1).await;
    broker.kill();
    shop.alters("alter table shipments rename to shipments_elsewhere")
        .await;
    buys(&shop).await;
    broker.starts().await;
    eventually("it is published", || async {
        shop.count(UNPUBLISHED).await == 0
    })
    .await;
    broker.kill();
    broker.loses_everything();
    shop.alters("alter table shipments_elsewhere rename to shipments")
        .await;
    assert_eq!(shop.count(SHIPMENTS).await, 1);

    broker.starts().await;
    arrive(&shop, 2).await;
    // The second one may have been in a consumer's hands when the broker died, and then it did not have to come back.
    assert!(
        broker.stored().await <= 1,
        "what was consumed by all is not published again"
    );
    shop.expects(so_many(2)).await;
}

/// The connection stays, and the shop hears of nothing.
#[tokio::test]
async fn messages_that_are_deleted_on_the_broker_are_missed_within_the_hour() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    published_and_not_consumed(&shop).await;
    let stream = broker.jetstream().await.get_stream("BORING_CHECKOUT").await;
    stream.expect("a stream").purge().await.expect("purged");
    consumers_are_mended(&shop).await;
    shop.settles().await;

    shop.app().till.clock.advance(Duration::from_hours(1));
    arrive(&shop, 3).await;
    // One may have been in a consumer's hands at that very moment, and did not have to come back.
    let came_back = broker.stored().await;
    assert!((2..=3).contains(&came_back), "{came_back}");
    shop.expects(so_many(3)).await;
}

#[tokio::test]
async fn a_stream_or_consumer_that_is_deleted_is_created_again() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    buys(&shop).await;
    arrive(&shop, 1).await;
    let jetstream = broker.jetstream().await;
    let stream = jetstream
        .get_stream("BORING_CHECKOUT")
        .await
        .expect("a stream");
    stream.delete_consumer("mailer").await.expect("deleted");
    buys(&shop).await;
    arrive(&shop, 2).await;

    jetstream
        .delete_stream("BORING_CHECKOUT")
        .await
        .expect("deleted");
    buys(&shop).await;
    arrive(&shop, 3).await;
    shop.expects(so_many(3)).await;
}

/// The broker tells those who are just asking, and nobody else.
#[tokio::test]
async fn a_consumer_that_is_deleted_while_it_does_not_ask_is_created_again() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let bus = Nats::connect(&Secret::new(broker.url())).await;
    let bus = bus.expect("a URL");
    let shop = Shop::open().await;
    let till = &shop.app().till;
    let mailer = Consumer::Mailer.name();
    let (probe, mut hold) =
        holding(move |at| matches!(at, Boundary::BeforeAcknowledge(name) if name == mailer));
    let consuming = Consuming {
        nats: bus.clone(),
        consumer: Consumer::Mailer,
        db: till.db.with_probe(probe),
        clock: till.clock.clone(),
    };
    let stopping = CancellationToken::new();
    let mails = tokio::spawn(consuming.run(stopping.clone()));
    broker.consumer(mailer).await;
    buys(&shop).await;
    published(&broker, &shop, bus.clone(), 1).await;
    hold.reached().await;
    eventually("nobody asks", || async {
        broker.consumer(mailer).await.num_waiting == 0
    })
    .await;
    let jetstream = broker.jetstream().await;
    let stream = jetstream.get_stream("BORING_CHECKOUT").await;
    let deleted = stream.expect("a stream").delete_consumer(mailer).await;
    assert!(deleted.expect("deleted").success);

    hold.lets_go();
    buys(&shop).await;
    published(&broker, &shop, bus, 2).await;
    eventually("both purchases are heard of", || async {
        shop.count("select count(*) from inbox").await == 2
    })
    .await;
    stopping.cancel();
    mails.await.expect("it ends");
}

#[tokio::test]
async fn two_processes_share_the_work() {
    const ORDERS: i64 = 12;
    let Some(broker) = Broker::open().await else {
        return;
    };
    let bus = ["--bus-url", &broker.url()];
    let shop = Shop::open().await;
    for _ in 0..ORDERS {
        buys(&shop).await;
    }
    let others = join_all((0..2).map(|_| another_shop(&shop, &bus))).await;
    arrive(&shop, ORDERS).await;
    for other in others {
        other.stop().await;
    }
    // Of each message each consumer has taken one copy, whichever process it was.
    assert_eq!(broker.stored().await, 12);
    let consumer = broker.consumer("fulfilment").await;
    assert_eq!((consumer.num_ack_pending, consumer.num_pending), (0, 0));
    shop.expects(so_many(ORDERS)).await;
}

/// What no consumer can read: a payload of a format that nobody knows.
async fn writes_poison(shop: &Shop) -> CheckoutId {
    let aggregate = CheckoutId::new();
    let newer = json!({"format": 2, "checkout_id": aggregate, "order_number": "0000-0000-00"});
    writes(&shop.app().till, aggregate, "order.placed", 1, newer).await;
    aggregate
}

#[tokio::test]
async fn r58_poison_holds_up_nobody_is_parked_and_can_be_retried_after_the_repair() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    let till = &shop.app().till;
    let poison = writes_poison(&shop).await;
    // A later one of the same purchase, which everybody understands and which has to wait.
    writes(till, poison, "note", 1, json!({})).await;
    eventually("both are published", || async {
        shop.count(UNPUBLISHED).await == 0
    })
    .await;
    for _ in 0..100 {
        writes(till, CheckoutId::new(), "note", 1, json!({})).await;
    }
    let began = Instant::now();
    eventually("the good ones are consumed", || async {
        shop.count("select count(*) from inbox").await == 100 * 3
    })
    .await;
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(shop.count(PARKED).await, 0);

    eventually("it is parked", || async { shop.count(PARKED).await == 1 }).await;
    let listed = operator::unpublished(shop.db()).await.expect("a list");
    let [listed] = &listed[..] else {
        panic!("{listed:?}")
    };
    let listed = listed.to_string();
    assert!(
        listed.contains(&format!("{poison}/order.placed/1  parked since")),
        "{listed}"
    );
    assert!(listed.contains("the payload cannot be read"), "{listed}");
    assert_eq!(shop.count("select count(*) from inbox").await, 100 * 3);

    // All consumers have done with it, and only what waits for it is left to them.
    for consumer in CONSUMERS {
        eventually("it has done with it", || async {
            broker.consumer(consumer.name()).await.num_ack_pending == 1
        })
        .await;
    }

    // A person has found out what it was. The broker still knows the id of the first publication.
    shop.alters(
        "update outbox set payload = '{}', event_type = 'mistake' where parked_at is not null",
    )
    .await;
    assert_eq!(operator::retry(shop.db(), None).await.expect("retried"), 1);
    // What waited for it comes at its next delivery, a minute later at most.
    within(Duration::from_secs(75), "all are consumed", || async {
        shop.count("select count(*) from inbox where message like '%/note/1'")
            .await
            == 101 * 3
    })
    .await;
    shop.settles().await;
    let report = shop.report().await;
    assert!(report.ok, "{report}");
}

/// A retry without a repair: the broker must not take it for the publication that it knows.
#[tokio::test]
async fn what_was_handed_back_is_published_anew_and_handed_back_again() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    writes_poison(&shop).await;
    for returns in 1..=2 {
        eventually("it is parked", || async { shop.count(PARKED).await == 1 }).await;
        let count = shop.count("select returns from outbox").await;
        assert_eq!(count, returns);
        assert_eq!(broker.stored().await, u64::try_from(returns).expect("few"));
        // The other consumers hand back what has come back already: nothing changes.
        for consumer in CONSUMERS {
            eventually("it has done with it", || async {
                broker.consumer(consumer.name()).await.num_ack_pending == 0
            })
            .await;
        }
        assert_eq!(shop.count("select returns from outbox").await, returns);
        assert_eq!(operator::retry(shop.db(), None).await.expect("retried"), 1);
    }
    eventually("it is stored a third time", || async {
        broker.stored().await == 3
    })
    .await;
}

#[tokio::test]
async fn poison_whose_row_was_pruned_is_written_to_the_outbox_anew() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    let poison = writes_poison(&shop).await;
    eventually("it is published", || async {
        shop.count(UNPUBLISHED).await == 0
    })
    .await;
    shop.alters("delete from outbox").await;

    eventually("it is parked", || async { shop.count(PARKED).await == 1 }).await;
    let listed = operator::unpublished(shop.db()).await.expect("a list");
    assert!(
        listed[0].to_string().contains(&poison.to_string()),
        "{listed:?}"
    );
    let format: i64 = if shop.database.is_postgres() {
        shop.count("select cast(payload->>'format' as bigint) from outbox")
            .await
    } else {
        shop.count("select payload->>'format' from outbox").await
    };
    assert_eq!(format, 2, "what it said");
}

/// What an operator's stream is too small for will go no better later. A stream that is missing will be there again.
#[tokio::test]
async fn what_is_too_large_is_refused_and_whatever_else_is_wrong_is_waited_for() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    broker.stored().await;
    shop.stop().await;
    let bus = Nats::connect(&Secret::new(broker.url())).await;
    let bus = bus.expect("a URL");
    eventually("it is connected", || async { bus.is_there() }).await;
    let jetstream = broker.jetstream().await;
    let stream = jetstream.get_stream("BORING_CHECKOUT").await;
    let mut config = stream.expect("a stream").cached_info().config.clone();
    config.max_message_size = 1000;
    jetstream.update_stream(config).await.expect("changed");
    let publishes = async |length: usize| {
        let message = Message {
            aggregate_id: CheckoutId::new(),
            event_type: "note".to_owned(),
            version: 1,
            payload: json!({"text": "x".repeat(length)}),
        };
        bus.publish(&message, 0).await
    };

    publishes(1).await.expect("stored");
    let refused = publishes(1000).await;
    assert!(
        matches!(refused, Err(PublishError::Refused(_))),
        "{refused:?}"
    );
    let deleted = jetstream.delete_stream("BORING_CHECKOUT").await;
    deleted.expect("deleted");
    let failed = publishes(1).await;
    assert!(
        matches!(failed, Err(PublishError::Unavailable(_))),
        "{failed:?}"
    );
}

#[tokio::test]
async fn what_is_no_message_of_the_shop_stops_nobody() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    broker.consumer("fulfilment").await;
    let jetstream = broker.jetstream().await;
    for payload in ["", "{", "\u{0}"] {
        let stored = jetstream
            .publish("boring_checkout.order.placed", payload.into())
            .await;
        stored.expect("sent").await.expect("stored");
    }
    buys(&shop).await;
    arrive(&shop, 1).await;
    for name in ["fulfilment", "mailer", "refunds"] {
        eventually("nothing is left", || async {
            broker.consumer(name).await.num_ack_pending == 0
        })
        .await;
    }
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r58_a_message_that_is_too_large_for_the_broker_is_parked() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    let large = json!({"text": "x".repeat(2_000_000)});
    writes(&shop.app().till, CheckoutId::new(), "note", 1, large).await;
    buys(&shop).await;
    eventually("it is parked", || async {
        shop.app().till.clock.advance(Duration::from_secs(61));
        shop.count(PARKED).await == 1
    })
    .await;
    let listed = operator::unpublished(shop.db()).await.expect("a list");
    let listed = listed[0].to_string();
    assert!(listed.contains("max payload size exceeded"), "{listed}");
    eventually("the other one is shipped", || async {
        shop.count(SHIPMENTS).await == 1
    })
    .await;
    assert_eq!(broker.stored().await, 1);
}

/// Its acknowledgement would say that the message is safe, and none of the consumers would ever hear of it.
#[tokio::test]
async fn somebody_elses_stream_on_the_same_subjects_does_not_count() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let jetstream = broker.jetstream().await;
    let other = async_nats::jetstream::stream::Config {
        name: "OTHER".to_owned(),
        subjects: vec!["boring_checkout.order.placed".to_owned()],
        ..Default::default()
    };
    jetstream.create_stream(other).await.expect("created");
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    buys(&shop).await;
    eventually("it is refused", || async {
        let refused =
            "select count(*) from outbox where published_at is null and last_error is not null";
        shop.count(refused).await == 1
    })
    .await;

    jetstream.delete_stream("OTHER").await.expect("deleted");
    arrive(&shop, 1).await;
    shop.expects(ONCE).await;
}

/// A relay that died between the stream's acknowledgement and `published_at`.
#[tokio::test]
async fn a_message_that_is_published_twice_is_stored_once() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let shop = Shop::open_with_workers(&["--bus-url", &broker.url()]).await;
    buys(&shop).await;
    arrive(&shop, 1).await;
    shop.alters("update outbox set published_at = null, not_before = null")
        .await;
    arrive(&shop, 1).await;
    assert_eq!(broker.stored().await, 1);
    shop.expects(ONCE).await;
}

/// A consumer of a process of its own that has a message in its hands, and cannot commit while `lock` is held. All it
/// sends and hears goes through `wire`.
struct Caught {
    shop: Shop,
    wire: Relay,
    process: Process,
    lock: Tx,
}

async fn caught_in_the_act(broker: &Broker) -> Caught {
    let shop = Shop::open().await;
    let wire = Relay::open().await;
    let url = format!("nats://{}", wire.address);
    let flags = ["--bus-url", url.as_str()];
    let process = Process::shop_with_workers(&shop.database, &shop.provider, &flags).await;
    // Another one has created the stream and published, and is gone again.
    let other = another_shop(&shop, &["--bus-url", &broker.url()]).await;
    for consumer in CONSUMERS {
        broker.consumer(consumer.name()).await;
    }
    other.stop().await;
    buys(&shop).await;
    shop.settles().await;
    let bus = Nats::connect(&Secret::new(broker.url()))
        .await
        .expect("a URL");
    published(broker, &shop, bus, 1).await;

    let mut lock = shop.db().begin_alone().await.expect("a transaction");
    if shop.database.is_postgres() {
        lock.query("lock table inbox in exclusive mode")
            .execute()
            .await
            .expect("locked");
    }
    wire.leads_to(broker.address());
    for consumer in CONSUMERS {
        eventually("it is delivered", || async {
            broker.consumer(consumer.name()).await.num_ack_pending == 1
        })
        .await;
    }
    Caught {
        shop,
        wire,
        process,
        lock,
    }
}

/// Publishes what is in the outbox, so that there are so many messages.
async fn published(broker: &Broker, shop: &Shop, bus: Nats, messages: u64) {
    let till = &shop.app().till;
    let relay = outbox::relay::Relay::to(Arc::new(bus), &till.db, &till.clock);
    eventually("it is published", || async {
        till.clock.advance(Duration::from_secs(2));
        for row in relay.claim(1).await.expect("a claim") {
            relay.perform(row).await.expect("performed");
        }
        broker.stored().await == messages && shop.count(UNPUBLISHED).await == 0
    })
    .await;
}

/// Waits until the broker has given up on the one that is dead, and all consumers have acknowledged.
async fn acknowledged_by_another(broker: &Broker, shop: &Shop) {
    let other = another_shop(shop, &["--bus-url", &broker.url()]).await;
    for consumer in CONSUMERS {
        within(Duration::from_mins(1), "it is acknowledged", || async {
            let consumer = broker.consumer(consumer.name()).await;
            consumer.num_ack_pending == 0 && consumer.ack_floor.stream_sequence == 1
        })
        .await;
    }
    other.stop().await;
    assert_eq!(
        broker.stored().await,
        1,
        "delivered again, not published again"
    );
}

/// A wire that swallows what is sent stands for the moment between the commit and the acknowledgement.
#[tokio::test]
async fn a_consumer_that_died_after_the_commit_has_acted_once() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let Caught {
        shop,
        wire,
        process,
        lock,
    } = caught_in_the_act(&broker).await;
    wire.swallows();
    drop(lock);
    eventually("all have committed", || async {
        shop.count("select count(*) from inbox").await == 3
    })
    .await;
    process.kill();
    assert_eq!(shop.alters("delete from shipments").await, 1);

    acknowledged_by_another(&broker, &shop).await;
    assert_eq!(shop.count(SHIPMENTS).await, 0, "no second effect");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_consumer_that_died_before_the_commit_has_not_acted() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let Caught {
        shop,
        wire: _wire,
        process,
        lock,
    } = caught_in_the_act(&broker).await;
    process.kill();
    drop(lock);
    assert_eq!(shop.count(SHIPMENTS).await, 0);

    acknowledged_by_another(&broker, &shop).await;
    arrive(&shop, 1).await;
    shop.expects(ONCE).await;
}

/// What it has begun is finished, and what it has not begun is another's at once: nothing waits for the broker to give up
/// on it.
#[tokio::test]
async fn a_process_that_is_asked_to_stop_leaves_nothing_behind() {
    let Some(broker) = Broker::open().await else {
        return;
    };
    let Caught {
        shop,
        wire: _wire,
        process,
        lock,
    } = caught_in_the_act(&broker).await;
    let began = Instant::now();
    process.asks_to_stop();
    drop(lock);
    assert!(process.ends().await.success());
    let other = another_shop(&shop, &["--bus-url", &broker.url()]).await;
    arrive(&shop, 1).await;
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(
        broker.stored().await,
        1,
        "delivered again, not published again"
    );
    other.stop().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn the_broker_may_ask_for_a_password_and_nobody_else_reads_it() {
    let Some(mut broker) = Broker::open_for(Some(("shop", "töp/s3cret"))).await else {
        return;
    };
    let shop = Shop::open().await;
    buys(&shop).await;
    let (address, log) = (broker.address(), ["--log", "info,async_nats=trace"]);
    let right = format!("nats://shop:t%C3%B6p%2Fs3cret@{address}");
    let wrong = format!("nats://shop:s3cret@{address}");
    let refused = Process::shop_with_workers(
        &shop.database,
        &shop.provider,
        &[&log[..], &["--bus-url", &wrong]].concat(),
    )
    .await;
    eventually("it is said", || async {
        refused.log().contains("the bus is not there")
    })
    .await;
    assert_eq!(shop.count(SHIPMENTS).await, 0);

    let welcome = Process::shop_with_workers(
        &shop.database,
        &shop.provider,
        &[&log[..], &["--bus-url", &right]].concat(),
    )
    .await;
    arrive(&shop, 1).await;
    broker.kill();
    eventually("it is said", || async {
        welcome.log().contains("the bus is not there")
    })
    .await;
    for process in [refused, welcome] {
        let log = process.log();
        assert!(!log.contains("s3cret"), "{log}");
        assert_eq!(
            log.matches("the bus is not there").count(),
            1,
            "once, not at every attempt"
        );
    }
    shop.expects(ONCE).await;
}
