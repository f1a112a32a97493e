//! How each story is told. Whoever does something tries it again until it is known; that is the affair of the verbs.

use super::scenarios::{LAMP, TEA, TEA_COSTS};
use crate::lab::{
    flow::{Answer, Customer, Request, Standing},
    story::{Stopped, form_of, order_of, place_of},
    world::World,
};

const VISA: &str = "pm_card_visa";
const DECLINED: &str = "pm_card_chargeDeclined";
const ASKED: &str = "pm_card_threeDSecure2Required";
const SLOW: &str = "pm_sepaDebit_success_de";

pub(super) async fn paid(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (place, standing) = world.pay(&ada, &form, VISA).await?;
    order_of(standing)?;
    world.settle().await?;
    world.repeat_everything_backwards().await?;
    order_of(world.look(&ada, &place).await?)?;
    Ok(())
}

pub(super) async fn declined(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (_, standing) = world.pay(&ada, &form, DECLINED).await?;
    is_declined(standing)
}

pub(super) async fn declined_then_other_card(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (_, standing) = world.pay(&ada, &form, DECLINED).await?;
    is_declined(standing)?;
    let form = form_of(world.open_form(&ada).await?)?;
    let (_, standing) = world.pay(&ada, &form, VISA).await?;
    order_of(standing)?;
    Ok(())
}

pub(super) async fn three_d_secure(world: &mut World<'_>) -> Result<(), Stopped> {
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

pub(super) async fn slow_method(world: &mut World<'_>) -> Result<(), Stopped> {
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

pub(super) async fn last_unit(world: &mut World<'_>) -> Result<(), Stopped> {
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

pub(super) async fn two_tabs(world: &mut World<'_>) -> Result<(), Stopped> {
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

pub(super) async fn new_form(world: &mut World<'_>) -> Result<(), Stopped> {
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

pub(super) async fn refund(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (_, standing) = world.pay(&ada, &form, VISA).await?;
    let order = order_of(standing)?;
    world.give_back(&order, TEA_COSTS, true).await
}

pub(super) async fn partial_refunds(world: &mut World<'_>) -> Result<(), Stopped> {
    let ada = Customer::new("ada");
    let form = world.want(&ada, TEA).await?;
    let (_, standing) = world.pay(&ada, &form, VISA).await?;
    let order = order_of(standing)?;
    world.give_back(&order, 200, false).await?;
    world.give_back(&order, TEA_COSTS - 200, false).await
}

pub(super) async fn late_success(world: &mut World<'_>) -> Result<(), Stopped> {
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

pub(super) async fn price_change(world: &mut World<'_>) -> Result<(), Stopped> {
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
