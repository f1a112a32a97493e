//! The payment provider, from the outside.
//!
//! This client knows the wire protocol and nothing of the shop. It speaks the part of the Stripe API that a
//! checkout uses, so the simulator and the real thing are the same to it: only the base URL differs.
//!
//! What comes back is an [`Outcome`], not a result: for a payment "I don't know" is a third answer beside yes
//! and no, and whoever receives it has to say what to do with each.

mod calls;
mod events;
mod outcome;
mod refund;
mod requests;
mod transport;
pub mod wire;

use std::{fmt, net::IpAddr, time::Duration};

use url::form_urlencoded;

pub use self::{
    calls::{Call, Calls},
    events::Events,
    outcome::{Doubt, Found, Outcome, Payment},
    refund::{RefundOutcome, RefundWish},
    transport::UnusableUrl,
};
use self::{
    transport::Transport,
    wire::{List, PaymentIntent},
};
use crate::{money::Money, probe::Probe, secret::Secret};

/// The provider's own bound for one page of a list.
const PAGE: &str = "100";

/// Pages that one look-up reads at most. More than that is answered with a doubt, not with half a list.
const PAGES_MAX: usize = 1_000;

/// How long a reading call goes on trying.
const READ_PATIENCE: Duration = Duration::from_secs(5);

/// A client of the provider; cheap to clone.
#[derive(Clone)]
pub struct Provider {
    transport: Transport,
}

/// What a payment intent is made of.
#[derive(Clone, Copy, Debug)]
pub struct Charge<'a> {
    /// How much.
    pub amount: Money,
    /// The provider's id of the payment method.
    pub payment_method: &'a str,
    /// What kind of method it is, in the provider's words: `card`, `sepa_debit`, …
    pub method_type: &'a str,
    /// The customer's mandate, for a method that needs one: without it no account may be debited.
    pub mandate: Option<Mandate<'a>>,
    /// Our own id, kept in the provider's metadata: what ties the payment to us when all answers are lost.
    pub checkout_id: &'a str,
    /// Where the provider sends the customer after an authentication.
    pub return_url: &'a str,
}

/// How the customer agreed that their account is debited.
/// <https://docs.stripe.com/api/payment_intents/confirm#confirm_payment_intent-mandate_data>
#[derive(Clone, Copy, Debug)]
pub enum Mandate<'a> {
    /// On a page of ours.
    Online {
        /// The address that they called from.
        address: IpAddr,
        /// Their browser.
        agent: &'a str,
    },
    /// Elsewhere, where whoever calls us has seen it.
    Offline,
}

/// The body of the call that creates and confirms a payment intent. It is stored before it is sent for the
/// first time, since a retry under the same key must carry the same bytes.
pub fn payment_intent_request(charge: &Charge<'_>) -> String {
    let mut request = form_urlencoded::Serializer::new(String::new());
    request
        .append_pair("amount", &charge.amount.minor.to_string())
        .append_pair("currency", charge.amount.currency.code())
        .append_pair("payment_method", charge.payment_method)
        .append_pair("payment_method_types[0]", charge.method_type)
        .append_pair("confirm", "true")
        .append_pair("return_url", charge.return_url)
        .append_pair("metadata[checkout_id]", charge.checkout_id);
    let acceptance = |part: &str| format!("mandate_data[customer_acceptance]{part}");
    match charge.mandate {
        None => {}
        Some(Mandate::Offline) => {
            request.append_pair(&acceptance("[type]"), "offline");
        }
        Some(Mandate::Online { address, agent }) => {
            request
                .append_pair(&acceptance("[type]"), "online")
                .append_pair(&acceptance("[online][ip_address]"), &address.to_string())
                .append_pair(&acceptance("[online][user_agent]"), agent);
        }
    }
    request.finish()
}

impl Provider {
    /// A client for the provider at `base_url`. `timeout` is for one attempt.
    pub fn new(base_url: &str, key: Secret, timeout: Duration) -> Result<Self, UnusableUrl> {
        let transport = Transport::new(base_url, key, timeout)?;
        Ok(Self { transport })
    }

    /// The same provider, which notes each of its calls in `calls`.
    #[must_use = "the returned client is the one that notes"]
    pub fn noting(self, calls: Calls) -> Self {
        let transport = self.transport.noting(calls);
        Self { transport }
    }

    /// The same provider, with every boundary of each attempt reported to `probe`.
    #[must_use = "the probe is on the returned client"]
    pub fn with_probe(self, probe: Probe) -> Self {
        let transport = self.transport.with_probe(probe);
        Self { transport }
    }

    /// Creates and confirms a payment intent from the bytes of [`payment_intent_request`], under `key`. An answer that
    /// is about another checkout's payment says nothing of this one.
    ///
    /// Retries what may be retried, with the same key and the same bytes, until `give_up` has passed; the last
    /// attempt may end one timeout later.
    pub async fn create_payment_intent(
        &self,
        key: &str,
        checkout_id: &str,
        body: &str,
        give_up: Duration,
    ) -> Outcome {
        let intent = self.create(key, body, give_up).await;
        Outcome::of_answered(intent.and_then(|intent| match intent.checkout_id() {
            Some(id) if id == checkout_id => Ok(intent),
            _ => Err(Doubt::Unexpected),
        }))
    }

