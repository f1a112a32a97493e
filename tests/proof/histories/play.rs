//! Playing a history: one move after the other, then the world goes on until nothing is due, and then the audit.

use std::{collections::HashSet, sync::Arc, time::Duration};

use boring_checkout::{
    lab::{
        flow::{Answer, Failed, Form, NoAnswer, Place, Request, Standing},
        safe,
        world::{Ground, Settled, Tally, World},
    },
    provider::wire::PaymentIntent,
};
use proptest::sample::Index;

use super::{
    cast::{Buyer, Crowd},
    faults::Faults,
    moves::Move,
};
use crate::provider::{client, post};

/// After so many moves the books are looked at.
const LOOK_AT_BOOKS: usize = 20;

/// What holds at every moment. The other invariants give the shop some time.
const ALWAYS: [&str; 6] = [
    "one_paid_checkout_for_each_cart",
    "one_payment_and_one_order_for_each_paid_checkout",
    "lines_payment_and_order_agree",
    "stock_is_conserved",
    "reservations_follow_their_checkout",
    "one_charge_for_each_checkout",
];

/// A history that ended badly.
#[derive(Debug)]
pub struct Bad {
    pub what: String,
    pub story: Vec<String>,
}

/// What was in histories, and what came of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    pub moves: usize,
    pub boundaries: usize,
    pub faults: usize,
    pub charges: i64,
    pub refunds: i64,
    pub orders: i64,
}

impl Sum {
    pub fn add(&mut self, other: Self) {
        self.moves += other.moves;
        self.boundaries += other.boundaries;
        self.faults += other.faults;
        self.charges += other.charges;
        self.refunds += other.refunds;
        self.orders += other.orders;
    }
}

/// Plays `moves`. The failure is what came of them that must not.
pub async fn play(ground: &Ground, crowd: &Crowd, moves: &[Move]) -> Result<Sum, Bad> {
    let mut history = History::begin(ground, crowd).await.expect("a world");
    match history.go(moves).await {
        Ok(tally) => Ok(Sum {
            moves: history.story.len(),
            boundaries: history.world.moments().len(),
            faults: history.faults.struck(),
            charges: tally.sums.charges,
            refunds: tally.sums.refunds,
            orders: tally.sums.orders,
        }),
        Err(what) => Err(Bad {
            what: what.to_string(),
            story: history.story,
        }),
    }
}

struct History<'g> {
    world: World<'g>,
    ground: &'g Ground,
    crowd: &'g Crowd,
    faults: Faults,
    buyers: Vec<Buyer>,
    orders: Vec<String>,
    /// Refund forms that are open, and of which order.
    refunds: Vec<(String, Form)>,
    /// Payments that succeeded after they had been declined.
    late: HashSet<String>,
    story: Vec<String>,
}

impl<'g> History<'g> {
    async fn begin(ground: &'g Ground, crowd: &'g Crowd) -> Result<Self, Failed> {
        let faults = Faults::default();
        let mut world = World::begin(ground, safe::open, faults.plan()).await?;
        for (sku, units) in crowd.goods {
            world.stock(sku, *units).await?;
        }
        Ok(Self {
            world,
            ground,
            crowd,
            faults,
            buyers: crowd
                .customers
                .iter()
                .map(|name| Buyer::new(name))
                .collect(),
            orders: Vec::new(),
            refunds: Vec::new(),
            late: HashSet::new(),
            story: Vec::new(),
        })
    }

    /// To the end of everything.
    async fn go(&mut self, moves: &[Move]) -> Result<Tally, Failed> {
        for (number, next) in moves.iter().enumerate() {
            self.make(next).await?;
            if number % LOOK_AT_BOOKS == 0 {
                self.holds_always().await?;
            }
        }
        self.faults.mend();
        self.ends_well().await
    }

