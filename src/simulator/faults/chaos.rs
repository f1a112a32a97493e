//! Chaos: faults at random, for soak tests, and the same ones again for the same seed.
//!
//! How often each fault strikes is said here; which request it strikes is for the [`dice`](super::dice).

use std::{fmt, str::FromStr, time::Duration};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::{ApiFault, WebhookFault};
use crate::simulator::refused::Refused;

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
    pub(super) fn of_requests(&self, delay: Duration) -> [(ApiFault, f64); 7] {
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

    pub(super) fn of_webhooks(&self, delay: Duration) -> [(WebhookFault, f64); 5] {
        [
            (WebhookFault::Drop, self.webhook_drop),
            (WebhookFault::Duplicate(2), self.webhook_duplicate),
            (WebhookFault::Delay(delay), self.webhook_delay),
            (WebhookFault::Reorder, self.webhook_reorder),
            (WebhookFault::BadSignature, self.webhook_bad_signature),
        ]
    }

    /// The rates of requests, by name.
    fn named_of_requests(&self) -> Vec<(String, f64)> {
        let rates = self.of_requests(Duration::ZERO).into_iter();
        rates
            .map(|(fault, rate)| (fault.name().to_owned(), rate))
            .collect()
    }

    /// The rates of webhooks, by name.
    fn named_of_webhooks(&self) -> Vec<(String, f64)> {
        let rates = self.of_webhooks(Duration::ZERO).into_iter();
        rates
            .map(|(fault, rate)| (format!("webhook_{}", fault.name()), rate))
            .collect()
    }

    /// Refuses what is no share, what is more than everything, and what is nothing at all.
    fn check(&self) -> Result<(), Refused> {
        let mut all = 0.0;
        for (what, rates) in [
            ("requests", self.named_of_requests()),
            ("webhooks", self.named_of_webhooks()),
        ] {
            let mut sum = 0.0;
            for (name, rate) in rates {
                if !(0.0..=1.0).contains(&rate) {
                    return Err(Refused::new(format!("{name} is between 0 and 1.")));
                }
                sum += rate;
            }
            if sum > 1.0 + ROUNDING {
                let sentence =
                    format!("The rates of {what} add up to {sum}, and 1 is all of them.");
                return Err(Refused::new(sentence));
            }
            all += sum;
        }
        if all <= 0.0 {
            return Err(Refused::new("With every rate 0, nothing ever goes wrong."));
        }
        Ok(())
    }
}

/// The rates that are not 0, as they are read: `drop_response=0.05,webhook_drop=0.1`.
impl fmt::Display for ChaosRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [self.named_of_requests(), self.named_of_webhooks()].concat();
        let in_use = all.iter().filter(|(_, rate)| *rate > 0.0);
        let pairs: Vec<String> = in_use
            .map(|(name, rate)| format!("{name}={rate}"))
            .collect();
        f.write_str(&pairs.join(","))
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

#[cfg(test)]
mod tests {
    use super::ChaosRates;

    #[test]
    fn rates_are_shares_and_no_more_than_everything() {
        let read = |text: &str| text.parse::<ChaosRates>();
        let lossy = read("drop_response=0.1, hang=0.2, webhook_drop=0.3");
        assert_eq!(
            lossy,
            Ok(ChaosRates {
                drop_response: 0.1,
                hang: 0.2,
                webhook_drop: 0.3,
                ..ChaosRates::NONE
            })
        );
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
        let default = ChaosRates::default();
        assert_eq!(read(&default.to_string()), Ok(default));
        assert!(ChaosRates::default().hang < f64::EPSILON);
    }
}
