//! How each scenario is played: the same for both flows, but for who delivers the provider's events.

use serde_json::Value;

use super::{
    act::A_MOMENT,
    cue::{Cue, begins, charged, charged_and_known, gives_back, posts},
    scene::{Scene, Until},
    shelf::{GOODS, RARE},
    tally,
};
use crate::{
    db::retrying,
    lab::flow::{Answer, Customer, Failed, Form, NoAnswer, Place, Request, Standing},
    simulator::Fault,
};

const VISA: &str = "pm_card_visa";
const ASKED: &str = "pm_card_threeDSecure2Required";

// Who is at work, as the diagrams say it.
const ADA: &str = "Ada";
const ADA_ONCE_MORE: &str = "Ada’s second try";
const ADA_LATER: &str = "Ada, a day later";
const BO: &str = "Bo";

const SUCCEEDED: &str = "payment_intent.succeeded";
const FAILED: &str = "payment_intent.payment_failed";

/// What is given back when a part of an order is, in minor units.
const A_PART: i64 = 100;

/// How long after the first try somebody comes back whose key the provider has forgotten.
const A_DAY_LATER: chrono::TimeDelta = chrono::TimeDelta::hours(25);

pub(super) async fn double_click(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let mut first = scene.begin(
        "Ada’s first click",
        submit(&ada, &form, VISA),
        Some(Cue::at(begins).held()),
    )?;
    first.is_held().await;
    let _ = scene
        .ask("Ada’s second click", submit(&ada, &form, VISA))
        .await?;
    let _ = first.ends().await;
    Ok(())
}

pub(super) async fn dropped_response(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let lost = Cue::at(charged).lost();
    if let Err(NoAnswer) = scene.ask_with(ADA, submit(&ada, &form, VISA), lost).await? {
        let _ = scene.ask(ADA_ONCE_MORE, submit(&ada, &form, VISA)).await?;
    }
    Ok(())
}

pub(super) async fn crash_after_charge(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let dead = Cue::at(charged_and_known).dead();
    let _ = scene.ask_with(ADA, submit(&ada, &form, VISA), dead).await?;
    let _ = scene.ask(ADA_ONCE_MORE, submit(&ada, &form, VISA)).await?;
    Ok(())
}

pub(super) async fn webhook_twice(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let page = be_asked(scene, &ada, &form).await?;
    scene.hear().await?;
    scene.bank.approve(&page).await?;
    let event = scene.event(SUCCEEDED).await?;
    scene.is_told(&event);
    let deliver = || Request::Deliver(event.clone());
    // Both have looked whether they know the event; and where they look at the order, both have done that.
    let mut one = scene.begin("the first copy", deliver(), Some(Cue::at(begins).held()))?;
    one.is_held().await;
    let mut other = scene.begin(
        "the second copy",
        deliver(),
        Some(Cue::at(begins).nth(2).held()),
    )?;
    other.is_held().await;
    let _ = one.ends().await;
    let _ = other.ends().await;
    Ok(())
}

pub(super) async fn webhook_first(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let cue = Cue::at(charged).held().lost();
    let mut first = scene.begin(ADA, submit(&ada, &form, VISA), Some(cue))?;
    first.is_held().await;
    let event = scene.event(SUCCEEDED).await?;
    let told = if scene.is_safe() {
        scene.wait_until(Until::Decided).await?;
        None
    } else {
        scene.is_told(&event);
        let told = scene.begin("the provider", Request::Deliver(event), None)?;
        // It may have to wait for what the first one has locked.
        told.ends_within(A_MOMENT).await;
        Some(told)
    };
    let _ = first.ends().await;
    if let Some(told) = told {
        let _ = told.ends().await;
    }
    Ok(())
}

pub(super) async fn out_of_order(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let page = be_asked(scene, &ada, &form).await?;
    scene.hear().await?;
    if scene.is_safe() {
        let shop = scene
            .lab
            .webhook()
            .ok_or("the provider does not know the shop's webhook")?;
        let late = Fault::on_webhook(FAILED).url(shop).drop();
        scene.lab.simulator()?.arm(late)?;
        // Nobody but the provider is to tell of it.
        retrying(|| tally::leave_alone(scene)).await?;
    }
    scene.bank.refuse(&page).await?;
    let no = scene.event(FAILED).await?;
    let mut late = None;
    if !scene.is_safe() {
        scene.is_told(&no);
        // It has seen the order, which is pending, and has not yet written.
        let cue = Cue::at(begins).nth(2).held();
        let mut told = scene.begin("the provider", Request::Deliver(no.clone()), Some(cue))?;
        told.is_held().await;
        late = Some(told);
    }
    scene.bank.confirm(intent_of(&no)?, VISA).await?;
    scene.hear().await?;
    if let Some(late) = late {
        let _ = late.ends().await;
    } else {
        scene.wait_until(Until::Heard(SUCCEEDED)).await?;
        arrives(scene, &no).await?;
    }
    Ok(())
}

