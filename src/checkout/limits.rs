//! How many purchases one visitor, or one address, may begin in a while.
//!
//! Whoever has stolen a thousand card numbers tries them at a checkout, and whoever wants a rival sold out begins purchases
//! that hold the goods and pays none. Both need many purchases from few places, so those are counted, and one too many is
//! refused before it holds stock and before the provider hears of it.
//!
//! What is counted is the wish to buy, by its key: a double click, a reload and a retry are the same wish however often
//! they arrive, and are never refused. The counts are in memory, for each process by itself: they slow somebody down, and
//! what must hold is in the database.

use std::{
    collections::{HashMap, VecDeque},
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};

use super::IdempotencyKey;
use crate::ids::VisitorId;

/// The time within which purchases are counted.
const WINDOW: TimeDelta = TimeDelta::minutes(10);

/// How many are remembered of whom something is counted. Then those are forgotten who have begun nothing for a window;
/// and everybody, when that is not enough: who has so many addresses is not stopped by counting them.
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

/// What stands for one client: a subscriber has a whole /64 of IPv6, and may take another address of it for each request.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

/// How many each may begin within ten minutes; cheap to clone, and clones count together.
#[derive(Clone, Debug)]
pub struct Limits {
    per_visitor: usize,
    per_address: usize,
    begun: Arc<Mutex<HashMap<Subject, VecDeque<Begun>>>>,
}

/// A wish to buy, and when it was first seen.
type Begun = (DateTime<Utc>, IdempotencyKey);

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
            begun: Arc::default(),
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
        for subject in subjects {
            let wishes = begun.entry(*subject).or_default();
            while wishes.front().is_some_and(|(at, _)| *at <= now - WINDOW) {
                wishes.pop_front();
            }
            let is_known = wishes.iter().any(|(_, known)| *known == key);
            if !is_known && wishes.len() >= self.most(*subject) {
                let oldest = wishes.front().map_or(now, |(at, _)| *at);
                return Err(TooMany {
                    wait: oldest + WINDOW - now,
                });
            }
        }
        for subject in subjects {
            let wishes = begun.entry(*subject).or_default();
            if wishes.iter().all(|(_, known)| *known != key) {
                wishes.push_back((now, key));
            }
        }
        forget(&mut begun, now);
        Ok(())
    }

    fn most(&self, subject: Subject) -> usize {
        match subject {
            Subject::Visitor(_) => self.per_visitor,
            Subject::Address(_) => self.per_address,
        }
    }
}

/// Keeps the number of those who are remembered within its bound.
fn forget(begun: &mut HashMap<Subject, VecDeque<Begun>>, now: DateTime<Utc>) {
    if begun.len() > SUBJECTS_MAX {
        begun.retain(|_, wishes| wishes.back().is_some_and(|(at, _)| *at > now - WINDOW));
    }
    if begun.len() > SUBJECTS_MAX {
        begun.clear();
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
    fn a_network_of_ipv6_is_one_client() {
        let behind = |text: &str| Subject::behind(text.parse().expect("an address"));
        assert_eq!(behind("2001:db8::1"), behind("2001:db8::2:3"));
        assert_ne!(behind("2001:db8::1"), behind("2001:db8:0:1::1"));
        assert_ne!(behind("192.0.2.1"), behind("192.0.2.2"));
        assert_eq!(behind("127.0.0.1"), None);
        assert_eq!(behind("::1"), None);
    }

    #[test]
    fn it_remembers_so_many_and_no_more() {
        let limits = Limits::new(1, 1);
        let start = Utc::now();
        for i in 0..=SUBJECTS_MAX {
            let now = start + TimeDelta::milliseconds(i64::try_from(i).expect("few"));
            assert_eq!(wish(&limits, &[visitor()], now), Ok(()));
        }
        assert!(limits.begun.lock().expect("whole").len() <= SUBJECTS_MAX);
    }
}
