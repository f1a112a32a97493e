//! What the shop has no say in: the provider, time, and misfortune.

use crate::state::{Age, Event, Goods, Id, Message, Outcome, Payment, Request, State, Status};

/// A key that is known is answered as before. A new one is executed.
pub fn arrive(state: &mut State, request: Request, end: Outcome) {
    state.take(Message::Request(request));
    if state.under_key(request).is_none() {
        let Request { checkout, key } = request;
        state.payments.push(Payment {
            checkout,
            key: Some(key),
            first: end,
            now: end,
            refunded: false,
        });
        state.wire.push(Message::Event(Event {
            checkout,
            outcome: end,
        }));
    }
}

/// Only once the checkout has ended: before, nobody has been shown the bank's page.
pub fn may_succeed_late(state: &State, id: Id) -> bool {
    state.checkout(id).status == Status::Declined
        && state
            .payments_of(id)
            .any(|payment| payment.now == Outcome::Declined)
}

/// The customer has tried again.
pub fn succeed_late(state: &mut State, id: Id) {
    state.troubles -= 1;
    let declined = state
        .payments
        .iter_mut()
        .find(|payment| payment.checkout == id && payment.now == Outcome::Declined);
    if let Some(payment) = declined {
        payment.now = Outcome::Paid;
        state.wire.push(Message::Event(Event {
            checkout: id,
            outcome: Outcome::Paid,
        }));
    }
}

/// It matters only while a checkout is undecided. In the hour between ours and the provider's bound, whatever was under way
/// has arrived or been lost, and whoever waited has stopped.
pub fn may_age(state: &State, id: Id) -> bool {
    let checkout = state.checkout(id);
    let quiet = !state.is_under_way(id) && state.drivers(id) == 0;
    checkout.status == Status::Pending
        && (checkout.age == Age::Fresh || checkout.age == Age::Old && quiet)
}

/// One step older.
pub fn age(state: &mut State, id: Id) {
    let checkout = state.row(id);
    if checkout.age == Age::Fresh {
        checkout.age = Age::Old;
        return;
    }
    checkout.age = Age::Forgotten;
    for payment in state
        .payments
        .iter_mut()
        .filter(|payment| payment.checkout == id)
    {
        payment.key = None;
    }
}

/// All that was in memory is forgotten.
pub fn crash(state: &mut State) {
    state.troubles -= 1;
    state.memory.clear();
    undo(state);
}

/// Transactions that were open never were.
pub fn undo(state: &mut State) {
    for checkout in state
        .checkouts
        .iter_mut()
        .filter(|it| it.status == Status::Uncommitted)
    {
        checkout.status = Status::Undone;
        checkout.goods = Goods::Back;
        state.shelf += 1;
    }
}
