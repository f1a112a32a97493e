//! What the shop does: submit, drive, record. All of it that a guard protects is here.

use crate::{
    guards::Guard,
    protocol::Shop,
    state::{
        Age, Checkout, Form, Goods, Id, Message, Outcome, Payment, Request, State, Status, Task,
    },
    world::undo,
};

/// So many take one checkout forward at a time.
const DRIVERS_MAX: usize = 2;

impl Shop {
    /// With all constraints in place, looking first is a courtesy, and the insert decides alone.
    pub fn looks_first(&self) -> bool {
        let constraints = [
            Guard::UniqueKey,
            Guard::OneLiveCheckout,
            Guard::StockInTheWhere,
        ];
        !constraints.iter().all(|guard| self.has(*guard))
    }

    /// Whether a look finds no checkout of this form, none that its cart is bought by, and goods on the shelf; and nobody
    /// holds a transaction open, for whom it would have to wait.
    pub fn may_submit(&self, state: &State, form: Form) -> bool {
        let waits = state
            .checkouts
            .iter()
            .any(|it| it.status == Status::Uncommitted);
        let in_hand = state
            .memory
            .iter()
            .filter(|task| **task == Task::Looked(form))
            .count();
        !waits
            && in_hand < 2
            && !key_is_used(state, form)
            && !self.cart_is_bought(state, form)
            && state.shelf > 0
    }

    fn cart_is_bought(&self, state: &State, form: Form) -> bool {
        state
            .checkouts
            .iter()
            .any(|it| it.is_live() && self.scene.is_same_cart(it.form, form))
    }

    /// One transaction. What the constraints refuse leaves nothing.
    pub fn submit(&self, state: &mut State, form: Form) {
        state.forget(Task::Looked(form));
        if self.has(Guard::UniqueKey) && key_is_used(state, form) {
            return;
        }
        if self.has(Guard::OneLiveCheckout) && self.cart_is_bought(state, form) {
            return;
        }
        if self.has(Guard::StockInTheWhere) {
            if state.shelf == 0 {
                return;
            }
            state.shelf -= 1;
        } else {
            // What it saw, less one.
            state.shelf = self.scene.units - 1;
        }
        let id = Id::try_from(state.checkouts.len()).unwrap_or(Id::MAX);
        state.checkouts.push(Checkout {
            form,
            status: if self.has(Guard::CommitBeforeCharge) {
                Status::Pending
            } else {
                Status::Uncommitted
            },
            goods: Goods::Held,
            age: Age::Fresh,
            orders: 0,
            owes_refund: false,
            misled: false,
            attempts: 0,
        });
        if !self.has(Guard::CommitBeforeCharge) {
            self.drive(state, id);
        }
        if !self.has(Guard::Reconciler) {
            state.memory.push(Task::Request(id));
        }
    }

    /// Whether somebody may take a checkout forward, and would learn something.
    pub fn can_drive(&self, state: &State, id: Id) -> bool {
        let checkout = state.checkout(id);
        let somebody = self.has(Guard::Reconciler) || state.memory.contains(&Task::Request(id));
        let learns = self.may_send_key(checkout)
            || state.payments_of(id).next().is_some()
            || !self.has(Guard::Settled)
            || !state.is_under_way(id);
        checkout.status == Status::Pending && somebody && state.drivers(id) < DRIVERS_MAX && learns
    }

    fn may_send_key(&self, checkout: &Checkout) -> bool {
        checkout.age == Age::Fresh || !self.has(Guard::LookUpAfterExpiry)
    }

    /// Asks the provider, or looks the payment up among all that it has.
    pub fn drive(&self, state: &mut State, id: Id) {
        state.forget(Task::Request(id));
        if !self.may_send_key(state.checkout(id)) {
            let found = state.payments_of(id).map(|payment| payment.now).min();
            state
                .memory
                .push(Task::Knows(id, found.unwrap_or(Outcome::NeverCharged)));
            return;
        }
        let mut key = 0;
        if !self.has(Guard::SameKey) {
            key = state.checkout(id).attempts;
            state.row(id).attempts += 1;
        }
        let request = Request { checkout: id, key };
        state.wire.push(Message::Request(request));
        state.memory.push(Task::Waits(request));
    }

    /// The one way to an outcome, whoever brings it.
    pub fn record(&self, state: &mut State, id: Id, outcome: Outcome) {
        let is_charged = state.payments_of(id).any(Payment::is_kept);
        let guarded = self.has(Guard::GuardedUpdate);
        let checkout = state.row(id);
        let mut put_back = false;
        match (checkout.status, outcome) {
            (Status::Undone, _) => {}
            (Status::Paid | Status::Declined | Status::Canceled, Outcome::Paid) if guarded => {
                let is_late = checkout.status != Status::Paid;
                checkout.owes_refund |= is_late && self.has(Guard::LateRefund);
            }
            (Status::Paid | Status::Declined | Status::Canceled, _) if guarded => {}
            (_, Outcome::Paid) => {
                checkout.status = Status::Paid;
                checkout.orders += 1;
                if checkout.goods == Goods::Held {
                    checkout.goods = Goods::Sold;
                }
            }
            (_, Outcome::Declined | Outcome::NeverCharged) => {
                checkout.status = if outcome == Outcome::Declined {
                    Status::Declined
                } else {
                    Status::Canceled
                };
                checkout.misled |= is_charged;
                if checkout.goods == Goods::Held {
                    checkout.goods = Goods::Back;
                    put_back = true;
                }
            }
        }
        state.shelf += i8::from(put_back);
    }

    /// There was no answer. The checkout stays as it is.
    pub fn give_up(&self, state: &mut State, request: Request) {
        if state.may_be_answered(request) {
            state.troubles -= 1;
        }
        state.forget(Task::Waits(request));
        if !self.has(Guard::UnknownIsNotFailed) {
            self.record(state, request.checkout, Outcome::Declined);
        } else if state.checkout(request.checkout).status == Status::Uncommitted {
            undo(state);
        }
    }
}

fn key_is_used(state: &State, form: Form) -> bool {
    state.checkouts.iter().any(|checkout| checkout.form == form)
}
