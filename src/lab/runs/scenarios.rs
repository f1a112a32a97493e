//! What can be shown: each is played twice, with the same people and the same misfortune.

use std::pin::Pin;

use super::{
    cue::{Cue, begins, charged, charged_and_known, gives_back, posts},
    scene::{A_MOMENT, Scene, Until},
    shelf::{GOODS, RARE, put_aside, put_back},
};
use crate::{
    db::retrying,
    lab::{
        flow::{Answer, Customer, Failed, Form, NoAnswer, Place, Request, Standing},
        world::Sums,
    },
    simulator::Fault,
};

/// Something that can be shown.
#[derive(Debug)]
pub struct Scenario {
    /// What it is called in addresses.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What happens.
    pub about: &'static str,
    /// What keeps the shop from harm.
    pub guard: &'static str,
    /// How much of everything there should be at the end.
    pub promise: Sums,
    /// What is bought.
    pub(super) goods: &'static str,
    pub(super) play: for<'s> fn(&'s mut Scene<'_>) -> Playing<'s>,
}

type Playing<'s> = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send + 's>>;

impl Scenario {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SCENARIOS.iter().find(|scenario| scenario.name == name)
    }
}

const VISA: &str = "pm_card_visa";
const ASKED: &str = "pm_card_threeDSecure2Required";

const ADA: &str = "Ada";
const ADA_AGAIN: &str = "Ada, again";
const BO: &str = "Bo";
const PROVIDER: &str = "the provider";
const PROVIDER_AGAIN: &str = "the provider, again";
const OPERATOR: &str = "the operator";
const OPERATOR_AGAIN: &str = "the operator, again";

const SUCCEEDED: &str = "payment_intent.succeeded";
const FAILED: &str = "payment_intent.payment_failed";

/// One unit, paid and sold once. What it costs is not promised.
const ONCE: Sums = Sums {
    charges: 1,
    charged_minor: 0,
    refunds: 0,
    refunded_minor: 0,
    orders: 1,
    sold: 1,
    mails: 1,
};

/// What is given back when a part of an order is, in minor units.
const A_PART: i64 = 100;

/// How long after the first try somebody comes back whose key the provider has forgotten.
const A_DAY_LATER: chrono::TimeDelta = chrono::TimeDelta::hours(25);

