//! Faults: what goes wrong on the way to a payment provider, at the moment a test asks for it.
//!
//! ```text
//! client ── request ──► │ drop_request, hang, error_before, rate_limit      nothing happened
//!                       │    the operation, committed
//! client ◄── answer ─── │ drop_response, delay, error_after                 it happened
//! ```
//!
//! A fault waits for some requests (or for the delivery of some webhooks): it lets `skip` of them pass and then
//! strikes `times` of them. Every matching fault counts every request, and the oldest one that is due strikes.
//! What none of them strikes is left to chaos, when there is any. Faults are kept in memory; a restart clears them.

mod chaos;
mod check;
mod dice;
mod effect;
mod fault;
mod scope;

use std::sync::{Mutex, PoisonError};

use serde::Serialize;

pub use self::{
    chaos::{Chaos, ChaosRates},
    fault::{Fault, OnRequests, OnWebhooks},
};
pub(super) use self::{
    check::from_header,
    effect::{ApiFault, WebhookFault},
    scope::MetRequest,
};
use self::{dice::Dice, effect::Effect};
use super::refused::Refused;

/// More waiting faults than any test sets by hand; a loop that forgot to clear them ends here.
const MAX_FAULTS: usize = 1000;

/// A fault that waits for its moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArmedFault {
    /// Names it in lists; never used twice by one running simulator.
    pub id: u64,
    /// As it was asked for.
    #[serde(flatten)]
    pub fault: Fault,
    /// Matching requests, or delivery attempts, since it was armed.
    pub seen: u64,
    /// How many of them it struck. When all its times are used up it is gone from the list.
    pub struck: u32,
}

#[derive(Debug)]
struct Waiting {
    shown: ArmedFault,
    effect: Effect,
}

/// All faults that wait, and chaos.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last_id: u64,
    waiting: Vec<Waiting>,
    dice: Option<Dice>,
}

impl Faults {
    pub(super) fn with_chaos(chaos: Option<Chaos>) -> Self {
        let dice = chaos.map(Dice::new);
        Self(Mutex::new(State {
            dice,
            ..State::default()
        }))
    }

    pub(super) fn arm(&self, fault: Fault) -> Result<ArmedFault, Refused> {
        let effect = fault.effect()?;
        self.with(|state| {
            if state.waiting.len() >= MAX_FAULTS {
                return Err(Refused::new(format!(
                    "There are {MAX_FAULTS} faults waiting already: clear them."
                )));
            }
            state.last_id += 1;
            let shown = ArmedFault {
                id: state.last_id,
                fault,
                seen: 0,
                struck: 0,
            };
            state.waiting.push(Waiting {
                shown: shown.clone(),
                effect,
            });
            Ok(shown)
        })
    }

    /// The oldest first.
    pub(super) fn list(&self) -> Vec<ArmedFault> {
        self.with(|state| state.waiting.iter().map(|it| it.shown.clone()).collect())
    }

    /// Returns how many there were.
    pub(super) fn clear(&self) -> usize {
        self.with(|state| state.waiting.drain(..).count())
    }

    /// Rolls dice for whatever no armed fault strikes, from the first request on; `None` ends it.
    pub(super) fn set_chaos(&self, chaos: Option<Chaos>) {
        self.with(|state| state.dice = chaos.map(Dice::new));
    }

    pub(super) fn chaos(&self) -> Option<Chaos> {
        self.with(|state| state.dice.as_ref().map(|dice| dice.chaos().clone()))
    }

    /// The fault that strikes a request.
    pub(super) fn strike_request(&self, request: MetRequest<'_>) -> Option<ApiFault> {
        self.with(|state| {
            let armed = state.strike(|it| match it.effect {
                Effect::OnApi(effect) => it.shown.fault.on.meets_request(request).then_some(effect),
                Effect::OnWebhook(_) => None,
            });
            // Rolled also when an armed fault strikes: the numbers after it stay the same.
            let rolled = state
                .dice
                .as_mut()
                .and_then(|dice| dice.request(request.operation));
            armed.or(rolled)
        })
    }

