//! The dice of chaos: which fault strikes, decided in a way that can be repeated.
//!
//! Whether the nth request of an operation meets a fault depends on the seed, the operation and n alone; the same
//! goes for the nth attempt to deliver events of a type to a URL. So a run can be replayed although its requests
//! arrive in another order: neither other operations, other endpoints nor the clock have a say. The decision is
//!
//! ```text
//! SHA-256 of "7/request/payment_intents.create/1"    seed 7, the first request
//!            "7/webhook/payment_intent.succeeded http://127.0.0.1:8000/hook/1"    seed 7, the first attempt
//! its first four bytes, as a big-endian number over 2^32: a point between 0 and 1
//! │ drop_request │ drop_response │ delay │ … │             no fault              │
//! 0                                                                              1
//! ```
//!
//! where each fault is as wide as its rate, in the order of [`ChaosRates`](super::ChaosRates). The next four bytes
//! say how long a delay is. Errors are 500, and duplicates two copies. A request that asks for a fault of its own in
//! a header is not counted.

use std::{collections::HashMap, time::Duration};

use sha2::{Digest, Sha256};

use super::{ApiFault, Chaos, WebhookFault};

/// The longest delay: long enough to be overtaken, and shorter than any client's patience.
const MAX_DELAY_MS: u32 = 500;

/// Chaos, and how far it has come.
#[derive(Debug)]
pub(super) struct Dice {
    chaos: Chaos,
    /// Requests of each operation so far.
    requests: HashMap<String, u64>,
    /// Attempts of each event type at each URL so far.
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

    /// What happens to the next attempt to deliver an event of this type to this URL.
    pub(super) fn webhook(&mut self, event_type: &str, url: &str) -> Option<WebhookFault> {
        let way = format!("{event_type} {url}");
        let number = next(&mut self.webhooks, &way);
        let roll = Roll::new(self.chaos.seed, "webhook", &way, number);
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
        let mut words = digest
            .as_chunks()
            .0
            .iter()
            .map(|bytes| u32::from_be_bytes(*bytes));
        let (first, second) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let point = f64::from(first) / 2_f64.powi(32);
        let delay_ms = second % MAX_DELAY_MS + 1;
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
    use super::{ApiFault, Chaos, Dice, Roll};
    use crate::simulator::ChaosRates;

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
        let roll = Roll::new(7, "request", "payment_intents.create", 1);
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
                other.webhook("payment_intents.create", "http://127.0.0.1/here");
                other.request("payment_intents.create")
            })
            .collect();
        assert_eq!(alone, among_others);
        assert_ne!(alone, rolls(&mut dice(8), "payment_intents.create", 200));
        assert_ne!(alone, rolls(&mut dice(7), "payment_intents.confirm", 200));
    }

    #[test]
    fn whichever_endpoint_is_tried_first_each_meets_its_own_faults() {
        let (here, there) = ("http://127.0.0.1/here", "http://127.0.0.1/there");
        let meets = |order: &[&str], of: &str| -> Vec<_> {
            let mut dice = dice(7);
            let attempts = order.iter().cycle().take(400);
            let rolls = attempts.map(|url| (*url, dice.webhook("charge.succeeded", url)));
            let met = rolls.filter(|(url, _)| *url == of).map(|(_, fault)| fault);
            met.take(100).collect()
        };
        for of in [here, there] {
            let (one, other) = (
                meets(&[here, there], of),
                meets(&[there, there, here, there], of),
            );
            assert_eq!(one, other);
        }
        assert_ne!(meets(&[here], here), meets(&[there], there));
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
}