    /// Lets a move happen, if there is something for it.
    async fn make(&mut self, next: &Move) -> Result<(), Failed> {
        match next {
            Move::Add { who, what, units } => {
                let customer = self.buyers[*who].customer.clone();
                let add = Request::Add(customer, self.crowd.goods[*what].0, *units);
                return self.asks(next, *who, add).await;
            }
            Move::Open { who } => {
                let open = Request::OpenForm(self.buyers[*who].customer.clone());
                return self.asks(next, *who, open).await;
            }
            Move::Submit {
                who,
                form,
                card,
                again,
            } => return self.submits(next, *who, form.as_ref(), card, *again).await,
            Move::Look { who, place } => return self.looks(next, *who, place).await,
            Move::OpenRefund { order } => return self.opens_refund(next, order).await,
            Move::Refund {
                form,
                percent,
                restock,
            } => return self.refunds(next, form, *percent, *restock).await,
            Move::Approve { who } => {
                return match self.buyers[*who].bank.clone() {
                    Some(bank) => self.at_the_provider(next, &bank, "verdict=approve").await,
                    None => Ok(()),
                };
            }
            Move::PayLate { intent } => return self.pays_late(next, intent).await,
            Move::Dashboard { intent, percent } => {
                return self.gives_back_elsewhere(next, intent, *percent).await;
            }
            Move::Deliver { event } => return self.delivers(next, event).await,
            Move::News => self.world.deliver_news().await?,
            Move::Work => self.world.work().await?,
            Move::Decides => {
                self.ground.control().settle(None).await?;
            }
            Move::Later { seconds } => self.world.advance(Duration::from_secs(*seconds)).await?,
            Move::Price { what, minor } => {
                let sku = self.crowd.goods[*what].0;
                self.world.price(sku, *minor).await?;
            }
            Move::Breaks { fault, after } => {
                self.faults.arm(self.world.moments().len() + after, *fault);
            }
            Move::Dies => self.world.kill().await,
        }
        self.tell(next, None, "");
        Ok(())
    }

    async fn submits(
        &mut self,
        next: &Move,
        who: usize,
        form: Option<&Index>,
        card: &'static str,
        again: bool,
    ) -> Result<(), Failed> {
        let buyer = &self.buyers[who];
        let form = form.map_or(buyer.forms.last(), |form| pick(*form, &buyer.forms));
        let Some(mut form) = form.cloned() else {
            return Ok(());
        };
        if again {
            form.0.insert("buy_again".to_owned(), "yes".to_owned());
        }
        let submit = Request::Submit(buyer.customer.clone(), form, card);
        self.asks(next, who, submit).await
    }

    async fn looks(&mut self, next: &Move, who: usize, place: &Index) -> Result<(), Failed> {
        let buyer = &self.buyers[who];
        let places: Vec<Place> = buyer.purchases.keys().cloned().collect();
        let Some(place) = pick(*place, &places).cloned() else {
            return Ok(());
        };
        let look = Request::Look(buyer.customer.clone(), place);
        self.asks(next, who, look).await
    }

    async fn opens_refund(&mut self, next: &Move, order: &Index) -> Result<(), Failed> {
        let Some(order) = pick(*order, &self.orders).cloned() else {
            return Ok(());
        };
        let answer = self.world.ask(Request::OpenRefund(order.clone())).await?;
        self.tell(next, None, &told(&answer));
        if let Ok(Answer::Form(form)) = answer {
            self.refunds.push((order, form));
        }
        Ok(())
    }

    async fn refunds(
        &mut self,
        next: &Move,
        form: &Index,
        percent: i64,
        restock: bool,
    ) -> Result<(), Failed> {
        let Some((order, form)) = pick(*form, &self.refunds).cloned() else {
            return Ok(());
        };
        let left = form.field("remaining").parse().unwrap_or_default();
        let refund = Request::Refund {
            order,
            form,
            minor: share(left, percent),
            restock,
        };
        let answer = self.world.ask(refund).await?;
        self.tell(next, None, &told(&answer));
        Ok(())
    }

    async fn pays_late(&mut self, next: &Move, intent: &Index) -> Result<(), Failed> {
        let Some(intent) = self.intent(intent, "requires_payment_method").await? else {
            return Ok(());
        };
        let id = intent.id;
        let url = format!(
            "{}/v1/payment_intents/{id}/confirm",
            self.ground.provider_url()
        );
        let body = "payment_method=pm_card_visa&return_url=http://shop.example";
        self.late.insert(id);
        self.at_the_provider(next, &url, body).await
    }

