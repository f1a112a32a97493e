//! A scene: one of the two flows on the running shop's own database and provider, and the people in it.
//!
//! Whatever they do is an activity of the log with the scene's key on it, so that the trail tells it afterwards. What they
//! must have done before it begins, such as filling a cart, is of no interest and has no key.

use std::{collections::HashSet, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::Instrument as _;
use uuid::Uuid;

use super::{
    act::{Act, Outcome},
    cue::Cue,
    tally,
};
use crate::{
    app::App,
    lab::{
        Lab,
        bank::Bank,
        flow::{Answer, Customer, Failed, Form, Front, NoAnswer, Place, Request, Standing},
        naive::{self, Naive},
        safe,
        sweep::Flow,
        trail::{steps, trail},
    },
    mail::post::{Post, Tray},
    probe::Probe,
};

/// How long the shop's own workers, and the provider's webhooks, are waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often is looked whether they are done.
const GLANCE: Duration = Duration::from_millis(25);

/// One flow, and everybody around it.
pub(super) struct Scene<'l> {
    pub(super) lab: &'l Lab,
    pub(super) app: &'l App,
    pub(super) flow: Flow,
    pub(super) bank: Bank,
    /// Where the naive twin puts its mails.
    pub(super) tray: Tray,
    /// Who has been there.
    pub(super) customers: Vec<Customer>,
    /// What the activities of the scene are filed under.
    pub(super) key: String,
    began_at: DateTime<Utc>,
    run: Uuid,
    /// The events that the naive twin was told.
    told: HashSet<String>,
}

/// What is waited for.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// Nothing is due in the shop.
    AtRest,
    /// No purchase is undecided there.
    Decided,
    /// It has heard of such an event.
    Heard(&'static str),
}

impl<'l> Scene<'l> {
    pub(super) fn set(lab: &'l Lab, app: &'l App, flow: Flow, run: Uuid) -> Result<Self, Failed> {
        Ok(Self {
            bank: lab.bank()?,
            lab,
            app,
            flow,
            tray: Tray::default(),
            customers: Vec::new(),
            key: format!("{run}/{}", flow.name()),
            began_at: Utc::now(),
            run,
            told: HashSet::new(),
        })
    }

    /// Somebody whom no shop knows yet.
    pub(super) fn customer(&mut self, name: &str) -> Customer {
        let (run, flow) = (self.run.simple(), self.flow.name());
        let customer = Customer::new(format!("{name}.{run}.{flow}"));
        self.customers.push(customer.clone());
        customer
    }

    pub(super) fn is_safe(&self) -> bool {
        self.flow == Flow::Safe
    }

    // --- What somebody does ---

    /// Somebody does something, and gets the answer.
    pub(super) async fn ask(&self, who: &str, request: Request) -> Result<Outcome, Failed> {
        Ok(self.begin(who, request, None)?.ends().await)
    }

    /// The same, with something happening on the way.
    pub(super) async fn ask_with(
        &self,
        who: &str,
        request: Request,
        cue: Cue,
    ) -> Result<Outcome, Failed> {
        Ok(self.begin(who, request, Some(cue))?.ends().await)
    }

    /// Somebody begins something.
    pub(super) fn begin(
        &self,
        who: &str,
        request: Request,
        cue: Option<Cue>,
    ) -> Result<Act, Failed> {
        let (probe, strings) = cue.map(Cue::probe).unzip();
        let front = self.front(probe.as_ref())?;
        let span = tracing::debug_span!(parent: None, "act", lab.run = self.key, lab.who = who);
        let answer = async move { front.answer(request).await };
        Ok(Act::of(tokio::spawn(answer.instrument(span)), cue, strings))
    }

    /// A customer puts a product into the cart and opens the form. Of this nothing is told.
    pub(super) async fn want(
        &self,
        customer: &Customer,
        sku: &'static str,
    ) -> Result<Form, Failed> {
        let front = self.front(None)?;
        let add = Request::Add(customer.clone(), sku, 1);
        front
            .answer(add)
            .await
            .map_err(|NoAnswer| format!("{sku} cannot be put into a cart"))?;
        self.open_form(customer)
            .await?
            .ok_or_else(|| "there is no form".into())
    }

    /// The checkout form; `None` where there is none any more, since its purchase is under way.
    pub(super) async fn open_form(&self, customer: &Customer) -> Result<Option<Form>, Failed> {
        let open = Request::OpenForm(customer.clone());
        match self.front(None)?.answer(open).await {
            Ok(Answer::Form(form)) => Ok(Some(form)),
            Ok(_) => Ok(None),
            Err(NoAnswer) => Err("the form cannot be opened".into()),
        }
    }

    /// The operator opens the form that gives money back.
    pub(super) async fn open_refund(&self, order: &str) -> Result<Answer, Failed> {
        let open = Request::OpenRefund(order.to_owned());
        let answer = self.front(None)?.answer(open).await;
        answer.map_err(|NoAnswer| "the form of a refund cannot be opened".into())
    }

    /// A customer looks at their purchase.
    pub(super) async fn look(
        &self,
        customer: &Customer,
        place: &Place,
    ) -> Result<Standing, Failed> {
        let look = Request::Look(customer.clone(), place.clone());
        match self.front(None)?.answer(look).await {
            Ok(Answer::Standing(standing)) => Ok(standing),
            other => Err(format!("the page of a purchase says {other:?}").into()),
        }
    }

