//! The path of a payment. Read the files in this order:
//!
//! 1. [`purchase`]: what a form asks for, and what names it.
//! 2. [`payment_method`]: what it can be paid with.
//! 3. [`model`]: the checkout's row and its states.
//! 4. [`submit`](mod@submit): one form becomes at most one checkout, with its stock held. Committed before any call out.
//!    [`submit_error`] is why it became none.
//! 5. [`charge`](mod@charge): the provider is asked, with no transaction open.
//! 6. [`record`](mod@record): the outcome is written, once, by whoever learns it first.
//! 7. [`drive`](mod@drive): the lease that lets exactly one of many retries go on with an open checkout.
//! 8. `abandon`: a customer was asked by their bank, and never answered.
//! 9. [`reconciler`]: takes forward what nobody comes back for.
//! 10. [`earlier`]: the purchases a customer is reminded of before buying again.
//! 11. [`limits`]: who begins too many is slowed down.
//! 12. [`crowd`]: the copies of one form that come at the same moment.
//! 13. [`operator`]: what was submitted can be listed and found.
//!
//! ```text
//! POST /checkout ── submit ──┐
//! GET  /checkouts/{id} ──────┤
//! reconciler ────────────────┼── drive: lease ── charge ──┐
//!                            │                            ├── record ── one order
//! POST /webhooks/provider ───┴── processed event ─────────┘
//! ```

mod abandon;
pub mod charge;
pub mod crowd;
pub mod drive;
pub mod earlier;
pub mod limits;
pub mod model;
pub mod operator;
pub mod payment_method;
pub mod purchase;
pub mod reconciler;
pub mod record;
pub mod submit;
pub mod submit_error;

use std::sync::Arc;

use chrono::TimeDelta;

pub use self::{
    charge::charge,
    crowd::Crowds,
    drive::{drive, is_in_first_hands, resume},
    limits::Limits,
    model::{Checkout, CheckoutLine, Status},
    payment_method::PaymentMethod,
    purchase::{Browser, Buyer, IdempotencyKey, Purchase},
    record::{Verdict, record},
    submit::{Submitted, submit},
    submit_error::SubmitError,
};
use crate::{
    clock::Clock,
    db::Db,
    links::Links,
    pricing::Pricing,
    probe::Probe,
    provider::{Calls, Provider},
};

/// Where purchases are made: everything that the path of a payment works with.
#[derive(Clone, Debug)]
pub struct Till {
    /// The shop's database.
    pub db: Db,
    /// The payment provider.
    pub provider: Provider,
    /// The time.
    pub clock: Clock,
    /// How long one driver of a checkout has it to itself.
    pub lease: TimeDelta,
    /// How long a customer has to authenticate a payment.
    pub authentication_time: TimeDelta,
    /// How many purchases one visitor, or one address, may begin.
    pub limits: Limits,
    /// The copies of a form that have come at the same moment.
    pub crowds: Crowds,
    /// Where customers reach the shop, and the links that need no session: the provider sends them back there.
    pub links: Links,
    /// What is paid beside the goods.
    pub pricing: Arc<Pricing>,
}

impl Till {
    /// The same for one piece of work, and what the provider is asked in the course of it.
    pub fn noting(&self) -> (Self, Calls) {
        let calls = Calls::by(&self.clock);
        let till = Self {
            provider: self.provider.clone().noting(calls.clone()),
            ..self.clone()
        };
        (till, calls)
    }

    /// The same, with every boundary reported to `probe`: of the database and of the provider, and of the bus and the post,
    /// which ask the database's handle whom to tell.
    #[must_use = "the probe is on the returned till"]
    pub fn with_probe(&self, probe: &Probe) -> Self {
        Self {
            db: self.db.with_probe(probe.clone()),
            provider: self.provider.clone().with_probe(probe.clone()),
            ..self.clone()
        }
    }
}