    async fn gives_back_elsewhere(
        &mut self,
        next: &Move,
        intent: &Index,
        percent: i64,
    ) -> Result<(), Failed> {
        let Some(intent) = self.intent(intent, "succeeded").await? else {
            return Ok(());
        };
        let url = format!("{}/v1/refunds", self.ground.provider_url());
        // The shop gives back all of a payment that came too late, or leaves it to a person who has begun otherwise.
        let is_late = self.late.contains(&intent.id);
        let minor = share(intent.amount, if is_late { 100 } else { percent });
        let body = format!("payment_intent={}&amount={minor}", intent.id);
        self.at_the_provider(next, &url, &body).await
    }

    /// One of the payment intents that stand so.
    async fn intent(&self, which: &Index, status: &str) -> Result<Option<PaymentIntent>, Failed> {
        let mut intents = client(self.world.premises())?.list(0).await?;
        intents.retain(|intent| intent.status == status);
        let place = (!intents.is_empty()).then(|| which.index(intents.len()));
        Ok(place.map(|place| intents.swap_remove(place)))
    }

    async fn delivers(&mut self, next: &Move, event: &Index) -> Result<(), Failed> {
        let events = self.ground.events().await?;
        let Some(event) = pick(*event, &events) else {
            return Ok(());
        };
        let answer = self.world.deliver(Arc::clone(event)).await?;
        self.tell(next, None, &format!("{}: {}", event["type"], told(&answer)));
        Ok(())
    }

    async fn asks(&mut self, next: &Move, who: usize, request: Request) -> Result<(), Failed> {
        let place = match &request {
            Request::Look(_, place) => Some(place.clone()),
            _ => None,
        };
        let answer = self.world.ask(request).await?;
        self.tell(next, Some(who), &told(&answer));
        if let Ok(Answer::Standing(Standing::Paid(order))) = &answer
            && !self.orders.contains(order)
        {
            self.orders.push(order.clone());
        }
        Ok(self.buyers[who].hears(place.as_ref(), &answer)?)
    }

    async fn at_the_provider(&mut self, next: &Move, url: &str, body: &str) -> Result<(), Failed> {
        let answer = post(self.world.premises(), url, body).await?;
        self.tell(next, None, &answer);
        Ok(())
    }

    fn tell(&mut self, next: &Move, who: Option<usize>, came_to: &str) {
        let who = who.map_or_else(String::new, |who| format!("{} ", self.crowd.customers[who]));
        let came_to = Some(came_to).filter(|it| !it.is_empty());
        let came_to = came_to.map_or_else(String::new, |it| format!(": {it}"));
        self.story.push(format!("{who}{next}{came_to}"));
    }

    /// Whatever is under way, nothing is doubled or lost.
    async fn holds_always(&mut self) -> Result<(), Failed> {
        let mut broken = self.world.tally().await?.broken;
        broken.retain(|broken| ALWAYS.contains(&broken.name));
        if broken.is_empty() {
            return Ok(());
        }
        Err(format!("in the middle: {broken:#?}").into())
    }

    async fn ends_well(&mut self) -> Result<Tally, Failed> {
        let settled = self.world.go_on().await?;
        let tally = self.world.tally().await?;
        if settled == Settled::Yes && tally.broken.is_empty() {
            return Ok(tally);
        }
        Err(format!("in the end: {settled:?}, {tally:#?}").into())
    }
}

/// An answer in short.
fn told(answer: &Result<Answer, NoAnswer>) -> String {
    match answer {
        Ok(Answer::Form(_)) => "a form".to_owned(),
        Ok(Answer::Refused(_)) => "refused".to_owned(),
        Ok(Answer::Place(place)) => place.clone(),
        Ok(Answer::Standing(standing)) => format!("{standing:?}"),
        Ok(Answer::Done) => "done".to_owned(),
        Err(NoAnswer) => "no answer".to_owned(),
    }
}

/// One of them, if there is any.
fn pick<T>(index: Index, of: &[T]) -> Option<&T> {
    (!of.is_empty()).then(|| index.get(of))
}

/// At least the smallest coin.
fn share(minor: i64, percent: i64) -> i64 {
    (minor * percent / 100).max(1)
}
