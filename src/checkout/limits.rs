//! How many purchases one visitor, or one address, may begin in a while.
//!
//! Whoever has stolen a thousand card numbers tries them at a checkout, and whoever wants a rival sold out begins purchases
//! that hold the goods and pays none. Both need many purchases from few places, so those are counted, and one too many is
//! refused before it holds stock and before the provider hears of it.
//!
//! What is counted is the wish to buy, by its key: a double click, a reload and a retry are the same wish however often
//! they arrive, and are never refused.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};

use super::IdempotencyKey;
use crate::{
    ids::VisitorId,
    throttle::{Throttle, network},
};

/// The time within which purchases are counted.
const WINDOW: TimeDelta = TimeDelta::minutes(10);

/// How many are remembered of whom something is counted.
const SUBJECTS_MAX: usize = 100_000;

/// Whom a purchase counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Whoever has the session.
    Visitor(VisitorId),
    /// Whoever is behind the address.
    Address(IpAddr),
}

impl Subject {
    /// Whoever is behind `address`; `None` at this machine itself, where nobody is a stranger.
    pub fn behind(address: IpAddr) -> Option<Self> {
        (!address.is_loopback()).then(|| Self::Address(network(address)))
    }
}

/// How many each may begin within ten minutes; cheap to clone, and clones count together.
#[derive(Clone, Debug)]
pub struct Limits {
    per_visitor: usize,
    per_address: usize,
    begun: Arc<Mutex<Throttle<Subject, IdempotencyKey>>>,
}

/// There were too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// Until another one may begin.
    pub wait: TimeDelta,
}

impl Limits {
    /// So many for each session, and for each address.
    pub fn new(per_visitor: usize, per_address: usize) -> Self {
        Self {
            per_visitor,
            per_address,
            begun: Arc::new(Mutex::new(Throttle::new(WINDOW, SUBJECTS_MAX))),
        }
    }

    /// Counts the purchase named `key` against each of `subjects`, unless one of them has begun too many.
    pub fn admit(
        &self,
        subjects: &[Subject],
        key: IdempotencyKey,
        now: DateTime<Utc>,
    ) -> Result<(), TooMany> {
        // Whoever panicked in here left a count, and any count is a good one.
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        for &subject in subjects {
            let wait = begun.wait(subject, self.most(subject), now);
            if let (Some(wait), false) = (wait, begun.has(subject, &key)) {
                return Err(TooMany { wait });
            }
        }
        for &subject in subjects {
            if !begun.has(subject, &key) {
                begun.add(subject, key, now);
            }
        }
        Ok(())
    }

    fn most(&self, subject: Subject) -> usize {
        match subject {
            Subject::Visitor(_) => self.per_visitor,
            Subject::Address(_) => self.per_address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor() -> Subject {
        Subject::Visitor(VisitorId::new())
    }

    fn wish(limits: &Limits, subjects: &[Subject], now: DateTime<Utc>) -> Result<(), TooMany> {
        limits.admit(subjects, IdempotencyKey::fresh(), now)
    }

    #[test]
    fn one_too_many_waits_until_the_first_is_ten_minutes_old() {
        let (limits, now) = (Limits::new(2, 9), Utc::now());
        let (one, other) = ([visitor()], [visitor()]);
        assert_eq!(wish(&limits, &one, now), Ok(()));
        assert_eq!(wish(&limits, &one, now + TimeDelta::minutes(4)), Ok(()));
        let wait = TimeDelta::minutes(3);
        let at = |minutes| now + TimeDelta::minutes(minutes);
        assert_eq!(wish(&limits, &one, at(7)), Err(TooMany { wait }));
        assert_eq!(wish(&limits, &other, at(7)), Ok(()));
        assert_eq!(wish(&limits, &one, at(10)), Ok(()));
        assert!(wish(&limits, &one, at(10)).is_err());
    }

    #[test]
    fn the_same_wish_is_counted_once_and_never_refused() {
        let (limits, now) = (Limits::new(1, 1), Utc::now());
        let (subjects, key) = ([visitor()], IdempotencyKey::fresh());
        for _ in 0..100 {
            assert_eq!(limits.admit(&subjects, key, now), Ok(()));
        }
        assert!(wish(&limits, &subjects, now).is_err());
        assert_eq!(limits.admit(&subjects, key, now), Ok(()));
    }

    #[test]
    fn what_one_subject_is_refused_counts_against_no_other() {
        let (limits, now) = (Limits::new(1, 2), Utc::now());
        let address = Subject::Address([192, 0, 2, 1].into());
        let impatient = visitor();
        assert_eq!(wish(&limits, &[impatient, address], now), Ok(()));
        for _ in 0..10 {
            assert!(wish(&limits, &[address, impatient], now).is_err());
        }
        assert_eq!(wish(&limits, &[visitor(), address], now), Ok(()));
        assert!(wish(&limits, &[visitor(), address], now).is_err());
    }

    #[test]
    fn nobody_at_this_machine_is_a_stranger() {
        let behind = |text: &str| Subject::behind(text.parse().expect("an address"));
        assert_eq!(behind("2001:db8::1"), behind("2001:db8::2:3"));
        assert_ne!(behind("192.0.2.1"), None);
        assert_eq!(behind("127.0.0.1"), None);
        assert_eq!(behind("::1"), None);
    }
}
