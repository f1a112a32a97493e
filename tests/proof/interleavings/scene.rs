//! How it stands when the actors enter, and what it must have come to when everything is over.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use boring_checkout::{
    lab::{
        flow::{Answer, Customer, Failed, Form, Place, Request, Standing},
        safe,
        world::{Fault, Ground, Plan, Sums, Tally, World, no_faults},
    },
    probe::Boundary,
};

use super::part::{Props, VISA};
use crate::provider::{client, post};

/// What everything is about: one unit of it, unless a scene says otherwise.
const TEA: &str = "TEA-01";

/// Longer than a checkout's lease.
const LEASE: Duration = Duration::from_secs(16);

/// Longer than a refund's lease.
const REFUND_LEASE: Duration = Duration::from_secs(121);

/// Longer than a customer has to answer their bank.
const AUTHENTICATION: Duration = Duration::from_secs(3601);

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// The buyer has opened the checkout form, in two tabs. So has somebody else, and one unit is left.
    Open,
    /// The form was sent, and the process died when the provider had charged. Its lease has run out.
    LeftOpen,
    /// The buyer's bank has asked, and the time to answer is over.
    Asked,
    /// And now the buyer has answered: yes.
    Approved,
    /// The card was declined. Then it was charged after all, on a page of the provider's.
    PaidLate,
    /// It is paid, and the operator has opened the refund form, in two tabs.
    Paid,
    /// The form was sent, and the process died when the provider had given the money back. Its lease has run out.
    RefundLeftOpen,
}

impl Scene {
    /// Sets it, in a world of its own.
    pub async fn set(self, ground: &Ground) -> Result<(World<'_>, Props), Failed> {
        let plan = match self {
            Self::LeftOpen => dies_after("payment_intents.create"),
            Self::RefundLeftOpen => dies_after("refunds.create"),
            _ => no_faults(),
        };
        let mut world = World::begin(ground, safe::open, plan).await?;
        let mut props = open(&mut world).await?;
        if self == Self::Open {
            return Ok((world, props));
        }
        props.card = match self {
            Self::Asked | Self::Approved => "pm_card_threeDSecure2Required",
            Self::PaidLate => "pm_card_chargeDeclined",
            _ => VISA,
        };
        let submit = Request::Submit(props.buyer.clone(), props.forms[0].clone(), props.card);
        let submitted = world.ask(submit).await?;
        // Whoever got no answer opens the form again, and is led to the purchase.
        props.place = match submitted {
            Ok(Answer::Place(place)) => place,
            _ => place(world.ask(Request::OpenForm(props.buyer.clone())).await?),
        };
        let made = client(world.premises())?.list(0).await?;
        props.intent = made.first().expect("a payment intent").id.clone();
        match self {
            Self::Open => {}
            Self::LeftOpen => world.advance(LEASE).await?,
            Self::Asked | Self::Approved => {
                let Standing::Asked(bank) = standing(&mut world, &props).await? else {
                    panic!("the bank has not asked");
                };
                props.bank = bank;
                world.advance(AUTHENTICATION).await?;
                if self == Self::Approved {
                    world.approve(&props.bank).await?;
                }
            }
            Self::PaidLate => {
                let intent = &props.intent;
                let url = format!(
                    "{}/v1/payment_intents/{intent}/confirm",
                    ground.provider_url()
                );
                let body = format!("payment_method={VISA}&return_url=http://shop.example");
                let paid = post(world.premises(), &url, &body).await?;
                assert_eq!(paid, "200 OK");
                props.card = VISA;
            }
            Self::Paid | Self::RefundLeftOpen => {
                world.go_on().await?;
                let Standing::Paid(order) = standing(&mut world, &props).await? else {
                    panic!("it is not paid");
                };
                props.order = order;
                for _ in 0..2 {
                    let opened = world.ask(Request::OpenRefund(props.order.clone())).await?;
                    props.refund_forms.push(form(opened));
                }
                if self == Self::RefundLeftOpen {
                    let refund = Request::Refund {
                        order: props.order.clone(),
                        form: props.refund_forms[0].clone(),
                        minor: props.given_back,
                        restock: false,
                    };
                    assert!(world.ask(refund).await?.is_err(), "it died");
                    world.advance(REFUND_LEASE).await?;
                }
            }
        }
        Ok((world, props))
    }

    /// Whether it came to what was promised.
    pub fn is_kept(self, tally: &Tally) -> bool {
        let Sums {
            charges,
            refunds,
            orders,
            sold,
            mails,
            ..
        } = tally.sums;
        tally.broken.is_empty()
            && match self {
                Self::Open | Self::LeftOpen | Self::Approved => {
                    (charges, refunds, orders, sold, mails) == (1, 0, 1, 1, 1)
                }
                Self::Asked => matches!(
                    (charges, refunds, orders, sold, mails),
                    (1, 0, 1, 1, 1) | (0, 0, 0, 0, 0)
                ),
                // The first payment went back, with a mail; who has bought it under another form has it.
                Self::PaidLate => {
                    refunds == 1
                        && charges == 1 + orders
                        && sold == orders
                        && mails == 1 + orders
                        && orders <= 1
                }
                // One part, or the part that somebody has given back beside it; each with a mail.
                Self::Paid | Self::RefundLeftOpen => {
                    (charges, orders, sold) == (1, 1, 1) && refunds <= 1 && mails == 1 + refunds
                }
            }
    }
}

/// Everything that is there before anything is sent.
async fn open(world: &mut World<'_>) -> Result<Props, Failed> {
    let (buyer, rival) = (Customer::new("buyer"), Customer::new("rival"));
    world.stock(TEA, 1).await?;
    let mut forms = Vec::new();
    for customer in [&buyer, &rival] {
        let added = world.ask(Request::Add(customer.clone(), TEA, 1)).await?;
        assert_eq!(added, Ok(Answer::Done));
    }
    for customer in [&buyer, &buyer, &rival] {
        forms.push(form(world.ask(Request::OpenForm(customer.clone())).await?));
    }
    Ok(Props {
        rivals_form: forms.pop().expect("three forms"),
        forms,
        buyer,
        rival,
        card: VISA,
        place: Place::new(),
        bank: String::new(),
        order: String::new(),
        // Of 490: twice is too much.
        given_back: 290,
        refund_forms: Vec::new(),
        intent: String::new(),
    })
}

/// The process dies the first time that the provider has done this and its answer is not read yet.
fn dies_after(operation: &'static str) -> Plan {
    let has_died = AtomicBool::new(false);
    Arc::new(move |moment| {
        let here = moment.boundary == Boundary::AfterSend(operation);
        (here && !has_died.swap(true, Ordering::Relaxed)).then_some(Fault::Crash)
    })
}

async fn standing(world: &mut World<'_>, props: &Props) -> Result<Standing, Failed> {
    let look = Request::Look(props.buyer.clone(), props.place.clone());
    match world.ask(look).await? {
        Ok(Answer::Standing(standing)) => Ok(standing),
        other => panic!("no page of a purchase: {other:?}"),
    }
}

fn form<E: std::fmt::Debug>(answer: Result<Answer, E>) -> Form {
    match answer {
        Ok(Answer::Form(form)) => form,
        other => panic!("no form: {other:?}"),
    }
}

fn place<E: std::fmt::Debug>(answer: Result<Answer, E>) -> Place {
    match answer {
        Ok(Answer::Place(place)) => place,
        other => panic!("no place: {other:?}"),
    }
}
