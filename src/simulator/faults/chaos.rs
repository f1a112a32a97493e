//! Chaos: faults at random, for soak tests, and the same ones again for the same seed.
//!
//! Whether the nth request of an operation meets a fault depends on the seed, the operation and n alone; the same
//! goes for the nth attempt to deliver an event of a type. So a run can be replayed although its requests arrive
//! in another order: neither other operations nor the clock have a say. The decision is
//!
//! ```text
//! SHA-256 of "7/request/payment_intents.create/1"    seed 7, the first request
//!            "7/webhook/payment_intent.succeeded/1"  seed 7, the first attempt
//! its first four bytes, as a big-endian number over 2^32: a point between 0 and 1
//! │ drop_request │ drop_response │ delay │ … │             no fault              │
//! 0                                                                              1
//! ```
//!
//! where each fault is as wide as its rate, in the order of [`ChaosRates`]. The next four bytes say how long a
//! delay is. Errors are 500, and duplicates two copies.

use std::{collections::HashMap, str::FromStr, time::Duration};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{ApiFault, WebhookFault};
use crate::simulator::refused::Refused;

/// The longest delay: long enough to be overtaken, and shorter than any client's patience.
const MAX_DELAY_MS: u32 = 500;

/// Rates that are meant to add up to 1 may miss it by as much, being binary fractions.
const ROUNDING: f64 = 1e-9;

/// Random faults that can be replayed.
///
/// ```
/// use boring_checkout::simulator::{Chaos, ChaosRates};
///
/// // A few of everything:
/// let chaos = Chaos::new(7);
/// // One answer in twenty is lost, and nothing else:
/// let lossy = Chaos { rates: ChaosRates { drop_response: 0.05, ..ChaosRates::NONE }, seed: 7 };
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chaos {
    /// The same seed, the same faults.
    pub seed: u64,
    /// How often each fault strikes.
    #[serde(default)]
    pub rates: ChaosRates,
}

/// The share of requests, or of delivery attempts, that each fault strikes: 0 is never, 1 is always.
///
/// Requests meet one fault at most, so the rates of the first group add up to at most 1; so do those of webhooks.
/// As text (`drop_response=0.05,webhook_drop=0.1`) and as JSON, rates that are not given are 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default = "ChaosRates::none")]
pub struct ChaosRates {
    /// Requests that are never processed, their connection closed.
    pub drop_request: f64,
    /// Requests that are processed and not answered, their connection closed.
    pub drop_response: f64,
    /// Requests that are processed at once and answered up to half a second later.
    pub delay: f64,
    /// Requests that are neither processed nor answered. Not among the defaults: only a timeout ends them.
    pub hang: f64,
    /// Requests that are answered 500 and not processed.
    pub error_before: f64,
    /// Requests that are processed and answered 500.
    pub error_after: f64,
    /// Requests that are answered 429 and not processed.
    pub rate_limit: f64,
    /// Attempts that are not sent, and retried later.
    pub webhook_drop: f64,
    /// Attempts that arrive twice.
    pub webhook_duplicate: f64,
    /// Attempts that are sent up to half a second later.
    pub webhook_delay: f64,
    /// Attempts that are held back until a later event was delivered.
    pub webhook_reorder: f64,
    /// Attempts whose signature does not verify.
    pub webhook_bad_signature: f64,
}

impl Chaos {
    /// A few of every fault but `hang`.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            rates: ChaosRates::default(),
        }
    }

    /// Reads the body of `POST /_control/chaos`. Rates are checked by [`Chaos::check`].
    pub(in crate::simulator) fn from_json(body: &[u8]) -> Result<Self, Refused> {
        serde_json::from_slice(body)
            .map_err(|error| Refused::new(format!("This is not chaos: {error}.")))
    }

    pub(in crate::simulator) fn check(&self) -> Result<(), Refused> {
        self.rates.check().map_err(|refused| refused.param("rates"))
    }
}

impl ChaosRates {
    /// Nothing ever goes wrong. To be refined: `ChaosRates { hang: 0.01, ..ChaosRates::NONE }`.
    pub const NONE: Self = Self {
        drop_request: 0.0,
        drop_response: 0.0,
        delay: 0.0,
        hang: 0.0,
        error_before: 0.0,
        error_after: 0.0,
        rate_limit: 0.0,
        webhook_drop: 0.0,
        webhook_duplicate: 0.0,
        webhook_delay: 0.0,
        webhook_reorder: 0.0,
        webhook_bad_signature: 0.0,
    };

    fn none() -> Self {
        Self::NONE
    }