    fn front(&self, probe: Option<&Probe>) -> Result<Box<dyn Front>, Failed> {
        let till = match probe {
            Some(probe) => self.app.till.with_probe(probe),
            None => self.app.till.clone(),
        };
        if self.is_safe() {
            let app = App {
                till,
                ..self.app.clone()
            };
            return Ok(Box::new(safe::Shopfront::of(&app)));
        }
        Ok(Box::new(naive::Shopfront::of(Naive {
            public_url: till.links.shop().to_owned(),
            db: till.db,
            provider: till.provider,
            clock: till.clock,
            post: Arc::new(Post::Tray(self.tray.clone())),
            mail_from: "The Naive Shop <shop@naive.example>".parse()?,
            webhook_secrets: self.app.webhook_secrets.clone(),
        })))
    }

    // --- What the provider tells ---

    /// The events of this scene that the naive twin was not told yet, the oldest first. The shop's own webhook is known to the
    /// provider, which tells it everything by itself.
    pub(super) async fn news(&self) -> Result<Vec<Arc<Value>>, Failed> {
        let carts: Vec<String> = self.customers.iter().map(|it| it.id.to_string()).collect();
        let mut news = self
            .events("/data/object/metadata/naive_cart", &carts)
            .await?;
        news.retain(|event| !self.told.contains(id_of(event)));
        Ok(news)
    }

    /// All events about objects that have one of these values at `pointer`, the oldest first.
    async fn events(&self, pointer: &str, values: &[String]) -> Result<Vec<Arc<Value>>, Failed> {
        let since =
            self.lab.simulator()?.clock().now - (Utc::now() - self.began_at).num_seconds() - 1;
        let mut page = self.app.till.provider.events_since(since).await?;
        let mut events = Vec::new();
        loop {
            let newest = page.newest().map(str::to_owned);
            events.extend(page.events);
            match newest {
                Some(newest) if page.has_more => {
                    let next = self.app.till.provider.events_after(&newest).await?;
                    page = next.ok_or("the provider does not know its own event")?;
                }
                _ => break,
            }
        }
        let is_ours = |event: &Value| {
            let value = event.pointer(pointer).and_then(Value::as_str);
            value.is_some_and(|value| values.iter().any(|it| it == value))
        };
        Ok(events.into_iter().filter(is_ours).map(Arc::new).collect())
    }

    /// The newest event of a type about this scene's payments.
    pub(super) async fn event(&self, kind: &str) -> Result<Arc<Value>, Failed> {
        let events = if self.is_safe() {
            let checkouts = tally::checkouts(self).await?;
            let ids: Vec<String> = checkouts.iter().map(ToString::to_string).collect();
            self.events("/data/object/metadata/checkout_id", &ids)
                .await?
        } else {
            self.news().await?
        };
        let is_it = |event: &Arc<Value>| event.get("type").and_then(Value::as_str) == Some(kind);
        let event = events.into_iter().rev().find(is_it);
        event.ok_or_else(|| format!("the provider has not made {kind}").into())
    }

    /// An event is delivered from now on by the scene, and not once more at its end.
    pub(super) fn is_told(&mut self, event: &Value) {
        self.told.insert(id_of(event).to_owned());
    }

    /// The provider delivers to the naive twin what is new, of the types that it has asked for.
    pub(super) async fn hear(&mut self) -> Result<(), Failed> {
        if self.is_safe() {
            return Ok(());
        }
        for event in self.news().await? {
            self.is_told(&event);
            let kind = event.get("type").and_then(Value::as_str);
            if !kind.is_some_and(|kind| naive::LISTENS_TO.contains(&kind)) {
                continue;
            }
            let _ = self.ask("the provider", Request::Deliver(event)).await?;
        }
        Ok(())
    }

    // --- How it ends ---

    /// Waits until nothing is due any more: the naive twin has no workers, and has heard everything; those of the shop do
    /// what they always do. Says whether it has come to rest in time.
    pub(super) async fn rest(&mut self) -> Result<bool, Failed> {
        self.hear().await?;
        self.wait_until(Until::AtRest).await
    }

    /// Waits until something is so.
    pub(super) async fn wait_until(&self, until: Until) -> Result<bool, Failed> {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while !self.is(until).await? {
            if tokio::time::Instant::now() > deadline {
                return Ok(false);
            }
            tokio::time::sleep(GLANCE).await;
        }
        Ok(true)
    }

    async fn is(&self, until: Until) -> Result<bool, Failed> {
        match until {
            Until::AtRest => Ok(tally::due(self).await? == 0),
            Until::Decided => Ok(tally::pending(self).await? == 0),
            Until::Heard(kind) => tally::has_heard(self, kind).await,
        }
    }

    /// What the log has told of it.
    pub(super) async fn steps(&self) -> Result<Vec<steps::Step>, Failed> {
        let mut activities = trail().about(&self.key);
        if self.is_safe() {
            for checkout in tally::checkouts(self).await? {
                // What was done with a key of the scene is there already.
                let about = trail().about(&checkout.to_string());
                activities.extend(about.into_iter().filter(|it| it.who.is_none()));
            }
        }
        Ok(steps::of(&activities))
    }
}

fn id_of(event: &Value) -> &str {
    event.get("id").and_then(Value::as_str).unwrap_or_default()
}
