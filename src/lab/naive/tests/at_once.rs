//! Two at the same time, each held where it has looked and not yet acted.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::{CARD, DEBIT, TEA, ada_buys, all_but_the_success, ends, ground, world};
use crate::{
    lab::{
        flow::{Answer, Customer, Flow, NoAnswer, Request},
        world::{Life, World, no_faults},
    },
    probe::{Boundary, Probe},
};

/// A process that stops wherever it is about to begin a transaction, until it is told to go on.
struct Stepped {
    life: Life,
    stops: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
}

impl Stepped {
    async fn on(world: &World<'_>) -> Self {
        let (stop, stops) = mpsc::unbounded_channel();
        let probe = Probe::new(move |boundary| {
            let stop = stop.clone();
            async move {
                if boundary == Boundary::BeforeBegin {
                    let (go, gone) = oneshot::channel();
                    stop.send(go).expect("the test waits");
                    gone.await.expect("the test goes on");
                }
                Ok(())
            }
        });
        let life = world.open_another(probe).await.expect("a process");
        Self { life, stops }
    }

    fn asks(&self, request: Request) -> tokio::task::JoinHandle<Result<Answer, NoAnswer>> {
        let flow: Arc<dyn Flow> = Arc::clone(self.life.flow());
        self.life.spawn(async move { flow.answer(request).await })
    }

    async fn stops(&mut self) -> oneshot::Sender<()> {
        self.stops.recv().await.expect("it comes to a transaction")
    }
}

/// Both have looked at the stock before one of them has taken it.
#[tokio::test]
async fn two_buyers_of_the_last_unit_both_get_it() {
    let ground = ground().await;
    let mut world = world(&ground, no_faults()).await;
    world.stock(TEA, 1).await.expect("stocked");
    let (ada, bo) = (Customer::new("ada"), Customer::new("bo"));
    let of_ada = world.want(&ada, TEA).await.expect("a form");
    let of_bo = world.want(&bo, TEA).await.expect("a form");
    let mut hers = Stepped::on(&world).await;
    let submits = hers.asks(Request::Submit(ada, of_ada, CARD));
    let go = hers.stops().await;
    let his = world.submit(&bo, &of_bo, CARD).await.expect("an answer");
    assert!(matches!(his, Answer::Place(_)), "{his:?}");
    go.send(()).expect("she waits");
    let her = submits.await.expect("no panic");
    assert!(matches!(her, Ok(Answer::Place(_))), "{her:?}");
    hers.life.end().await;
    let (sums, broken) = ends(world).await;
    assert_eq!((sums.charges, sums.orders, sums.sold), (2, 2, 2));
    assert_eq!(broken, ["stock_is_never_negative"]);
    ground.remove().await.expect("removed");
}

/// Two processes get the same event at once: both have looked for it before one has noted it, and both have looked at the
/// order before one has marked it as paid.
#[tokio::test]
async fn a_webhook_that_comes_twice_at_once_is_two_mails() {
    let ground = ground().await;
    let mut world = world(&ground, no_faults()).await;
    ada_buys(&mut world, DEBIT).await;
    ground
        .control()
        .settle(None)
        .await
        .expect("the bank decides");
    let succeeded = all_but_the_success(&mut world).await;
    let (mut one, mut other) = (Stepped::on(&world).await, Stepped::on(&world).await);
    let first = one.asks(Request::Deliver(Arc::clone(&succeeded)));
    let second = other.asks(Request::Deliver(succeeded));
    let (notes, also_notes) = (one.stops().await, other.stops().await);
    notes.send(()).expect("it waits");
    let marks = one.stops().await;
    also_notes.send(()).expect("it waits");
    let also_marks = other.stops().await;
    marks.send(()).expect("it waits");
    also_marks.send(()).expect("it waits");
    for answer in [first, second] {
        assert_eq!(answer.await.expect("no panic"), Ok(Answer::Done));
    }
    one.life.end().await;
    other.life.end().await;
    let (sums, broken) = ends(world).await;
    assert_eq!((sums.charges, sums.orders, sums.mails), (1, 1, 2));
    assert_eq!(broken, ["no_mail_is_sent_twice"]);
    ground.remove().await.expect("removed");
}
