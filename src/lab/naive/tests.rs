//! The naive twin without a fault, where all is well, and with the shortest fault for each thing that it gets wrong.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::open;
use crate::{
    lab::{
        flow::{Answer, Customer, Form, NoAnswer, Request, Standing},
        world::{Fault, Ground, Moment, Plan, Tally, World, no_faults},
    },
    probe::{Boundary, Probe},
};

const CARD: &str = "pm_card_visa";
const DEBIT: &str = "pm_sepaDebit_success_de";
const ASKS: &str = "pm_card_threeDSecure2Required";
const CREATE: &str = "payment_intents.create";

/// On SQLite or, when `TEST_DATABASE_URL` names a server, on PostgreSQL.
async fn ground() -> Ground {
    let ground = match std::env::var("TEST_DATABASE_URL") {
        Ok(server) => Ground::postgres(&server.as_str().into()).await,
        Err(_) => Ground::sqlite().await,
    };
    ground.expect("a ground")
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

async fn asks(world: &mut World<'_>, request: Request) -> Result<Answer, NoAnswer> {
    world.ask(request).await.expect("the world stands")
}

/// Tea goes into the cart, and the form is sent until there is an order.
async fn buys(world: &mut World<'_>, customer: &Customer, method: &'static str) -> String {
    let added = asks(world, Request::Add(customer.clone(), "TEA-01", 1)).await;
    assert_eq!(added, Ok(Answer::Done));
    for _ in 0..3 {
        let submit = Request::Submit(customer.clone(), Form::default(), method);
        if let Ok(Answer::Place(place)) = asks(world, submit).await {
            return place;
        }
    }
    panic!("no order")
}

async fn looks(world: &mut World<'_>, customer: &Customer, place: &str) -> Standing {
    match asks(world, Request::Look(customer.clone(), place.to_owned())).await {
        Ok(Answer::Standing(standing)) => standing,
        other => panic!("{other:?}"),
    }
}

async fn refunds(world: &mut World<'_>, place: &str, minor: i64) -> Result<Answer, NoAnswer> {
    let order = place.rsplit('/').next().expect("an order").to_owned();
    let refund = Request::Refund {
        order,
        form: Form::default(),
        minor,
        restock: false,
    };
    asks(world, refund).await
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
async fn ends(mut world: World<'_>) -> (Tally, Vec<&'static str>) {
    world.go_on().await.expect("the world goes on");
    let tally = world.tally().await.expect("books");
    world.kill().await;
    let mut broken: Vec<_> = tally.broken.iter().map(|broken| broken.name).collect();
    broken.dedup();
    broken.sort_unstable();
    (tally, broken)
}

fn of_one_purchase() -> Tally {
    Tally {
        charges: 1,
        orders: 1,
        sold: 1,
        mails: 1,
        ..Tally::default()
    }
}

#[tokio::test]
async fn without_a_fault_all_is_well() {
    let ground = ground().await;
    for method in [CARD, DEBIT, ASKS] {
        let mut world = World::begin(&ground, open, no_faults())
            .await
            .expect("a world");
        let ada = Customer::new("ada");
        let place = buys(&mut world, &ada, method).await;
        if let Standing::Asked(page) = looks(&mut world, &ada, &place).await {
            world.approve(&page).await.expect("approved");
        }
        world.provider_decides().await.expect("decided");
        world.deliver_news().await.expect("delivered");
        let standing = looks(&mut world, &ada, &place).await;
        assert!(
            matches!(standing, Standing::Paid(_)),
            "{method}: {standing:?}"
        );
        let (tally, _) = ends(world).await;
        assert_eq!(tally, of_one_purchase(), "{method}");
    }
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn refunds_without_a_fault_are_well() {
    let ground = ground().await;
    let mut world = World::begin(&ground, open, no_faults())
        .await
        .expect("a world");
    let place = buys(&mut world, &Customer::new("ada"), CARD).await;
    assert!(matches!(
        refunds(&mut world, &place, 90).await,
        Ok(Answer::Place(_))
    ));
    assert!(matches!(
        refunds(&mut world, &place, 400).await,
        Ok(Answer::Place(_))
    ));
    assert!(matches!(
        refunds(&mut world, &place, 1).await,
        Ok(Answer::Refused(_))
    ));
    let (tally, _) = ends(world).await;
    let expected = Tally {
        refunds: 2,
        refunded_minor: 490,
        mails: 3,
        ..of_one_purchase()
    };
    assert_eq!(tally, expected);
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn declined_cards_and_sold_out_goods_cost_nothing() {
    let ground = ground().await;
    let mut world = World::begin(&ground, open, no_faults())
        .await
        .expect("a world");
    let (ada, bob) = (Customer::new("ada"), Customer::new("bob"));
    world.stock("TEA-01", 1).await.expect("stocked");
    for customer in [&ada, &bob] {
        let added = asks(&mut world, Request::Add(customer.clone(), "TEA-01", 1)).await;
        assert_eq!(added, Ok(Answer::Done));
    }
    let submit =
        |customer: &Customer, method| Request::Submit(customer.clone(), Form::default(), method);
    let declined = asks(&mut world, submit(&ada, "pm_card_chargeDeclined")).await;
    assert!(matches!(declined, Ok(Answer::Refused(_))), "{declined:?}");
    let sold = asks(&mut world, submit(&bob, CARD)).await;
    assert!(matches!(sold, Ok(Answer::Place(_))), "{sold:?}");
    let sold_out = asks(&mut world, submit(&ada, CARD)).await;
    assert!(matches!(sold_out, Ok(Answer::Refused(_))), "{sold_out:?}");
    let again = asks(&mut world, submit(&bob, CARD)).await;
    assert_eq!(
        again, sold,
        "who sends the form again later is shown the order"
    );
    assert_eq!(ends(world).await.0, of_one_purchase());
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn a_double_click_is_charged_twice() {
    let ground = ground().await;
    let plan = once(Fault::Again, |moment| {
        moment.boundary == Boundary::BeforeSend(CREATE)
    });
    let mut world = World::begin(&ground, open, plan).await.expect("a world");
    buys(&mut world, &Customer::new("ada"), CARD).await;
    let (tally, broken) = ends(world).await;
    assert_eq!((tally.charges, tally.orders, tally.mails), (2, 2, 2));
    assert_eq!(
        broken,
        [
            "one_charge_for_each_checkout",
            "one_paid_checkout_for_each_cart"
        ]
    );
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn a_lost_answer_is_a_lost_order_and_the_next_try_a_second_charge() {
    let ground = ground().await;
    let plan = once(Fault::Lost, |moment| {
        moment.boundary == Boundary::AfterSend(CREATE)
    });
    let mut world = World::begin(&ground, open, plan).await.expect("a world");
    buys(&mut world, &Customer::new("ada"), CARD).await;
    let (tally, broken) = ends(world).await;
    assert_eq!((tally.charges, tally.orders), (2, 1));
    assert_eq!(broken, LOST_AND_CHARGED_AGAIN);
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn a_crash_after_the_charge_is_a_lost_order_and_the_next_try_a_second_charge() {
    let ground = ground().await;
    let plan = once(Fault::Crash, |moment| {
        moment.boundary == Boundary::AfterReceive(CREATE)
    });
    let mut world = World::begin(&ground, open, plan).await.expect("a world");
    buys(&mut world, &Customer::new("ada"), CARD).await;
    let (tally, broken) = ends(world).await;
    assert_eq!((tally.charges, tally.orders), (2, 1));
    assert_eq!(broken, LOST_AND_CHARGED_AGAIN);
    ground.remove().await.expect("removed");
}

/// The webhook of the first charge finds no order, and says that all is well.
const LOST_AND_CHARGED_AGAIN: [&str; 3] = [
    "each_charge_is_booked",
    "each_event_took_effect",
    "one_charge_for_each_checkout",
];

/// The second delivery comes when the first has looked for the event and has not noted it yet.
#[tokio::test]
async fn a_webhook_that_comes_twice_at_once_is_two_mails() {
    let ground = ground().await;
    let (plan, arm) = armed_later(
        Fault::Again,
        |moment| matches!(moment.boundary, Boundary::AfterStatement(sql) if sql.contains("from naive_events")),
    );
    let mut world = World::begin(&ground, open, plan).await.expect("a world");
    buys(&mut world, &Customer::new("ada"), DEBIT).await;
    world.deliver_news().await.expect("delivered");
    world.provider_decides().await.expect("decided");
    let succeeded = all_but_the_success(&mut world).await;
    arm.store(true, SeqCst);
    let _ = world.deliver(succeeded).await.expect("the world stands");
    let (tally, broken) = ends(world).await;
    assert_eq!((tally.charges, tally.orders, tally.mails), (1, 1, 2));
    assert_eq!(broken, ["no_mail_is_sent_twice"]);
    ground.remove().await.expect("removed");
}

#[tokio::test]
async fn a_crash_after_an_event_was_noted_swallows_it() {
    let ground = ground().await;
    let (plan, arm) = armed_later(Fault::Crash, |moment| {
        moment.boundary == Boundary::AfterCommit
    });
    let mut world = World::begin(&ground, open, plan).await.expect("a world");
    buys(&mut world, &Customer::new("ada"), DEBIT).await;
    world.deliver_news().await.expect("delivered");
    world.provider_decides().await.expect("decided");
    let succeeded = all_but_the_success(&mut world).await;
    arm.store(true, SeqCst);
    let _ = world.deliver(succeeded).await.expect("the world stands");
    let (tally, broken) = ends(world).await;
    assert_eq!((tally.charges, tally.orders, tally.mails), (1, 0, 0));
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
    let plan = once(Fault::Lost, |moment| {
        moment.boundary == Boundary::AfterSend("refunds.create")
    });
    let mut world = World::begin(&ground, open, plan).await.expect("a world");
    let place = buys(&mut world, &Customer::new("ada"), CARD).await;
    assert!(matches!(
        refunds(&mut world, &place, 100).await,
        Ok(Answer::Refused(_))
    ));
    assert!(matches!(
        refunds(&mut world, &place, 100).await,
        Ok(Answer::Place(_))
    ));
    let (tally, broken) = ends(world).await;
    assert_eq!(tally.refunded_minor, 200);
    assert_eq!(broken, ["each_refund_is_booked"]);
    ground.remove().await.expect("removed");
}

/// One buyer is held where they have looked at the stock; the other one looks and buys meanwhile.
#[tokio::test]
async fn two_buyers_of_the_last_unit_both_get_it() {
    let ground = ground().await;
    let mut world = World::begin(&ground, open, no_faults())
        .await
        .expect("a world");
    world.stock("TEA-01", 1).await.expect("stocked");
    let (ada, bob) = (Customer::new("ada"), Customer::new("bob"));
    let added = asks(&mut world, Request::Add(ada.clone(), "TEA-01", 1)).await;
    assert_eq!(added, Ok(Answer::Done));
    let (arrived, mut arrivals) = mpsc::unbounded_channel::<oneshot::Sender<()>>();
    let probe = Probe::new(move |boundary| {
        let arrived = arrived.clone();
        async move {
            if boundary == Boundary::BeforeBegin {
                let (go, gone) = oneshot::channel();
                arrived.send(go).expect("the test waits");
                gone.await.expect("the test goes on");
            }
            Ok(())
        }
    });
    let hers = world.open_another(probe).await.expect("another process");
    let flow = Arc::clone(hers.flow());
    let submit = Request::Submit(ada.clone(), Form::default(), CARD);
    let submits = hers.spawn(async move { flow.answer(submit).await });
    let go = arrivals.recv().await.expect("she has looked");
    buys(&mut world, &bob, CARD).await;
    go.send(()).expect("she waits");
    let place = submits.await.expect("no panic");
    assert!(matches!(place, Ok(Answer::Place(_))), "{place:?}");
    hers.end().await;
    let (tally, broken) = ends(world).await;
    assert_eq!((tally.charges, tally.orders, tally.sold), (2, 2, 2));
    assert_eq!(broken, ["stock_is_never_negative"]);
    ground.remove().await.expect("removed");
}