    /// Each fault and its rate. A delay, should there be one, is this long.
    fn of_requests(&self, delay: Duration) -> [(ApiFault, f64); 7] {
        let error = StatusCode::INTERNAL_SERVER_ERROR;
        [
            (ApiFault::DropRequest, self.drop_request),
            (ApiFault::DropResponse, self.drop_response),
            (ApiFault::Delay(delay), self.delay),
            (ApiFault::Hang, self.hang),
            (ApiFault::ErrorBefore(error), self.error_before),
            (ApiFault::ErrorAfter(error), self.error_after),
            (ApiFault::RateLimit, self.rate_limit),
        ]
    }

    fn of_webhooks(&self, delay: Duration) -> [(WebhookFault, f64); 5] {
        [
            (WebhookFault::Drop, self.webhook_drop),
            (WebhookFault::Duplicate(2), self.webhook_duplicate),
            (WebhookFault::Delay(delay), self.webhook_delay),
            (WebhookFault::Reorder, self.webhook_reorder),
            (WebhookFault::BadSignature, self.webhook_bad_signature),
        ]
    }

    /// Refuses what is no share, what is more than everything, and what is nothing at all.
    fn check(&self) -> Result<(), Refused> {
        let requests = self.of_requests(Duration::ZERO);
        let requests = requests.map(|(fault, rate)| (fault.name().to_owned(), rate));
        let webhooks = self.of_webhooks(Duration::ZERO);
        let webhooks = webhooks.map(|(fault, rate)| (format!("webhook_{}", fault.name()), rate));
        for (name, rate) in requests.iter().chain(&webhooks) {
            if !(0.0..=1.0).contains(rate) {
                return Err(Refused::new(format!("{name} is between 0 and 1.")));
            }
        }
        let sum = |rates: &[(String, f64)]| rates.iter().map(|(_, rate)| rate).sum::<f64>();
        let (of_requests, of_webhooks) = (sum(&requests), sum(&webhooks));
        for (what, sum) in [("requests", of_requests), ("webhooks", of_webhooks)] {
            if sum > 1.0 + ROUNDING {
                let sentence =
                    format!("The rates of {what} add up to {sum}, and 1 is all of them.");
                return Err(Refused::new(sentence));
            }
        }
        if of_requests + of_webhooks <= 0.0 {
            return Err(Refused::new("With every rate 0, nothing ever goes wrong."));
        }
        Ok(())
    }
}

impl Default for ChaosRates {
    /// An eighth of all requests and a fifth of all attempts go wrong.
    fn default() -> Self {
        Self {
            drop_request: 0.02,
            drop_response: 0.02,
            delay: 0.02,
            hang: 0.0,
            error_before: 0.02,
            error_after: 0.02,
            rate_limit: 0.02,
            webhook_drop: 0.04,
            webhook_duplicate: 0.04,
            webhook_delay: 0.04,
            webhook_reorder: 0.04,
            webhook_bad_signature: 0.04,
        }
    }
}

/// `drop_response=0.05,webhook_drop=0.1`
impl FromStr for ChaosRates {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let mut rates = serde_json::Map::new();
        for pair in text.split(',').map(str::trim) {
            let malformed = || Refused::new("must be like drop_response=0.05,webhook_drop=0.1");
            let (name, rate) = pair.split_once('=').ok_or_else(malformed)?;
            let rate: f64 = rate.trim().parse().map_err(|_| malformed())?;
            let before = rates.insert(name.trim().to_owned(), rate.into());
            if before.is_some() {
                return Err(Refused::new(format!("{} is given twice", name.trim())));
            }
        }
        let rates: Self = serde_json::from_value(rates.into())
            .map_err(|error| Refused::new(error.to_string()))?;
        rates.check()?;
        Ok(rates)
    }
}

/// Chaos, and how far it has come.
#[derive(Debug)]
pub(super) struct Dice {
    chaos: Chaos,
    /// Requests of each operation so far.
    requests: HashMap<String, u64>,
    /// Attempts of each event type so far.
    webhooks: HashMap<String, u64>,
}

impl Dice {
    pub(super) fn new(chaos: Chaos) -> Self {
        Self {
            chaos,
            requests: HashMap::new(),
            webhooks: HashMap::new(),
        }
    }

    pub(super) fn chaos(&self) -> &Chaos {
        &self.chaos
    }

    /// What happens to the next request of this operation.
    pub(super) fn request(&mut self, operation: &str) -> Option<ApiFault> {
        let number = next(&mut self.requests, operation);
        let roll = Roll::new(self.chaos.seed, "request", operation, number);
        roll.falls_on(self.chaos.rates.of_requests(roll.delay))
    }

    /// What happens to the next attempt to deliver an event of this type.
    pub(super) fn webhook(&mut self, event_type: &str) -> Option<WebhookFault> {
        let number = next(&mut self.webhooks, event_type);
        let roll = Roll::new(self.chaos.seed, "webhook", event_type, number);
        roll.falls_on(self.chaos.rates.of_webhooks(roll.delay))
    }
}

