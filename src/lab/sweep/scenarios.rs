//! The stories that are swept, and what each promises however it goes.

use std::pin::Pin;

use super::tellings::{
    declined, declined_then_other_card, last_unit, late_success, new_form, paid, partial_refunds,
    price_change, refund, slow_method, three_d_secure, two_tabs,
};
use crate::lab::{
    story::Stopped,
    world::{Sums, World},
};

/// A story, and what it promises.
#[derive(Debug)]
pub struct Scenario {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What happens in it.
    pub about: &'static str,
    /// How much of everything there is at the end.
    pub promise: Sums,
    tell: for<'w> fn(&'w mut World<'_>) -> Telling<'w>,
}

type Telling<'w> = Pin<Box<dyn Future<Output = Result<(), Stopped>> + 'w>>;

impl Scenario {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SCENARIOS.iter().find(|scenario| scenario.name == name)
    }

    /// What all of them are called.
    pub fn names() -> String {
        let names: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        names.join(", ")
    }

    /// Lets it happen, to its very end.
    pub async fn tell(&self, world: &mut World<'_>) -> Result<(), Stopped> {
        (self.tell)(world).await?;
        world.settle().await
    }
}

pub(super) const TEA: &str = "TEA-01";
pub(super) const TEA_COSTS: i64 = 490;
pub(super) const LAMP: &str = "LMP-01";
const LAMP_COSTS: i64 = 2490;

const NOTHING: Sums = Sums {
    charges: 0,
    charged_minor: 0,
    refunds: 0,
    refunded_minor: 0,
    orders: 0,
    sold: 0,
    mails: 0,
};

/// One unit of tea, paid and sold once.
const ONE_TEA: Sums = Sums {
    charges: 1,
    charged_minor: TEA_COSTS,
    orders: 1,
    sold: 1,
    mails: 1,
    ..NOTHING
};

/// All of them.
pub static SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "paid",
        about: "a customer buys, and the provider tells of it twice, the second time backwards",
        promise: ONE_TEA,
        tell: |world| Box::pin(paid(world)),
    },
    Scenario {
        name: "declined",
        about: "the card is declined",
        promise: NOTHING,
        tell: |world| Box::pin(declined(world)),
    },
    Scenario {
        name: "declined-then-other-card",
        about: "the card is declined, and another one is not",
        promise: ONE_TEA,
        tell: |world| Box::pin(declined_then_other_card(world)),
    },
    Scenario {
        name: "three-d-secure",
        about: "the bank asks, and the customer approves",
        promise: ONE_TEA,
        tell: |world| Box::pin(three_d_secure(world)),
    },
    Scenario {
        name: "slow-method",
        about: "a bank account is debited, which takes days",
        promise: ONE_TEA,
        tell: |world| Box::pin(slow_method(world)),
    },
    Scenario {
        name: "last-unit",
        about: "two customers want the last lamp",
        promise: Sums {
            charged_minor: LAMP_COSTS,
            ..ONE_TEA
        },
        tell: |world| Box::pin(last_unit(world)),
    },
    Scenario {
        name: "two-tabs",
        about: "a customer has the form open in two tabs, and submits both",
        promise: ONE_TEA,
        tell: |world| Box::pin(two_tabs(world)),
    },
    Scenario {
        name: "new-form",
        about: "the answer is lost, and the customer begins again with a new form",
        promise: ONE_TEA,
        tell: |world| Box::pin(new_form(world)),
    },
    Scenario {
        name: "refund",
        about: "an order is given back, and its goods go back on the shelf",
        promise: Sums {
            refunds: 1,
            refunded_minor: TEA_COSTS,
            sold: 0,
            mails: 2,
            ..ONE_TEA
        },
        tell: |world| Box::pin(refund(world)),
    },
    Scenario {
        name: "partial-refunds",
        about: "an order is given back in two parts",
        promise: Sums {
            refunds: 2,
            refunded_minor: TEA_COSTS,
            mails: 3,
            ..ONE_TEA
        },
        tell: |world| Box::pin(partial_refunds(world)),
    },
    Scenario {
        name: "late-success",
        about: "a purchase that was declined is paid after all, and the money goes back",
        promise: Sums {
            charges: 1,
            charged_minor: TEA_COSTS,
            refunds: 1,
            refunded_minor: TEA_COSTS,
            mails: 1,
            ..NOTHING
        },
        tell: |world| Box::pin(late_success(world)),
    },
    Scenario {
        name: "price-change",
        about: "the price changes while the customer fills in the form",
        promise: Sums {
            charged_minor: TEA_COSTS + 60,
            ..ONE_TEA
        },
        tell: |world| Box::pin(price_change(world)),
    },
];
