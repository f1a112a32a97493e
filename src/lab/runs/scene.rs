//! A scene: one of the two flows on the running shop's own database and provider, and the people in it.
//!
//! Whatever they do is an activity of the log with the scene's key on it, so that the trail tells it afterwards. What they
//! must have done before it begins, such as filling a cart, is of no interest and has no key.

use std::{collections::HashSet, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
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
        trail::{Line, steps, trail},
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
    pub(super) began_at: DateTime<Utc>,
    /// What had begun before is no part of the story.
    told_from: DateTime<Utc>,
    run: Uuid,
    /// The events that the naive twin was told.
    pub(super) told: HashSet<String>,
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
        let now = Utc::now();
        Ok(Self {
            bank: lab.bank()?,
            lab,
            app,
            flow,
            tray: Tray::default(),
            customers: Vec::new(),
            key: format!("{run}/{}", flow.name()),
            began_at: now,
            told_from: now,
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

    /// The lab says what it does itself.
    pub(super) fn says(&self, what: &str) {
        let span =
            tracing::debug_span!(parent: None, "act", lab.run = self.key, lab.who = "the lab");
        span.in_scope(|| tracing::debug!("{what}"));
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

    /// What has happened so far is how it came to the story, which begins now.
    pub(super) async fn opens(&mut self) -> Result<(), Failed> {
        self.rest().await?;
        self.told_from = Utc::now();
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
        let is_told = |line: &Line| line.at >= self.told_from;
        activities.retain(|activity| activity.lines.first().is_some_and(is_told));
        Ok(steps::of(&activities))
    }
}