/// All of them.
pub static SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "double-click",
        title: "Double click",
        about: "Ada presses the button twice. The first request has read all it needs and not yet written when the second \
                one comes, and overtakes it.",
        guard: "The form carries a key, which is unique in the database: the request that comes second finds the first \
                one's checkout.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(double_click(scene)),
    },
    Scenario {
        name: "dropped-response",
        title: "Dropped response",
        about: "The provider charges the card, and the connection breaks before its answer arrives. If Ada is told that \
                it has failed, she presses the button again.",
        guard: "Silence is no “no”. The shop asks again under the same key, and the provider repeats its answer instead \
                of its charge.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(dropped_response(scene)),
    },
    Scenario {
        name: "crash-after-charge",
        title: "Crash after the charge",
        about: "The provider has charged, and the process dies before it has written anything down. Ada sees no answer, \
                and presses the button again.",
        guard: "The checkout was committed before the provider was asked, so whoever comes next finds what there is to \
                finish, be it a retry, a webhook or the reconciler.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(crash_after_charge(scene)),
    },
    Scenario {
        name: "webhook-twice",
        title: "Webhook twice",
        about: "Ada has confirmed the payment at her bank, and closes the page. The provider tells of it twice, at the same \
                moment.",
        guard: "The event’s id is inserted in the transaction of its effect. Of two copies one inserts, and the other \
                finds it there.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(webhook_twice(scene)),
    },
    Scenario {
        name: "webhook-first",
        title: "Webhook before the response",
        about: "The provider’s webhook overtakes the answer to the call, and the answer never arrives. Ada gives up.",
        guard: "The event finds the checkout, which was committed before the call, and concludes it. The answer that \
                comes after it changes nothing.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(webhook_first(scene)),
    },
    Scenario {
        name: "out-of-order",
        title: "Out-of-order events",
        about: "Ada’s bank says no, and then another card is accepted for the same payment. The news of the “no” is held \
                up on its way, and arrives after the news of the success.",
        guard: "Every change says “where status = 'pending'”. What has ended as paid is not pending, and old news changes \
                nothing.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(out_of_order(scene)),
    },
    Scenario {
        name: "new-form",
        title: "New form after an error",
        about: "The answer is lost, and Ada does not press the button again: she submits a form with a new key, which she \
                has in another tab.",
        guard: "Of one cart at most one checkout is pending or paid, which is unique in the database. The second form \
                finds it, whatever its key is.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(new_form(scene)),
    },
    Scenario {
        name: "last-unit",
        title: "Last unit",
        about: "Ada and Bo want the last lamp. Both have looked, and there was one.",
        guard: "Stock is taken by “set stock = stock - n where stock >= n”, before anybody is charged. The database lets \
                one of them through.",
        promise: ONCE,
        goods: RARE,
        play: |scene| Box::pin(last_unit(scene)),
    },
    Scenario {
        name: "mail-down",
        title: "Mail server down",
        about: "All goes well, but for the mail server, which is down when the confirmation is to be sent.",
        guard: "The mail is owed by a row that was written with the order. A worker tries until it is sent.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(mail_down(scene)),
    },
    Scenario {
        name: "refund-twice",
        title: "Refund twice",
        about: "The operator gives a part of the price back, and presses the button twice.",
        guard: "The refund’s form carries a key as well, and the money is reserved in a row before the provider is asked.",
        promise: Sums {
            refunds: 1,
            mails: 2,
            ..ONCE
        },
        goods: GOODS,
        play: |scene| Box::pin(refund_twice(scene)),
    },
    Scenario {
        name: "expired-key",
        title: "Expired key",
        about: "The provider charges, and nothing of it reaches the shop: no answer, no webhook. Ada comes back after 25 \
                hours, when the provider has forgotten the key. (The lab dates her purchase back, nobody has to wait.)",
        guard: "A key that may be forgotten is not sent again. The payment is looked up by the checkout’s id in its \
                metadata.",
        promise: ONCE,
        goods: GOODS,
        play: |scene| Box::pin(expired_key(scene)),
    },
];

async fn double_click(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let mut first = scene.begin(ADA, submit(&ada, &form, VISA), Some(Cue::at(begins).held()))?;
    first.is_held().await;
    let _ = scene.ask(ADA_AGAIN, submit(&ada, &form, VISA)).await?;
    let _ = first.ends().await;
    Ok(())
}

async fn dropped_response(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let lost = Cue::at(charged).lost();
    if let Err(NoAnswer) = scene.ask_with(ADA, submit(&ada, &form, VISA), lost).await? {
        let _ = scene.ask(ADA_AGAIN, submit(&ada, &form, VISA)).await?;
    }
    Ok(())
}

async fn crash_after_charge(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let dead = Cue::at(charged_and_known).dead();
    let _ = scene.ask_with(ADA, submit(&ada, &form, VISA), dead).await?;
    let _ = scene.ask(ADA_AGAIN, submit(&ada, &form, VISA)).await?;
    Ok(())
}

async fn webhook_twice(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let page = be_asked(scene, &ada, &form).await?;
    scene.hear().await?;
    scene.bank.approve(&page).await?;
    let event = scene.event(SUCCEEDED).await?;
    scene.is_told(&event);
    let deliver = || Request::Deliver(event.clone());
    // Both have looked whether they know the event; and where they look at the order, both have done that.
    let mut one = scene.begin(PROVIDER, deliver(), Some(Cue::at(begins).held()))?;
    one.is_held().await;
    let mut other = scene.begin(
        PROVIDER_AGAIN,
        deliver(),
        Some(Cue::at(begins).nth(2).held()),
    )?;
    other.is_held().await;
    let _ = one.ends().await;
    let _ = other.ends().await;
    Ok(())
}