/// The number of the next one of this name, from 1 on.
fn next(counts: &mut HashMap<String, u64>, name: &str) -> u64 {
    let count = counts.entry(name.to_owned()).or_default();
    *count += 1;
    *count
}

/// One decision.
#[derive(Clone, Copy, Debug)]
struct Roll {
    /// From 0 to just below 1.
    point: f64,
    delay: Duration,
}

impl Roll {
    fn new(seed: u64, what: &str, name: &str, number: u64) -> Self {
        let digest: [u8; 32] = Sha256::digest(format!("{seed}/{what}/{name}/{number}")).into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        let point = f64::from(u32::from_be_bytes([a, b, c, d])) / 2_f64.powi(32);
        let delay_ms = u32::from_be_bytes([e, f, g, h]) % MAX_DELAY_MS + 1;
        Self {
            point,
            delay: Duration::from_millis(delay_ms.into()),
        }
    }

    /// The faults stand side by side, each as wide as its rate, and behind the last there is room for none.
    fn falls_on<T>(&self, faults: impl IntoIterator<Item = (T, f64)>) -> Option<T> {
        let mut end = 0.0;
        faults.into_iter().find_map(|(fault, rate)| {
            end += rate;
            (self.point < end).then_some(fault)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiFault, Chaos, ChaosRates, Dice};

    const LOSSY: ChaosRates = ChaosRates {
        drop_response: 0.1,
        hang: 0.2,
        webhook_drop: 0.3,
        ..ChaosRates::NONE
    };

    fn dice(seed: u64) -> Dice {
        Dice::new(Chaos { seed, rates: LOSSY })
    }

    /// What the first requests of an operation meet.
    fn rolls(dice: &mut Dice, operation: &str, number: usize) -> Vec<Option<ApiFault>> {
        (0..number).map(|_| dice.request(operation)).collect()
    }

    /// From `printf 7/request/payment_intents.create/1 | sha256sum`: whoever has the seed can work it out, and no
    /// later version may decide otherwise.
    #[test]
    fn the_decisions_are_those_of_the_documented_hash() {
        let roll = super::Roll::new(7, "request", "payment_intents.create", 1);
        let expected = f64::from(0x4d7b_3201_u32) / f64::from(u32::MAX);
        assert!((roll.point - expected).abs() < 1e-9, "{roll:?}");
        assert_eq!(roll.delay.as_millis(), 0x763b_8344 % 500 + 1);
    }

    #[test]
    fn the_same_seed_rolls_the_same_whatever_comes_between() {
        let (mut one, mut other) = (dice(7), dice(7));
        let alone = rolls(&mut one, "payment_intents.create", 200);
        let among_others: Vec<_> = (0..200)
            .map(|_| {
                other.request("events.list");
                other.webhook("payment_intents.create");
                other.request("payment_intents.create")
            })
            .collect();
        assert_eq!(alone, among_others);
        assert_ne!(alone, rolls(&mut dice(8), "payment_intents.create", 200));
        assert_ne!(alone, rolls(&mut dice(7), "payment_intents.confirm", 200));
    }

    #[test]
    fn each_fault_has_about_its_share() {
        let rolls = rolls(&mut dice(7), "payment_intents.create", 10_000);
        let share = |of: Option<ApiFault>| rolls.iter().filter(|roll| **roll == of).count();
        // Four standard deviations, so that a seed is not chosen until it fits.
        assert!((880..=1120).contains(&share(Some(ApiFault::DropResponse))));
        assert!((1840..=2160).contains(&share(Some(ApiFault::Hang))));
        assert!((6816..=7184).contains(&share(None)));
    }

    #[test]
    fn rates_are_shares_and_no_more_than_everything() {
        let read = |text: &str| text.parse::<ChaosRates>();
        let lossy = read("drop_response=0.1, hang=0.2, webhook_drop=0.3");
        assert_eq!(lossy, Ok(LOSSY));
        assert!(read("drop_request=0.7,drop_response=0.2,delay=0.1").is_ok());
        assert!(read("webhook_drop=1").is_ok());
        for wrong in [
            "",
            "drop_response",
            "drop_response=x",
            "drop_response=NaN",
            "drop_response=-0.1",
            "drop_response=1.1",
            "drop_response=0.1,drop_response=0.1",
            "drop_response=0.6,hang=0.6",
            "webhook_drop=0.6,webhook_delay=0.6",
            "drop=0.1",
            "hang=0",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(ChaosRates::default().check().is_ok());
        assert!(ChaosRates::default().hang < f64::EPSILON);
    }
}
