//! The probe of a world: it counts every boundary that the shop passes, and lets happen there what the plan says.

use std::{
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot};

use super::fault::Fault;
use crate::{
    probe::{Boundary, Failure, Probe},
    simulator::{self, Control},
};

/// Work that has not moved for so long while it is alone waits for whatever is held. A busy machine may keep it from its turn,
/// but hardly for as long.
const STUCK_AFTER: Duration = Duration::from_millis(100);

/// A boundary, when it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// How many were passed before it in this world.
    pub number: usize,
    /// What is passed.
    pub boundary: Boundary,
    /// How many steps were taken before the one that it is in. A step is a request, or a round of the workers.
    pub step: usize,
    /// What the step does.
    pub doing: &'static str,
    /// Whether it is a request, which can come again, and whose sender can leave.
    pub is_of_request: bool,
}

/// Says what goes wrong at a moment.
pub type Plan = Arc<dyn Fn(&Moment) -> Option<Fault> + Send + Sync>;

/// Nothing goes wrong.
pub fn no_faults() -> Plan {
    Arc::new(|_| None)
}

/// What the world is to do while work is held at a boundary, and how it is told to go on.
#[derive(Debug)]
pub(super) enum Order {
    Die,
    Leave(Go),
    Again(Go),
    Webhook(Go),
}

pub(super) type Go = oneshot::Sender<()>;

#[derive(Clone)]
pub(super) struct Watch(Arc<Shared>);

struct Shared {
    plan: Plan,
    provider: Control,
    orders: mpsc::UnboundedSender<Order>,
    state: Mutex<State>,
}

struct State {
    moments: Vec<Moment>,
    step: usize,
    doing: &'static str,
    is_request: bool,
    /// Which life is the one that lives. Those before it pass no boundary any more.
    life: usize,
    moved_at: Instant,
}

impl Watch {
    pub(super) fn new(plan: Plan, provider: Control, orders: mpsc::UnboundedSender<Order>) -> Self {
        Self(Arc::new(Shared {
            plan,
            provider,
            orders,
            state: Mutex::new(State {
                moments: Vec::new(),
                step: 0,
                doing: "",
                is_request: false,
                life: 0,
                moved_at: Instant::now(),
            }),
        }))
    }

    /// What the shop does next.
    pub(super) fn begin_step(&self, doing: &'static str, is_request: bool) {
        let mut state = self.0.state();
        state.step += 1;
        state.doing = doing;
        state.is_request = is_request;
    }

    pub(super) fn moments(&self) -> Vec<Moment> {
        self.0.state().moments.clone()
    }

    /// How many boundaries were passed so far.
    pub(super) fn count(&self) -> usize {
        self.0.state().moments.len()
    }

    /// Whether the provider was asked for anything since so many were passed.
    pub(super) fn has_sent_since(&self, count: usize) -> bool {
        let state = self.0.state();
        let mut since = state.moments.iter().skip(count);
        since.any(|moment| {
            matches!(
                moment.boundary,
                Boundary::BeforeSend(_) | Boundary::AfterSend(_)
            )
        })
    }

    /// From now on nobody passes a boundary.
    pub(super) fn bury(&self) {
        self.0.state().life += 1;
    }

    /// The probe of the life that begins now.
    pub(super) fn next_life(&self) -> Probe {
        let life = self.0.state().life;
        self.probe(life)
    }

    pub(super) fn probe(&self, life: usize) -> Probe {
        let shared = Arc::clone(&self.0);
        Probe::new(move |boundary| {
            let shared = Arc::clone(&shared);
            async move { shared.pass(life, boundary).await }
        })
    }

    /// Returns once nothing has moved for a while.
    pub(super) async fn is_stuck(&self) {
        loop {
            let still = self.0.state().moved_at.elapsed();
            match STUCK_AFTER.checked_sub(still) {
                None | Some(Duration::ZERO) => return,
                Some(rest) => tokio::time::sleep(rest).await,
            }
        }
    }
}

impl Shared {
    async fn pass(&self, life: usize, boundary: Boundary) -> Result<(), Failure> {
        let Some(moment) = self.count(life, boundary) else {
            return pending().await;
        };
        match (self.plan)(&moment) {
            None => {}
            Some(Fault::Crash) => {
                self.state().life += 1;
                let _ = self.orders.send(Order::Die);
                return pending().await;
            }
            Some(Fault::Lost) => return Err(Failure::Lost),
            Some(Fault::Leave) => self.order(Order::Leave).await,
            Some(Fault::Again) => self.order(Order::Again).await,
            Some(Fault::Webhook) => self.order(Order::Webhook).await,
            Some(fault @ (Fault::ErrorBefore | Fault::ErrorAfter | Fault::RateLimit)) => {
                if let Boundary::BeforeSend(operation) = boundary {
                    self.arm(fault, operation);
                }
            }
        }
        let is_alive = self.state().life == life;
        if is_alive { Ok(()) } else { pending().await }
    }

    /// `None` for the dead.
    fn count(&self, life: usize, boundary: Boundary) -> Option<Moment> {
        let mut state = self.state();
        if state.life != life {
            return None;
        }
        let moment = Moment {
            number: state.moments.len(),
            boundary,
            step: state.step,
            doing: state.doing,
            is_of_request: state.is_request,
        };
        state.moments.push(moment);
        state.moved_at = Instant::now();
        Some(moment)
    }

    /// Lets the world do something, and waits until it is done.
    async fn order(&self, order: fn(Go) -> Order) {
        let (go, gone) = oneshot::channel();
        if self.orders.send(order(go)).is_ok() {
            let _ = gone.await;
        }
        self.state().moved_at = Instant::now();
    }

    /// Lets the provider answer the next request of this operation, which is the one that is about to be sent, with an error.
    fn arm(&self, fault: Fault, operation: &'static str) {
        let on = simulator::Fault::on_operation(operation);
        let armed = match fault {
            Fault::ErrorAfter => on.error_after(500),
            Fault::RateLimit => on.rate_limit(),
            _ => on.error_before(500),
        };
        if let Err(refused) = self.provider.arm(armed) {
            tracing::debug!(%refused, "the provider cannot fail like this");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
