//! What the shop promises, in every state that can be reached.

use stateright::Property;

use crate::{
    protocol::Shop,
    state::{Goods, Outcome, Payment, State, Status},
};

/// Looks at a state.
type Test = fn(&Shop, &State) -> bool;

/// Something that is always so.
pub struct Promise {
    /// In a sentence.
    pub name: &'static str,
    /// What it is to a customer when it is broken.
    pub broken: &'static str,
    holds: Test,
}

/// All of them. "In the end" is when nothing is due any more, whatever has gone wrong before.
pub static ALL: [Promise; 7] = [
    Promise {
        name: "A form is one attempt to buy",
        broken: "One form has become two attempts to buy.",
        holds: one_attempt_per_form,
    },
    Promise {
        name: "A cart is charged once",
        broken: "One cart has been charged twice.",
        holds: one_charge_per_cart,
    },
    Promise {
        name: "What is paid has its one order, and nothing else has",
        broken: "There are two orders for one payment.",
        holds: paid_is_ordered,
    },
    Promise {
        name: "Nothing is sold that is not there",
        broken: "Two units are promised, and there was one.",
        holds: nothing_oversold,
    },
    Promise {
        name: "Nobody is told that nothing was charged when something was",
        broken: "The customer is told that nothing was charged, and the money is gone.",
        holds: nobody_misled,
    },
    Promise {
        name: "In the end everything is decided",
        broken: "Nothing more happens. The purchase is open for ever, and so is its unit held.",
        holds: decided,
    },
    Promise {
        name: "In the end everybody has the goods, or the money",
        broken: "Nothing more happens. The customer has paid, and has neither the goods nor the money.",
        holds: settled,
    },
];

/// The ways in which a purchase can end. Each is reached, or the promises would be empty.
pub const ENDS: [(&str, Test); 4] = [
    ("somebody buys", |_, state| is_any(state, Status::Paid)),
    ("somebody is declined", |_, state| {
        is_any(state, Status::Declined)
    }),
    ("a payment never was", |_, state| {
        is_any(state, Status::Canceled)
    }),
    ("late money goes back", |_, state| {
        state.payments.iter().any(|payment| payment.refunded)
    }),
];

/// For the checker.
pub fn all() -> Vec<Property<Shop>> {
    let promises = ALL
        .iter()
        .map(|promise| Property::always(promise.name, promise.holds));
    let ends = ENDS
        .iter()
        .map(|(name, is_reached)| Property::sometimes(name, *is_reached));
    promises.chain(ends).collect()
}

fn is_any(state: &State, status: Status) -> bool {
    state
        .checkouts
        .iter()
        .any(|checkout| checkout.status == status)
}

fn one_attempt_per_form(shop: &Shop, state: &State) -> bool {
    (0..).zip(&shop.scene.forms).all(|(form, _)| {
        let attempts = state
            .checkouts
            .iter()
            .filter(|checkout| checkout.form == form);
        attempts
            .filter(|checkout| checkout.status != Status::Undone)
            .count()
            <= 1
    })
}

/// Of the charges that the shop has asked for. A success that comes late, when the cart may have been bought anew, is another
/// matter: see [`settled`].
fn one_charge_per_cart(shop: &Shop, state: &State) -> bool {
    let charges = || {
        state
            .payments
            .iter()
            .filter(|payment| payment.first == Outcome::Paid && payment.is_kept())
    };
    let form = |payment: &Payment| state.checkout(payment.checkout).form;
    charges().all(|one| {
        charges()
            .filter(|other| shop.scene.is_same_cart(form(one), form(other)))
            .count()
            == 1
    })
}

fn paid_is_ordered(_: &Shop, state: &State) -> bool {
    state.rows().all(|(id, checkout)| {
        let is_paid = checkout.status == Status::Paid;
        let is_charged = state.payments_of(id).any(Payment::is_kept);
        checkout.orders == u8::from(is_paid) && (!is_paid || is_charged)
    })
}

fn nothing_oversold(shop: &Shop, state: &State) -> bool {
    let taken = state
        .checkouts
        .iter()
        .filter(|checkout| checkout.goods != Goods::Back);
    state.shelf >= 0 && state.shelf + taken.map(|_| 1).sum::<i8>() == shop.scene.units
}

fn nobody_misled(_: &Shop, state: &State) -> bool {
    !state.checkouts.iter().any(|checkout| checkout.misled)
}

fn decided(shop: &Shop, state: &State) -> bool {
    let is_open = is_any(state, Status::Pending) || is_any(state, Status::Uncommitted);
    !is_open || !shop.due(state).is_empty()
}

fn settled(shop: &Shop, state: &State) -> bool {
    let kept = || state.payments.iter().filter(|payment| payment.is_kept());
    let is_fair = |payment: &Payment| {
        let has_goods = state.checkout(payment.checkout).goods == Goods::Sold;
        has_goods
            && kept()
                .filter(|other| other.checkout == payment.checkout)
                .count()
                == 1
    };
    kept().all(is_fair) || !shop.due(state).is_empty()
}
