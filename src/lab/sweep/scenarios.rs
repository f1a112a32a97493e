//! The stories that are swept, and what each promises however it goes.

use std::pin::Pin;

use crate::lab::{
    flow::{Answer, Customer, Request, Standing},
    story::{Stopped, form_of, order_of, place_of},
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

const TEA: &str = "TEA-01";
const TEA_COSTS: i64 = 490;
const LAMP: &str = "LMP-01";
const LAMP_COSTS: i64 = 2490;

const VISA: &str = "pm_card_visa";
const DECLINED: &str = "pm_card_chargeDeclined";
const ASKED: &str = "pm_card_threeDSecure2Required";
const SLOW: &str = "pm_sepaDebit_success_de";

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

async fn paid(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (place, standing) = world.pay(&ada, &form, VISA).await?;
    order_of(standing)?;
    world.settle().await?;
    world.repeat_everything_backwards().await?;
    order_of(world.look(&ada, &place).await?)?;
    Ok(())
}

async fn declined(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (_, standing) = world.pay(&ada, &form, DECLINED).await?;
    is_declined(standing)
}

async fn declined_then_other_card(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (_, standing) = world.pay(&ada, &form, DECLINED).await?;
    is_declined(standing)?;
    let form = form_of(world.open_form(&ada).await?)?;
    let (_, standing) = world.pay(&ada, &form, VISA).await?;
    order_of(standing)?;
    Ok(())
}

async fn three_d_secure(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let place = place_of(world.submit(&ada, &form, ASKED).await?)?;
    let page = world.wait_to_be_asked(&ada, &place).await?;
    world.approve(&page).await?;
    // Her bank leads her back, and she is there before the provider has told of it.
    world.look(&ada, &place).await?;
    world.settle().await?;
    order_of(world.wait(&ada, &place).await?)?;
    Ok(())
}

async fn slow_method(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let place = place_of(world.submit(&ada, &form, SLOW).await?)?;
    match world.look(&ada, &place).await? {
        Standing::Processing => {}
        told => return Err(wrong(told, "wait")),
    }
    order_of(world.wait(&ada, &place).await?)?;
    Ok(())
}

async fn last_unit(world: &mut World<'_>) -> Result<(), Stopped> {
    world.stock(LAMP, 1).await?;
    let (ada, bo) = (Customer::new("ada"), Customer::new("bo"));
    let of_ada = world.want(&ada, LAMP).await?;
    let of_bo = world.want(&bo, LAMP).await?;
    let first = world.submit(&ada, &of_ada, VISA).await?;
    let second = world.submit(&bo, &of_bo, VISA).await?;
    world.settle().await?;
    let mut sold = 0;
    for (customer, answer) in [(ada, first), (bo, second)] {
        if let Answer::Place(place) = answer {
            order_of(world.wait(&customer, &place).await?)?;
            sold += 1;
        }
    }
    match sold {
        1 => Ok(()),
        told => Err(Stopped::Unexpected("last unit", format!("sold to {told}"))),
    }
}

async fn two_tabs(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let one = world.want(&ada, TEA).await?;
    let other = form_of(world.open_form(&ada).await?)?;
    let first = place_of(world.submit(&ada, &one, VISA).await?)?;
    let second = place_of(world.submit(&ada, &other, VISA).await?)?;
    for place in [first, second] {
        order_of(world.wait(&ada, &place).await?)?;
    }
    Ok(())
}

async fn new_form(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    // Whatever the answer is, she does not see it.
    let submission = Request::Submit(ada.clone(), form, VISA);
    let _ = world.ask(submission).await?;
    let place = match world.open_form(&ada).await? {
        Answer::Form(form) => place_of(world.submit(&ada, &form, VISA).await?)?,
        answer => place_of(answer)?,
    };
    order_of(world.wait(&ada, &place).await?)?;
    Ok(())
}

async fn refund(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (_, standing) = world.pay(&ada, &form, VISA).await?;
    let order = order_of(standing)?;
    world.give_back(&order, TEA_COSTS, true).await
}

async fn partial_refunds(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (_, standing) = world.pay(&ada, &form, VISA).await?;
    let order = order_of(standing)?;
    world.give_back(&order, 200, false).await?;
    world.give_back(&order, TEA_COSTS - 200, false).await
}

async fn late_success(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (place, standing) = world.pay(&ada, &form, DECLINED).await?;
    is_declined(standing)?;
    world.pay_elsewhere(VISA).await?;
    world.settle().await?;
    match world.look(&ada, &place).await? {
        Standing::TooLate => Ok(()),
        told => Err(wrong(told, "too late")),
    }
}

async fn price_change(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    world.price(TEA, TEA_COSTS + 60).await?;
    let form = match world.submit(&ada, &form, VISA).await? {
        Answer::Refused(Some(form)) => form,
        other => return Err(Stopped::Unexpected("submit", format!("{other:?}"))),
    };
    let (_, standing) = world.pay(&ada, &form, VISA).await?;
    order_of(standing)?;
    Ok(())
}

fn is_declined(standing: Standing) -> Result<(), Stopped> {
    match standing {
        Standing::Declined => Ok(()),
        told => Err(wrong(told, "declined")),
    }
}

fn wrong(told: Standing, should: &'static str) -> Stopped {
    Stopped::ToldWrong { told, should }
}
