//! The naive twin without a fault, where all is well, and with the shortest fault for each thing that it gets wrong.

mod at_once;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use serde_json::Value;

use super::{Event, Naive, audit, create_tables, open, receive};
use crate::{
    audit::audit as audit_the_shop,
    clock::Clock,
    db::Db,
    lab::{
        flow::{Customer, Failed},
        story::{order_of, place_of},
        sweep::scenarios::SCENARIOS,
        world::{Fault, Ground, Moment, Plan, Sums, Tally, World, no_faults},
    },
    mail::post::{Post, Tray},
    probe::Boundary,
    provider::Provider,
    simulator::Simulator,
    webhooks,
};

const TEA: &str = "TEA-01";
const CARD: &str = "pm_card_visa";
const DEBIT: &str = "pm_sepaDebit_success_de";
const CREATE: &str = "payment_intents.create";

/// On SQLite or, when `TEST_DATABASE_URL` names a server, on PostgreSQL.
async fn ground() -> Ground {
    let ground = match std::env::var("TEST_DATABASE_URL") {
        Ok(server) => Ground::postgres(&server.as_str().into()).await,
        Err(_) => Ground::sqlite().await,
    };
    ground.expect("a ground")
}

async fn world(ground: &Ground, plan: Plan) -> World<'_> {
    World::begin(ground, open, plan).await.expect("a world")
}

/// The fault strikes where `at` says, once.
fn once(fault: Fault, at: fn(&Moment) -> bool) -> Plan {
    let (plan, arm) = armed_later(fault, at);
    arm.store(true, SeqCst);
    plan
}

/// The same, as soon as the story says so.
fn armed_later(fault: Fault, at: fn(&Moment) -> bool) -> (Plan, Arc<AtomicBool>) {
    let armed = Arc::new(AtomicBool::new(false));
    let arm = Arc::clone(&armed);
    let plan =
        Arc::new(move |moment: &Moment| (at(moment) && armed.swap(false, SeqCst)).then_some(fault));
    (plan, arm)
}

/// Ada buys tea, and tries again until there is an order.
async fn ada_buys(world: &mut World<'_>, method: &'static str) -> String {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await.expect("a form");
    let answer = world.submit(&ada, &form, method).await.expect("an answer");
    place_of(answer).expect("an order")
}

/// Delivers the news, but for the one that the payment has succeeded.
async fn all_but_the_success(world: &mut World<'_>) -> Arc<Value> {
    let mut succeeded = None;
    for event in world.news().await.expect("the provider's list") {
        if event["type"] == "payment_intent.succeeded" {
            succeeded = Some(event);
        } else {
            let _ = world.deliver(event).await.expect("the world stands");
        }
    }
    succeeded.expect("it has succeeded")
}

/// What became of it, and which invariants do not hold.
async fn ends(mut world: World<'_>) -> (Sums, Vec<&'static str>) {
    world.settle().await.expect("nothing stays due");
    let Tally { sums, broken, .. } = world.tally().await.expect("books");
    world.kill().await;
    let mut broken: Vec<_> = broken.iter().map(|broken| broken.name).collect();
    broken.sort_unstable();
    broken.dedup();
    (sums, broken)
}

