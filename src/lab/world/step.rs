//! One thing after the other, and what a fault lets happen in between.
//!
//! A step is a request, or a round of the workers. While a fault holds it at a boundary, other requests run, until they have
//! ended or wait for what the held one has locked; then it goes on. The step is over when all of them are, and everything
//! that they have left behind.

use std::{collections::BTreeSet, pin::Pin, sync::Arc};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::task::JoinHandle;

use super::{
    World,
    life::Life,
    news::id_of,
    watch::{Go, Order},
};
use crate::lab::flow::{Answer, Failed, NoAnswer, Request};

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Request(Request),
    Work,
    /// What was left behind comes to its end.
    Rest,
}

impl Act {
    fn name(&self) -> &'static str {
        match self {
            Self::Request(request) => request.name(),
            Self::Work => "work",
            Self::Rest => "rest",
        }
    }
}

type Outcome = Result<Answer, NoAnswer>;
type UnderWay = FuturesUnordered<Pin<Box<dyn Future<Output = (usize, Act, Outcome)> + Send>>>;

/// Work that is held at a boundary until these have ended.
struct Held {
    waits_for: BTreeSet<usize>,
    go: Go,
}

/// The number of the act that the step is about.
const FIRST: usize = 0;

impl World<'_> {
    pub(super) async fn run(&mut self, act: Act) -> Result<Outcome, Failed> {
        let life = self.life().await?;
        let is_request = matches!(act, Act::Request(_));
        self.watch.begin_step(act.name(), is_request);
        let first = begin(&life, act.clone());
        let leave = first.abort_handle();
        let (mut under_way, mut held) = (UnderWay::new(), Vec::new());
        under_way.push(numbered(FIRST, act.clone(), first));
        let (mut outcome, mut begun, mut rests) = (Err(NoAnswer), 1, false);
        loop {
            let watch = self.watch.clone();
            tokio::select! {
                biased;
                Some(order) = self.orders.recv() => {
                    let (acts, go) = match order {
                        Order::Die => {
                            drop(life);
                            self.mourn().await?;
                            return Ok(Err(NoAnswer));
                        }
                        Order::Leave(go) => {
                            leave.abort();
                            (Vec::new(), go)
                        }
                        Order::Again(go) => (again(&act), go),
                        Order::Webhook(go) => (self.told_now().await?, go),
                    };
                    let waits_for = (begun..begun + acts.len()).collect();
                    for act in acts {
                        under_way.push(numbered(begun, act.clone(), begin(&life, act)));
                        begun += 1;
                    }
                    held.push(Held { waits_for, go });
                }
                Some((number, act, ended)) = under_way.next() => {
                    if let (Act::Request(Request::Deliver(event)), Ok(Answer::Done)) = (&act, &ended) {
                        self.taken.insert(id_of(event));
                    }
                    if number == FIRST {
                        outcome = ended;
                    }
                    for held in &mut held {
                        held.waits_for.remove(&number);
                    }
                    rests = matches!(act, Act::Rest);
                }
                () = watch.is_stuck(), if !held.is_empty() => {
                    for held in &mut held {
                        held.waits_for.clear();
                    }
                }
            }
            held = let_go(held);
            if under_way.is_empty() && rests {
                return Ok(outcome);
            }
            if under_way.is_empty() {
                under_way.push(numbered(begun, Act::Rest, begin(&life, Act::Rest)));
                begun += 1;
            }
        }
    }

    /// What the provider may tell at this very moment: what is new or, when nothing is, all of it once more.
    async fn told_now(&mut self) -> Result<Vec<Act>, Failed> {
        let mut events = self.news().await?;
        if events.is_empty() {
            events = self.everything_told().await?;
        }
        let deliver = |event| Act::Request(Request::Deliver(event));
        Ok(events.into_iter().map(deliver).collect())
    }
}

/// The same request. The workers have nobody who would repeat theirs.
fn again(act: &Act) -> Vec<Act> {
    match act {
        Act::Request(_) => vec![act.clone()],
        Act::Work | Act::Rest => Vec::new(),
    }
}

fn begin(life: &Life, act: Act) -> JoinHandle<Outcome> {
    let flow = Arc::clone(life.flow());
    life.spawn(async move {
        match act {
            Act::Request(request) => return flow.answer(request).await,
            Act::Work => flow.work().await,
            Act::Rest => flow.idle().await,
        }
        Ok(Answer::Done)
    })
}

/// Who went away, and whose process has died, got no answer.
fn numbered(
    number: usize,
    act: Act,
    work: JoinHandle<Outcome>,
) -> Pin<Box<dyn Future<Output = (usize, Act, Outcome)> + Send>> {
    Box::pin(async move { (number, act, work.await.unwrap_or(Err(NoAnswer))) })
}

/// Lets those go on who wait for nobody any more.
fn let_go(held: Vec<Held>) -> Vec<Held> {
    let (wait, go): (Vec<_>, Vec<_>) = (held.into_iter()).partition(|it| !it.waits_for.is_empty());
    for Held { go, .. } in go {
        // Whoever has died since does not go on.
        let _ = go.send(());
    }
    wait
}
