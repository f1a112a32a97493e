//! What can happen: the steps of the shop, of the provider, of the wire, of time, and of misfortune.
//!
//! ```text
//! form ── submit ── drive ── request ── charge ── answer ── record      each arrow may break, each step comes again
//!                     ▲                    └───── event ── receive ──┘
//!                     └── somebody: the request, its retry, the reconciler
//! ```
//!
//! Each step is one transaction, or one message. There are no leases: anybody may take a checkout forward at any time, two
//! at once. What is safe then is safe with leases, which only save calls.

use crate::{
    guards::Guard,
    state::{Event, Form, Id, Message, Outcome, Payment, Request, State, Status, Task},
    world::{age, arrive, crash, may_age, may_succeed_late, succeed_late},
};

/// The shop, with all its guards or all but one.
#[derive(Clone, Debug)]
pub struct Shop {
    /// Who buys what.
    pub scene: Scene,
    /// The guard that was taken out.
    pub lacks: Option<Guard>,
}

/// Who buys what, and how much goes wrong.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The forms that are sent.
    pub forms: Vec<Sent>,
    /// There are so many units of the one product.
    pub units: i8,
    /// Crashes, losses, doublings, answers that come too late, and late successes, together.
    pub troubles: u8,
    /// Whether days may pass.
    pub days: bool,
}

/// A form that is sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// By whom.
    pub who: &'static str,
    /// Which of theirs.
    pub which: &'static str,
    /// The cart that it buys.
    pub cart: u8,
}

impl Scene {
    /// Whether two forms buy the same cart.
    pub fn is_same_cart(&self, one: Form, other: Form) -> bool {
        self.forms[usize::from(one)].cart == self.forms[usize::from(other)].cart
    }
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A form arrives, and the shop looks whether anything is in its way.
    Looks(Form),
    /// A form becomes a checkout, with its unit held.
    Submits(Form),
    /// Somebody takes a checkout forward: the provider is asked to charge it, or its payment is looked up.
    Drives(Id),
    /// A request arrives. It ends like this if the key is new; if not, nothing happens.
    Arrives(Request, Outcome),
    /// The provider's answer arrives.
    Answers(Request),
    /// What is known is written down.
    Records(Id, Outcome),
    /// An event arrives.
    Receives(Event),
    /// An event that was marked has its effect.
    Applies(Event),
    /// A payment that came too late is given back.
    GivesBack(Id),
    /// Hours pass.
    Ages(Id),
    /// A payment that was declined succeeds after all: the customer has tried again on the bank's page.
    SucceedsLate(Id),
    /// Whoever waits for an answer gets none.
    GivesUp(Request),
    /// All processes of the shop die.
    Crashes,
    /// A request does not arrive.
    Loses(Request),
    /// A request arrives twice.
    Doubles(Request),
}

impl Shop {
    /// Whether it has this guard.
    pub fn has(&self, guard: Guard) -> bool {
        self.lacks != Some(guard)
    }

    /// The steps that happen sooner or later. When there is none left, it is over.
    pub fn due(&self, state: &State) -> Vec<Step> {
        let drives = state
            .rows()
            .filter(|(id, _)| self.can_drive(state, *id))
            .map(|(id, _)| Step::Drives(id));
        let refunds = state.rows().filter(|(id, checkout)| {
            checkout.owes_refund && state.payments_of(*id).any(Payment::is_kept)
        });
        let mut due: Vec<Step> = drives
            .chain(refunds.map(|(id, _)| Step::GivesBack(id)))
            .collect();
        for message in &state.wire {
            match *message {
                Message::Event(event) => due.push(Step::Receives(event)),
                Message::Request(request) => match state.under_key(request) {
                    Some(known) => due.push(Step::Arrives(request, known.first)),
                    None => due.extend(
                        [Outcome::Paid, Outcome::Declined].map(|end| Step::Arrives(request, end)),
                    ),
                },
            }
        }
        for task in &state.memory {
            match *task {
                Task::Looked(form) => due.push(Step::Submits(form)),
                Task::Waits(request) if state.under_key(request).is_some() => {
                    due.push(Step::Answers(request));
                }
                Task::Waits(request) if !state.may_be_answered(request) => {
                    due.push(Step::GivesUp(request));
                }
                Task::Knows(id, outcome) => due.push(Step::Records(id, outcome)),
                Task::Marked(event) => due.push(Step::Applies(event)),
                Task::Waits(_) | Task::Request(_) => {}
            }
        }
        due.dedup();
        due
    }

    /// The steps that happen or do not.
    pub fn possible(&self, state: &State) -> Vec<Step> {
        let forms = (0..).zip(&self.scene.forms).map(|(form, _)| form);
        let arrive = forms
            .filter(|form| self.may_submit(state, *form))
            .map(|form| {
                if self.looks_first() {
                    Step::Looks(form)
                } else {
                    Step::Submits(form)
                }
            });
        let age = state
            .rows()
            .filter(|(id, _)| self.scene.days && may_age(state, *id))
            .map(|(id, _)| Step::Ages(id));
        let mut possible: Vec<Step> = arrive.chain(age).collect();
        if state.troubles == 0 {
            return possible;
        }
        possible.extend(
            state
                .rows()
                .filter(|(id, _)| may_succeed_late(state, *id))
                .map(|(id, _)| Step::SucceedsLate(id)),
        );
        for request in state.requests() {
            possible.extend([Step::Loses(request), Step::Doubles(request)]);
        }
        for task in &state.memory {
            if let Task::Waits(request) = *task
                && state.may_be_answered(request)
            {
                possible.push(Step::GivesUp(request));
            }
        }
        if !state.memory.is_empty() {
            possible.push(Step::Crashes);
        }
        possible.dedup();
        possible
    }

    /// What comes of a step.
    pub fn take(&self, step: Step, state: &mut State) {
        match step {
            Step::Looks(form) => state.memory.push(Task::Looked(form)),
            Step::Submits(form) => self.submit(state, form),
            Step::Drives(id) => self.drive(state, id),
            Step::Arrives(request, end) => arrive(state, request, end),
            Step::Answers(request) => {
                state.forget(Task::Waits(request));
                if let Some(payment) = state.under_key(request) {
                    let known = Task::Knows(request.checkout, payment.first);
                    state.memory.push(known);
                }
            }
            Step::Records(id, outcome) => {
                state.forget(Task::Knows(id, outcome));
                self.record(state, id, outcome);
            }
            Step::Receives(event) => {
                state.take(Message::Event(event));
                if state.checkout(event.checkout).status == Status::Uncommitted {
                    // It names nothing that anybody could see.
                } else if self.has(Guard::EventWithEffect) {
                    self.record(state, event.checkout, event.outcome);
                } else {
                    state.memory.push(Task::Marked(event));
                }
            }
            Step::Applies(event) => {
                state.forget(Task::Marked(event));
                self.record(state, event.checkout, event.outcome);
            }
            Step::GivesBack(id) => {
                for payment in state
                    .payments
                    .iter_mut()
                    .filter(|it| it.checkout == id && it.now == Outcome::Paid)
                {
                    payment.refunded = true;
                }
            }
            Step::Ages(id) => age(state, id),
            Step::SucceedsLate(id) => succeed_late(state, id),
            Step::GivesUp(request) => self.give_up(state, request),
            Step::Crashes => crash(state),
            Step::Loses(request) => {
                state.troubles -= 1;
                state.take(Message::Request(request));
            }
            Step::Doubles(request) => {
                state.troubles -= 1;
                state.wire.push(Message::Request(request));
            }
        }
        state.tidy();
    }
}