    /// The fault that strikes an attempt to deliver an event of this type to this URL.
    pub(super) fn strike_webhook(&self, event_type: &str, url: &str) -> Option<WebhookFault> {
        self.with(|state| {
            let armed = state.strike(|it| match it.effect {
                Effect::OnWebhook(effect) => it
                    .shown
                    .fault
                    .on
                    .meets_webhook(event_type, url)
                    .then_some(effect),
                Effect::OnApi(_) => None,
            });
            let rolled = state
                .dice
                .as_mut()
                .and_then(|dice| dice.webhook(event_type, url));
            armed.or(rolled)
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    /// Counts for every fault that has an effect here, and returns that of the oldest one which is due.
    fn strike<T>(&mut self, effect_here: impl Fn(&Waiting) -> Option<T>) -> Option<T> {
        let mut struck = None;
        for it in &mut self.waiting {
            let Some(effect) = effect_here(it) else {
                continue;
            };
            it.shown.seen += 1;
            if struck.is_none() && it.shown.seen > u64::from(it.shown.fault.skip) {
                it.shown.struck += 1;
                struck = Some(effect);
            }
        }
        self.waiting
            .retain(|it| it.shown.struck < it.shown.fault.times);
        struck
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiFault, Fault, Faults, MetRequest, WebhookFault};

    fn armed(faults: impl IntoIterator<Item = Fault>) -> Faults {
        let armed = Faults::default();
        for fault in faults {
            armed.arm(fault).unwrap();
        }
        armed
    }

    fn request<'r>(operation: &'r str, key: Option<&'r str>, path: &'r str) -> MetRequest<'r> {
        MetRequest {
            operation,
            key,
            path,
        }
    }

    fn creation(key: Option<&str>) -> MetRequest<'_> {
        request("payment_intents.create", key, "/v1/payment_intents")
    }

    #[test]
    fn a_fault_skips_then_strikes_then_is_gone() {
        let faults = armed([Fault::on_operation("payment_intents.create")
            .hang()
            .skip(1)
            .times(2)]);
        let strikes: Vec<bool> = (0..5)
            .map(|_| faults.strike_request(creation(None)).is_some())
            .collect();
        assert_eq!(strikes, [false, true, true, false, false]);
        assert!(faults.list().is_empty());
    }

    #[test]
    fn a_fault_strikes_however_many_it_skips() {
        let faults = armed([Fault::on_operation("*").hang().skip(u32::MAX)]);
        faults.with(|state| {
            for it in &mut state.waiting {
                it.shown.seen = (u32::MAX - 1).into();
            }
        });
        assert_eq!(faults.strike_request(creation(None)), None);
        let struck = faults.strike_request(creation(None));
        assert_eq!(struck, Some(ApiFault::Hang));
    }

    #[test]
    fn two_faults_count_the_same_requests() {
        let any = || Fault::on_operation("*");
        let faults = armed([any().drop_request(), any().drop_response().skip(1)]);
        let list = request("events.list", None, "/v1/events");
        assert_eq!(faults.strike_request(list), Some(ApiFault::DropRequest));
        assert_eq!(faults.strike_request(list), Some(ApiFault::DropResponse));
        assert_eq!(faults.strike_request(list), None);
    }

    #[test]
    fn all_that_a_fault_is_on_has_to_match() {
        let confirm = "/v1/payment_intents/pi_1/confirm";
        let meets = |fault: Fault, request| armed([fault]).strike_request(request).is_some();
        assert!(meets(Fault::on_key("k").hang(), creation(Some("k"))));
        assert!(!meets(Fault::on_key("k").hang(), creation(Some("kk"))));
        assert!(!meets(Fault::on_key("k").hang(), creation(None)));
        let confirmation = request("payment_intents.confirm", Some("k"), confirm);
        for path in [confirm, "/v1/payment_intents/pi_1*", "/v1/*", "*"] {
            assert!(meets(Fault::on_path(path).hang(), confirmation), "{path}");
        }
        for path in ["/v1/payment_intents/pi_1", "/v1/payment_intents/pi_2/*"] {
            assert!(!meets(Fault::on_path(path).hang(), confirmation), "{path}");
        }
        let both = || Fault::on_operation("payment_intents.confirm").key("k");
        assert!(meets(both().hang(), confirmation));
        assert!(!meets(both().hang(), creation(Some("k"))));
        assert!(!meets(
            both().path("/v1/payment_intents/pi_2*").hang(),
            confirmation
        ));
    }

    #[test]
    fn a_webhook_fault_leaves_requests_and_other_endpoints_alone() {
        let (here, there) = ("http://127.0.0.1/here", "http://127.0.0.1/there");
        let faults = armed([Fault::on_endpoint(here).webhook("charge.succeeded").drop()]);
        assert_eq!(faults.strike_request(creation(None)), None);
        assert_eq!(faults.strike_webhook("charge.succeeded", there), None);
        assert_eq!(faults.strike_webhook("charge.failed", here), None);
        let struck = faults.strike_webhook("charge.succeeded", here);
        assert_eq!(struck, Some(WebhookFault::Drop));
    }
}
