//! A world as its stories see it.

use super::*;
use crate::{
    lab::{
        flow::{Customer, Form, Standing},
        safe,
    },
    probe::Boundary,
};

const CARD: &str = "pm_card_visa";

/// On SQLite or, when `TEST_DATABASE_URL` names a server, on PostgreSQL.
async fn ground() -> Ground {
    let ground = match std::env::var("TEST_DATABASE_URL") {
        Ok(server) => Ground::postgres(&server.as_str().into()).await,
        Err(_) => Ground::sqlite().await,
    };
    ground.expect("a ground")
}

fn plan(number: usize, fault: Fault) -> Plan {
    Arc::new(move |moment| (moment.number == number).then_some(fault))
}

async fn asks(world: &mut World<'_>, request: Request) -> Result<Answer, NoAnswer> {
    world.ask(request).await.expect("the world stands")
}

async fn opens(world: &mut World<'_>, ada: &Customer) -> Form {
    let mut answer = asks(world, Request::Add(ada.clone(), "TEA-01", 1)).await;
    if answer.is_err() {
        answer = asks(world, Request::Add(ada.clone(), "TEA-01", 1)).await;
    }
    assert_eq!(answer, Ok(Answer::Done));
    for _ in 0..2 {
        if let Ok(Answer::Form(form)) = asks(world, Request::OpenForm(ada.clone())).await {
            return form;
        }
    }
    panic!("no form")
}

/// Somebody buys tea, and sends the form again until there is an answer.
async fn buys(world: &mut World<'_>) -> Standing {
    let ada = Customer::new("ada");
    let form = opens(world, &ada).await;
    let mut place = Err(NoAnswer);
    for _ in 0..3 {
        if let Err(NoAnswer) = place {
            place = asks(world, Request::Submit(ada.clone(), form.clone(), CARD)).await;
        }
    }
    let Ok(Answer::Place(place)) = place else {
        panic!("{place:?}")
    };
    world.go_on().await.expect("the world goes on");
    match asks(world, Request::Look(ada, place)).await {
        Ok(Answer::Standing(standing)) => standing,
        other => panic!("{other:?}"),
    }
}

fn once() -> Tally {
    Tally {
        sums: Sums {
            charges: 1,
            charged_minor: 490,
            orders: 1,
            sold: 1,
            mails: 1,
            ..Sums::default()
        },
        ..Tally::default()
    }
}

#[tokio::test]
async fn a_purchase_where_nothing_goes_wrong() {
    let ground = ground().await;
    let mut world = World::begin(&ground, safe::open, no_faults())
        .await
        .expect("a world");
    let standing = buys(&mut world).await;
    assert!(matches!(standing, Standing::Paid(_)), "{standing:?}");
    assert_eq!(world.tally().await.expect("books"), once());
    world.kill().await;
    ground.remove().await.expect("removed");
}

/// Each kind of fault, at the boundaries where it is worst.
#[tokio::test]
async fn a_purchase_in_which_each_fault_strikes() {
    let ground = ground().await;
    let mut world = World::begin(&ground, safe::open, no_faults())
        .await
        .expect("a world");
    buys(&mut world).await;
    let moments = world.moments();
    world.kill().await;
    let number = |boundary| {
        let found = moments.iter().find(|moment| moment.boundary == boundary);
        found.expect("passed").number
    };
    let create = "payment_intents.create";
    let strikes = [
        (Boundary::BeforeSend(create), Fault::ErrorBefore),
        (Boundary::BeforeSend(create), Fault::ErrorAfter),
        (Boundary::BeforeSend(create), Fault::RateLimit),
        (Boundary::AfterSend(create), Fault::Lost),
        (Boundary::AfterSend(create), Fault::Crash),
        (Boundary::AfterSend(create), Fault::Webhook),
        (Boundary::AfterSend(create), Fault::Again),
        (Boundary::AfterSend(create), Fault::Leave),
    ];
    for (boundary, fault) in strikes {
        let plan = plan(number(boundary), fault);
        let mut world = World::begin(&ground, safe::open, plan)
            .await
            .expect("a world");
        let standing = buys(&mut world).await;
        assert!(
            matches!(standing, Standing::Paid(_)),
            "{fault}: {standing:?}"
        );
        assert_eq!(world.tally().await.expect("books"), once(), "{fault}");
        world.kill().await;
    }
    ground.remove().await.expect("removed");
}