pub(super) async fn new_form(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let other = scene
        .open_form(&ada)
        .await?
        .ok_or("there is no second form")?;
    let lost = Cue::at(charged).lost();
    let _ = scene.ask_with(ADA, submit(&ada, &form, VISA), lost).await?;
    let _ = scene
        .ask("Ada’s other form", submit(&ada, &other, VISA))
        .await?;
    Ok(())
}

pub(super) async fn last_unit(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let (ada, bo) = (scene.customer("ada"), scene.customer("bo"));
    let of_ada = scene.want(&ada, RARE).await?;
    let of_bo = scene.want(&bo, RARE).await?;
    let held = Cue::at(begins).held();
    let mut first = scene.begin(ADA, submit(&ada, &of_ada, VISA), Some(held))?;
    first.is_held().await;
    let _ = scene.ask(BO, submit(&bo, &of_bo, VISA)).await?;
    let _ = first.ends().await;
    Ok(())
}

pub(super) async fn mail_down(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    // The shop's mails are sent by its postman, to whom every mail is the same.
    scene.lab.fail_mails(u32::from(scene.is_safe()));
    let down = Cue::at(posts).lost();
    let _ = scene.ask_with(ADA, submit(&ada, &form, VISA), down).await?;
    Ok(())
}

pub(super) async fn refund_twice(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let place = place_of(scene.ask(ADA, submit(&ada, &form, VISA)).await?)?;
    let Standing::Paid(order) = scene.look(&ada, &place).await? else {
        return Err("the purchase is not paid".into());
    };
    scene.opens().await?;
    let form = match scene.open_refund(&order).await? {
        Answer::Form(form) => form,
        other => return Err(format!("the form of a refund is {other:?}").into()),
    };
    let refund = || Request::Refund {
        order: order.clone(),
        form: form.clone(),
        minor: A_PART,
        restock: false,
    };
    let mut first = scene.begin(
        "the operator’s first click",
        refund(),
        Some(Cue::at(gives_back).held()),
    )?;
    first.is_held().await;
    let second = scene.begin("the operator’s second click", refund(), None)?;
    second.ends_within(A_MOMENT).await;
    let _ = first.ends().await;
    let _ = second.ends().await;
    Ok(())
}

pub(super) async fn expired_key(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    if scene.is_safe() {
        let shop = scene
            .lab
            .webhook()
            .ok_or("the provider does not know the shop's webhook")?;
        let late = Fault::on_webhook(SUCCEEDED).url(shop).drop();
        scene.lab.simulator()?.arm(late)?;
    }
    let dead = Cue::at(charged).dead();
    let _ = scene.ask_with(ADA, submit(&ada, &form, VISA), dead).await?;
    if scene.is_safe() {
        retrying(|| tally::date_back(scene, A_DAY_LATER)).await?;
    }
    let _ = scene.ask(ADA_LATER, submit(&ada, &form, VISA)).await?;
    if scene.is_safe() {
        arrives(scene, &*scene.event(SUCCEEDED).await?).await?;
    }
    Ok(())
}

/// An event that was lost on its way arrives after all.
async fn arrives(scene: &Scene<'_>, event: &Value) -> Result<(), Failed> {
    let id = event.get("id").and_then(Value::as_str);
    let id = id.ok_or("an event has no id")?;
    scene.says("the event that was held up arrives now");
    scene.lab.simulator()?.redeliver(id, 1).await?;
    Ok(())
}

fn submit(customer: &Customer, form: &Form, method: &'static str) -> Request {
    Request::Submit(customer.clone(), form.clone(), method)
}

/// Ada pays with a card whose bank asks her, at the page that is returned.
async fn be_asked(scene: &Scene<'_>, ada: &Customer, form: &Form) -> Result<String, Failed> {
    let place = place_of(scene.ask(ADA, submit(ada, form, ASKED)).await?)?;
    match scene.look(ada, &place).await? {
        Standing::Asked(page) => Ok(page),
        told => Err(format!("the bank does not ask: {told:?}").into()),
    }
}

fn place_of(answer: Result<Answer, NoAnswer>) -> Result<Place, Failed> {
    match answer {
        Ok(Answer::Place(place)) => Ok(place),
        other => Err(format!("a purchase was answered with {other:?}").into()),
    }
}

fn intent_of(event: &Value) -> Result<&str, Failed> {
    let id = event.pointer("/data/object/id").and_then(Value::as_str);
    id.ok_or_else(|| "an event is about nothing".into())
}
