//! What can be done to a shop, whichever way its checkout is written.
//!
//! A [`Flow`] is one process of a shop. Customers, the operator and the provider send it [`Request`]s; its workers are
//! stepped. When it dies, all that it had in memory is gone, and another one is opened on the same database.

use std::{
    collections::BTreeMap,
    error::Error,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::{audit::Report, clock::Clock, db::Db, mail::post::Tray, probe::Probe};

/// Why something could not be looked at, or set up. Nothing that a flow is judged by.
pub type Failed = Box<dyn Error + Send + Sync>;

/// What a process of a shop is opened with.
#[derive(Clone, Debug)]
pub struct Premises {
    /// The database, whose schema is up to date.
    pub database_url: String,
    /// Connections to it that are open already.
    pub connections: Option<Db>,
    /// The payment provider.
    pub provider_url: String,
    /// Our key there.
    pub provider_key: &'static str,
    /// Signs its webhooks.
    pub webhook_secret: &'static str,
    /// The time.
    pub clock: Clock,
    /// Where mails go.
    pub tray: Tray,
    /// Told of every boundary.
    pub probe: Probe,
}

impl Premises {
    /// The database, for a process.
    pub async fn database(&self) -> sqlx::Result<Db> {
        match &self.connections {
            Some(open) => Ok(open.clone()),
            None => Db::open_as_it_is(&self.database_url).await,
        }
    }
}

/// A process that is being opened.
pub type Opening = Pin<Box<dyn Future<Output = Result<Arc<dyn Flow>, Failed>> + Send>>;

/// What of a shop can be asked: its pages, and its webhook.
#[async_trait]
pub trait Front: Send + Sync {
    /// Answers a request. To drop the future is to go away before the answer is there.
    async fn answer(&self, request: Request) -> Result<Answer, NoAnswer>;
}

/// One process of a shop.
#[async_trait]
pub trait Flow: Front {
    /// Waits until nothing goes on any more that a request has left behind.
    async fn idle(&self);

    /// Lets each worker do once what is due. What fails is due again later.
    async fn work(&self);

    /// When the workers will have something to do next; `None` while there is nothing. Without the probe.
    async fn next_due(&self) -> Result<Option<DateTime<Utc>>, Failed>;

    /// Puts so many units of a product on an untouched shelf. Without the probe.
    async fn stock(&self, sku: &str, units: i64) -> Result<(), Failed>;

    /// Changes a price, in minor units. Without the probe.
    async fn price(&self, sku: &str, minor: i64) -> Result<(), Failed>;

    /// What the shop's books say, and which invariants are broken. Without the probe.
    async fn books(&self) -> Result<Books, Failed>;
}

/// What is asked of a shop. Sent again, it is the same request again.
#[derive(Clone, Debug)]
pub enum Request {
    /// Some units of a product go into the customer's cart.
    Add(Customer, &'static str, i64),
    /// The customer makes it so many units of a product that is in the cart.
    Keep(Customer, &'static str, i64),
    /// The customer opens the checkout form.
    OpenForm(Customer),
    /// The customer submits it, to be paid with this method of the provider's.
    Submit(Customer, Form, &'static str),
    /// The customer looks at the page of a purchase.
    Look(Customer, Place),
    /// The operator opens the form that gives money back for an order.
    OpenRefund(String),
    /// The operator submits it, for this amount in minor units (two decimals), with the goods or without.
    Refund {
        /// The order's number.
        order: String,
        /// As it was opened.
        form: Form,
        /// How much, in minor units.
        minor: i64,
        /// Whether the goods go back on the shelf.
        restock: bool,
    },
    /// The provider delivers an event.
    Deliver(Arc<Value>),
}

impl Request {
    /// What it is called where boundaries are counted.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add(..) => "add to cart",
            Self::Keep(..) => "set quantity",
            Self::OpenForm(_) => "open the form",
            Self::Submit(..) => "submit",
            Self::Look(..) => "look",
            Self::OpenRefund(_) => "open a refund",
            Self::Refund { .. } => "refund",
            Self::Deliver(_) => "webhook",
        }
    }
}

/// What a shop answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done: the cart has it, the event was taken.
    Done,
    /// A form to be submitted.
    Form(Form),
    /// Where the purchase, or the refund, can be looked at.
    Place(Place),
    /// How the purchase stands.
    Standing(Standing),
    /// It is not accepted as it is. The form comes back, with what is true now, where that may help.
    Refused(Option<Form>),
}

/// There was an error, or no answer at all. Whoever asked does not know what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAnswer;

/// Names a purchase to the flow that gave it out.
pub type Place = String;

/// How a purchase stands, as its customer is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not decided yet.
    Processing,
    /// The bank asks the customer, at this page.
    Asked(String),
    /// Paid: the order has this number.
    Paid(String),
    /// The card was declined.
    Declined,
    /// It has ended, and nothing came of it.
    Ended,
    /// The money came too late, and goes back.
    TooLate,
}

/// The hidden fields of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form(pub BTreeMap<String, String>);

impl Form {
    /// A field's value; empty when there is no such field.
    pub fn field(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// A customer: whom a shop recognizes by what it has given them.
#[derive(Clone, Debug)]
pub struct Customer {
    /// A name, and the name of their mailbox.
    pub name: String,
    /// Tells them from everybody else, for a shop that knows its customers without a cookie.
    pub id: Uuid,
    cookie: Arc<Mutex<Option<String>>>,
}

impl Customer {
    /// Somebody whom no shop knows yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            id: Uuid::new_v4(),
            cookie: Arc::default(),
        }
    }

    /// Where mails reach them.
    pub fn email(&self) -> String {
        format!("{}@example.com", self.name)
    }

    /// The cookie that their browser sends along.
    pub fn cookie(&self) -> Option<String> {
        let cookie = self.cookie.lock().unwrap_or_else(PoisonError::into_inner);
        cookie.clone()
    }

    /// Their browser keeps a cookie.
    pub fn keep(&self, cookie: &str) {
        let mut kept = self.cookie.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(cookie.to_owned());
    }
}

/// What a shop's own books say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Orders.
    pub orders: i64,
    /// Units that left the shelf for good.
    pub sold: i64,
    /// Invariants that do not hold, each with what is wrong.
    pub broken: Vec<Broken>,
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its name, or the kind of mistake.
    pub name: &'static str,
    /// What is wrong.
    pub detail: String,
}

impl Books {
    /// What the audit of a flow has found, and how many units that flow has sold.
    pub fn of(report: Report, sold: i64) -> Self {
        let broken = report.invariants.into_iter().flat_map(|invariant| {
            let name = invariant.name;
            let violations = invariant.violations.into_iter();
            violations.map(move |detail| Broken { name, detail })
        });
        Self {
            orders: report.counts.orders,
            sold,
            broken: broken.collect(),
        }
    }
}