    /// The same, of any bytes that make a payment intent: whether the answer is about it is for the caller to see.
    pub async fn create(
        &self,
        key: &str,
        body: &str,
        give_up: Duration,
    ) -> Result<PaymentIntent, Doubt> {
        let path = "/v1/payment_intents";
        let operation = "payment_intents.create";
        let answer = self.transport.post(operation, path, key, body, give_up);
        PaymentIntent::of_answer(&answer.await?)
    }

    /// How the payment intent `id` stands now.
    pub async fn retrieve(&self, id: &str) -> Outcome {
        let path = format!("/v1/payment_intents/{}", percent_encode(id));
        let answer = self
            .transport
            .get("payment_intents.retrieve", &path, READ_PATIENCE);
        let answer = answer.await;
        Outcome::of_answered(answer.and_then(|answer| PaymentIntent::of_answer(&answer)))
    }

    /// Gives the payment intent `id` up, under `key`. The answer is how it stands then: one that has succeeded meanwhile
    /// is not given up, and the refusal says so.
    pub async fn cancel(&self, id: &str, key: &str, give_up: Duration) -> Outcome {
        let path = format!("/v1/payment_intents/{}/cancel", percent_encode(id));
        let body = "cancellation_reason=abandoned";
        let operation = "payment_intents.cancel";
        let answer = self.transport.post(operation, &path, key, body, give_up);
        let answer = answer.await;
        Outcome::of_answered(answer.and_then(|answer| PaymentIntent::of_answer(&answer)))
    }

    /// Looks for the payment intent whose metadata names `checkout_id`, among all created since an instant (Unix
    /// seconds, included, by the provider's clock).
    pub async fn find(&self, checkout_id: &str, since: i64) -> Found {
        // Money in one of them settles it. The newest come first and ours is seldom old, so a busy day is not read to its
        // beginning.
        let is_paid = |page: &[PaymentIntent]| {
            let found = Found::among(page, checkout_id);
            matches!(found, Found::Payment(Outcome::Paid(_)))
        };
        match self.list_until(since, is_paid).await {
            Ok(intents) => Found::among(&intents, checkout_id),
            Err(doubt) => Found::Unknown(doubt),
        }
    }

    /// All payment intents created since an instant (Unix seconds, included, by the provider's clock), newest first.
    pub async fn list(&self, since: i64) -> Result<Vec<PaymentIntent>, Doubt> {
        let mut intents = Vec::new();
        self.each_page(since, |page| intents.extend(page)).await?;
        Ok(intents)
    }

    /// The same, a page at a time, for who does not want to have all of them in memory.
    pub async fn each_page(
        &self,
        since: i64,
        mut look: impl FnMut(Vec<PaymentIntent>) + Send,
    ) -> Result<(), Doubt> {
        let mut last: Option<String> = None;
        loop {
            let page = self.page(since, last.as_deref()).await?;
            last = page.data.last().map(|intent| intent.id.clone());
            look(page.data);
            match (page.has_more, &last) {
                (false, _) => return Ok(()),
                (true, Some(_)) => {}
                (true, None) => return Err(Doubt::Unexpected),
            }
        }
    }

    /// Those up to the first page that is enough.
    async fn list_until(
        &self,
        since: i64,
        is_enough: impl Fn(&[PaymentIntent]) -> bool,
    ) -> Result<Vec<PaymentIntent>, Doubt> {
        let mut intents: Vec<PaymentIntent> = Vec::new();
        for _ in 0..PAGES_MAX {
            let last = intents.last().map(|intent| intent.id.as_str());
            let page = self.page(since, last).await?;
            let is_last = !page.has_more || is_enough(&page.data);
            intents.extend(page.data);
            if is_last {
                return Ok(intents);
            }
        }
        Err(Doubt::Unexpected)
    }

    async fn page(&self, since: i64, last: Option<&str>) -> Result<List<PaymentIntent>, Doubt> {
        let path = page_path(since, last);
        let answer = self
            .transport
            .get("payment_intents.list", &path, READ_PATIENCE);
        answer.await?.parse()
    }

    /// Whether the provider answers, and accepts our key.
    pub async fn ping(&self) -> Result<(), Doubt> {
        let answer = self
            .transport
            .get(
                "payment_intents.list",
                "/v1/payment_intents?limit=1",
                Duration::ZERO,
            )
            .await?;
        answer.parse::<List<PaymentIntent>>().map(|_| ())
    }

    /// How many requests, each attempt, were answered how, since this process began: `ok`, `refused` (a decline, too), `busy`
    /// (asked to come again), `error`, or `no_answer`.
    pub fn requests(&self) -> Vec<(&'static str, u64)> {
        self.transport.requests().counts()
    }

    /// Whether the key is one for real money.
    pub fn is_live(&self) -> bool {
        self.transport.is_live()
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Provider({})", self.transport.base_url())
    }
}

/// The page of payment intents that follows the one named `last`.
fn page_path(since: i64, last: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query
        .append_pair("limit", PAGE)
        .append_pair("created[gte]", &since.to_string());
    if let Some(last) = last {
        query.append_pair("starting_after", last);
    }
    format!("/v1/payment_intents?{}", query.finish())
}

/// An id from outside becomes one segment of a path.
fn percent_encode(id: &str) -> String {
    form_urlencoded::byte_serialize(id.as_bytes()).collect()
}
