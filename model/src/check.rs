//! Looking at every state that can be reached.

use stateright::{Checker as _, HasDiscoveries, Model, Path, Property};

use crate::{
    guards::Guard,
    promises,
    protocol::{Scene, Shop, Step},
    state::{Message, Payment, State, Status, Task},
};

impl Model for Shop {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            shelf: self.scene.units,
            checkouts: Vec::new(),
            memory: Vec::new(),
            wire: Vec::new(),
            payments: Vec::new(),
            troubles: self.scene.troubles,
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        steps.extend(self.due(state));
        steps.extend(self.possible(state));
    }

    fn next_state(&self, before: &State, step: Step) -> Option<State> {
        let mut after = before.clone();
        self.take(step, &mut after);
        let goes_on = self.lacks.is_some() || progress(&after) > progress(before);
        assert!(goes_on, "{step:?} leads nowhere from {before:?}");
        Some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        promises::all()
    }
}

/// Grows with each step of the shop that has all its guards. So no run goes round in a circle: each one ends, and what holds
/// when nothing is due any more holds "eventually", of every run.
fn progress(state: &State) -> usize {
    let of_checkouts = state.checkouts.iter().map(|checkout| {
        let is_over = checkout.status != Status::Pending;
        // An age that does not matter any more is forgotten.
        1 + if is_over {
            3
        } else {
            usize::from(checkout.age as u8)
        } + usize::from(checkout.owes_refund)
    });
    let told = |payment: &Payment| 1 + usize::from(payment.first != payment.now);
    let of_payments = state
        .payments
        .iter()
        .map(|payment| 2 * told(payment) + usize::from(payment.refunded));
    let events = state
        .wire
        .iter()
        .filter(|message| matches!(message, Message::Event(_)))
        .count();
    let great = of_checkouts.sum::<usize>()
        + of_payments.sum::<usize>()
        + usize::from(u8::MAX - state.troubles)
        - events;
    let of_tasks = state.memory.iter().map(|task| {
        let is_open = |id| state.checkout(id).status == Status::Pending;
        match *task {
            Task::Waits(request) if is_open(request.checkout) && state.may_be_answered(request) => {
                10
            }
            Task::Knows(id, _) if is_open(id) => 20,
            Task::Knows(..) => 1,
            Task::Waits(_) | Task::Looked(_) | Task::Request(_) | Task::Marked(_) => 0,
        }
    });
    let small = of_tasks.sum::<usize>() + 100;
    1000 * great + small - 2 * state.memory.len() - state.requests().count()
}

/// How many states the shop of `scene` can be in. An error names a promise that is broken in one of them, or a way to end
/// that is not reached.
pub fn count(scene: &Scene) -> Result<usize, String> {
    let shop = Shop {
        scene: scene.clone(),
        lacks: None,
    };
    let checker = shop.checker().threads(2).spawn_dfs().join();
    let found = checker.discoveries();
    let broken = promises::ALL
        .iter()
        .find(|promise| found.contains_key(promise.name));
    if let Some(promise) = broken {
        return Err(format!(
            "\"{}\" is broken by {:?}",
            promise.name, found[promise.name]
        ));
    }
    match promises::ENDS
        .iter()
        .find(|(name, _)| !found.contains_key(name))
    {
        Some((name, _)) => Err(format!("never: {name}")),
        None => Ok(checker.unique_state_count()),
    }
}

/// What goes wrong without `guard`: the fewest troubles that are needed for it, then the fewest steps.
pub fn simplest(guard: Guard, scenes: &[Scene]) -> Option<Story> {
    const TROUBLES_MAX: u8 = 2;
    const STEPS_MAX: usize = 14;
    (0..=TROUBLES_MAX).find_map(|troubles| {
        scenes.iter().find_map(|scene| {
            let scene = Scene {
                troubles,
                ..scene.clone()
            };
            let shop = Shop {
                scene,
                lacks: Some(guard),
            };
            (1..=STEPS_MAX).find_map(|steps| break_within(&shop, steps))
        })
    })
}

/// A way to a broken promise.
pub struct Story {
    /// The shop it happens to.
    pub shop: Shop,
    /// What is broken.
    pub promise: &'static promises::Promise,
    /// How.
    pub path: Path<State, Step>,
}

fn break_within(shop: &Shop, steps: usize) -> Option<Story> {
    let checker = shop
        .clone()
        .checker()
        .finish_when(HasDiscoveries::AnyFailures);
    // The first state counts as well, and the bound itself does not.
    let checker = checker.target_max_depth(steps + 2).spawn_bfs().join();
    let mut found = checker.discoveries();
    promises::ALL.iter().find_map(|promise| {
        let path = found.remove(promise.name)?;
        Some(Story {
            shop: shop.clone(),
            promise,
            path,
        })
    })
}