/// All but the one in which a customer pays what was declined, on a page of the provider's that is still open: no fault is
/// needed for that, and nobody who has not thought of it gives the money back.
#[tokio::test]
async fn without_a_fault_every_story_ends_well() {
    let ground = ground().await;
    for scenario in SCENARIOS {
        let mut world = world(&ground, no_faults()).await;
        let told = scenario.tell(&mut world).await;
        let tally = world.tally().await.expect("books");
        world.kill().await;
        if scenario.name == "late-success" {
            assert!(told.is_err(), "nobody is told that it came too late");
            assert_eq!((tally.sums.charges, tally.sums.orders), (1, 0));
        } else {
            told.unwrap_or_else(|stopped| panic!("{}: {stopped}", scenario.name));
            assert_eq!(tally.sums, scenario.promise, "{}", scenario.name);
            assert_eq!(tally.broken, [], "{}", scenario.name);
        }
    }
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn a_double_click_is_charged_twice() {
    let ground = ground().await;
    let plan = once(Fault::Again, |it| {
        it.boundary == Boundary::BeforeSend(CREATE)
    });
    let mut world = world(&ground, plan).await;
    ada_buys(&mut world, CARD).await;
    let (sums, broken) = ends(world).await;
    assert_eq!((sums.charges, sums.orders, sums.mails), (2, 2, 2));
    let twice = [
        "one_charge_for_each_checkout",
        "one_paid_checkout_for_each_cart",
    ];
    assert_eq!(broken, twice);
    ground.remove().await.expect("removed");
}

/// Of a charge whose order was rolled back nobody knows: the customer tries again, and the webhook finds no order, and says
/// that all is well.
const LOST_AND_CHARGED_AGAIN: [&str; 3] = [
    "each_charge_is_booked",
    "each_event_took_effect",
    "one_charge_for_each_checkout",
];

#[tokio::test]
async fn a_lost_answer_is_a_lost_order_and_the_next_try_a_second_charge() {
    let ground = ground().await;
    let plan = once(Fault::Lost, |it| it.boundary == Boundary::AfterSend(CREATE));
    let mut world = world(&ground, plan).await;
    ada_buys(&mut world, CARD).await;
    let (sums, broken) = ends(world).await;
    assert_eq!((sums.charges, sums.orders), (2, 1));
    assert_eq!(broken, LOST_AND_CHARGED_AGAIN);
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn a_crash_after_the_charge_is_a_lost_order_and_the_next_try_a_second_charge() {
    let ground = ground().await;
    let plan = once(Fault::Crash, |it| {
        it.boundary == Boundary::AfterReceive(CREATE)
    });
    let mut world = world(&ground, plan).await;
    ada_buys(&mut world, CARD).await;
    let (sums, broken) = ends(world).await;
    assert_eq!((sums.charges, sums.orders), (2, 1));
    assert_eq!(broken, LOST_AND_CHARGED_AGAIN);
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn a_crash_after_an_event_was_noted_swallows_it() {
    let ground = ground().await;
    let (plan, arm) = armed_later(Fault::Crash, |it| it.boundary == Boundary::AfterCommit);
    let mut world = world(&ground, plan).await;
    ada_buys(&mut world, DEBIT).await;
    ground
        .control()
        .settle(None)
        .await
        .expect("the bank decides");
    let succeeded = all_but_the_success(&mut world).await;
    arm.store(true, SeqCst);
    let _ = world.deliver(succeeded).await.expect("the world stands");
    let (sums, broken) = ends(world).await;
    assert_eq!((sums.charges, sums.orders, sums.mails), (1, 0, 0));
    let swallowed = [
        "each_charge_is_booked",
        "each_event_took_effect",
        "nothing_is_pending_past_the_horizon",
    ];
    assert_eq!(broken, swallowed);
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn a_refund_whose_answer_is_lost_is_made_twice() {
    let ground = ground().await;
    let plan = once(Fault::Lost, |it| {
        it.boundary == Boundary::AfterSend("refunds.create")
    });
    let mut world = world(&ground, plan).await;
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await.expect("a form");
    let (_, standing) = world.pay(&ada, &form, CARD).await.expect("paid");
    let order = order_of(standing).expect("an order");
    world
        .give_back(&order, 100, false)
        .await
        .expect("given back");
    let (sums, broken) = ends(world).await;
    assert_eq!(sums.refunded_minor, 200);
    assert_eq!(broken, ["each_refund_is_booked"]);
    ground.remove().await.expect("removed");
}

/// One database, one account at the provider, both shops.
#[tokio::test]
async fn each_shop_takes_the_payments_of_the_other_for_somebody_elses() -> Result<(), Failed> {
    let simulator = Simulator::start().await?;
    let key = "sk_test_boring".into();
    let provider = Provider::new(&simulator.url(), key, std::time::Duration::from_secs(30))?;
    let (db, clock) = (Db::open("sqlite::memory:").await?, Clock::default());
    create_tables(&db).await?;
    let naive = Naive {
        db: db.clone(),
        provider: provider.clone(),
        post: Arc::new(Post::Tray(Tray::default())),
        mail_from: "The Naive Shop <shop@naive.example>".parse()?,
        clock: clock.clone(),
        webhook_secrets: Arc::default(),
        public_url: "http://naive.example".to_owned(),
    };
    for metadata in ["checkout_id", "naive_order"] {
        let id = uuid::Uuid::now_v7();
        let request = format!(
            "amount=490&currency=eur&payment_method={CARD}&payment_method_types[0]=card&confirm=true\
             &metadata[{metadata}]={id}&metadata[naive_cart]={id}"
        );
        let key = id.to_string();
        provider
            .create(&key, &request, std::time::Duration::ZERO)
            .await?;
    }
    for event in provider.events_since(0, &[]).await?.events {
        let read = webhooks::Event::read(&event, false)?;
        let named = (
            read.checkout.is_some(),
            Event::read(&event)?.order().is_some(),
        );
        assert_ne!(named, (true, true), "{event}");
        if named == (false, true) {
            let received = webhooks::receive(&db, &read, clock.now()).await?;
            let nothing = webhooks::Received::Processed(crate::checkout::Verdict::Nothing);
            assert_eq!(received, nothing, "{event}");
        } else {
            receive(&naive, &Event::read(&event)?).await?;
        }
    }
    let of_the_shop = audit_the_shop(&db, &provider, clock.now()).await?;
    assert!(of_the_shop.ok, "{of_the_shop}");
    assert_eq!(of_the_shop.counts.provider_succeeded, 0);
    let of_its_twin = audit(&db, &provider, &Tray::default(), clock.now()).await?;
    let charges = of_its_twin.counts.provider_succeeded;
    assert_eq!(charges, 1, "its own, and not the shop's\n{of_its_twin}");
    simulator.stop().await;
    Ok(())
}