async fn webhook_first(scene: &mut Scene<'_>) -> Result<(), Failed> {
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
        let told = scene.begin(PROVIDER, Request::Deliver(event), None)?;
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

async fn out_of_order(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let page = be_asked(scene, &ada, &form).await?;
    scene.hear().await?;
    if scene.is_safe() {
        let shop = scene
            .lab
            .webhook()
            .ok_or("the provider does not know the shop's webhook")?;
        let late = Fault::on_webhook(FAILED).url(shop).delay(super::HELD_UP);
        scene.lab.simulator()?.arm(late)?;
    }
    scene.bank.refuse(&page).await?;
    let no = scene.event(FAILED).await?;
    let mut late = None;
    if !scene.is_safe() {
        scene.is_told(&no);
        // It has seen the order, which is pending, and has not yet written.
        let cue = Cue::at(begins).nth(2).held();
        let mut told = scene.begin(PROVIDER, Request::Deliver(no.clone()), Some(cue))?;
        told.is_held().await;
        late = Some(told);
    }
    scene.bank.confirm(intent_of(&no)?, VISA).await?;
    scene.hear().await?;
    match late {
        Some(late) => drop(late.ends().await),
        None => drop(scene.wait_until(Until::Heard(FAILED)).await?),
    }
    Ok(())
}

async fn new_form(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let other = scene
        .open_form(&ada)
        .await?
        .ok_or("there is no second form")?;
    let lost = Cue::at(charged).lost();
    let _ = scene.ask_with(ADA, submit(&ada, &form, VISA), lost).await?;
    let _ = scene.ask(ADA_AGAIN, submit(&ada, &other, VISA)).await?;
    Ok(())
}

async fn last_unit(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let aside = put_aside(scene).await?;
    let (ada, bo) = (scene.customer("ada"), scene.customer("bo"));
    let of_ada = scene.want(&ada, RARE).await?;
    let of_bo = scene.want(&bo, RARE).await?;
    let held = Cue::at(begins).held();
    let mut first = scene.begin(ADA, submit(&ada, &of_ada, VISA), Some(held))?;
    first.is_held().await;
    let _ = scene.ask(BO, submit(&bo, &of_bo, VISA)).await?;
    let _ = first.ends().await;
    put_back(scene, aside).await
}

async fn mail_down(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    // The shop's mails are sent by its postman, to whom every mail is the same.
    scene.lab.fail_mails(u32::from(scene.is_safe()));
    let down = Cue::at(posts).lost();
    let _ = scene.ask_with(ADA, submit(&ada, &form, VISA), down).await?;
    Ok(())
}

async fn refund_twice(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    let place = place_of(scene.ask(ADA, submit(&ada, &form, VISA)).await?)?;
    let Standing::Paid(order) = scene.look(&ada, &place).await? else {
        return Err("the purchase is not paid".into());
    };
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
    let mut first = scene.begin(OPERATOR, refund(), Some(Cue::at(gives_back).held()))?;
    first.is_held().await;
    let second = scene.begin(OPERATOR_AGAIN, refund(), None)?;
    second.ends_within(A_MOMENT).await;
    let _ = first.ends().await;
    let _ = second.ends().await;
    Ok(())
}

async fn expired_key(scene: &mut Scene<'_>) -> Result<(), Failed> {
    let ada = scene.customer("ada");
    let form = scene.want(&ada, GOODS).await?;
    if scene.is_safe() {
        let shop = scene
            .lab
            .webhook()
            .ok_or("the provider does not know the shop's webhook")?;
        let late = Fault::on_webhook(SUCCEEDED).url(shop).delay(super::HELD_UP);
        scene.lab.simulator()?.arm(late)?;
    }
    let dead = Cue::at(charged).dead();
    let _ = scene.ask_with(ADA, submit(&ada, &form, VISA), dead).await?;
    if scene.is_safe() {
        retrying(|| super::tally::date_back(scene, A_DAY_LATER)).await?;
    }
    let _ = scene.ask(ADA_AGAIN, submit(&ada, &form, VISA)).await?;
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

fn intent_of(event: &serde_json::Value) -> Result<&str, Failed> {
    let id = event
        .pointer("/data/object/id")
        .and_then(serde_json::Value::as_str);
    id.ok_or_else(|| "an event is about nothing".into())
}
