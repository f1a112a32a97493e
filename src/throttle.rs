//! Throttling: how often somebody has done something within a while, for those who do it too often.
//!
//! The counts are in memory, for each process by itself: they slow somebody down, and what must hold is in the database. A
//! window slides: what was done leaves it when it is old enough, and makes room for one more.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
};

use chrono::{DateTime, TimeDelta, Utc};

/// What each of many has done within a window. `S` is who, `W` tells one thing that was done from another.
#[derive(Debug)]
pub struct Throttle<S, W> {
    window: TimeDelta,
    subjects_max: usize,
    done: HashMap<S, VecDeque<(DateTime<Utc>, W)>>,
}

impl<S: Copy + Eq + Hash, W: PartialEq> Throttle<S, W> {
    /// Counts within `window`. So many are remembered of whom something is counted. With more, those are forgotten who have
    /// done nothing for a window; and everybody, when that is not enough: who has so many addresses is not stopped by
    /// counting them.
    pub fn new(window: TimeDelta, subjects_max: usize) -> Self {
        Self {
            window,
            subjects_max,
            done: HashMap::new(),
        }
    }

    /// How long `subject` has to wait until it may do one more, when `most` are let pass; `None` when it need not wait.
    pub fn wait(&mut self, subject: S, most: usize, now: DateTime<Utc>) -> Option<TimeDelta> {
        let Some(done) = self.done.get_mut(&subject) else {
            return (most == 0).then_some(self.window);
        };
        let since = now - self.window;
        while done.front().is_some_and(|(at, _)| *at <= since) {
            done.pop_front();
        }
        let too_many = done.len().checked_sub(most)?;
        let leaves = done.get(too_many).map_or(now, |(at, _)| *at);
        Some(leaves + self.window - now)
    }

    /// Whether `subject` has done this very thing.
    pub fn has(&self, subject: S, what: &W) -> bool {
        let done = self.done.get(&subject);
        done.is_some_and(|done| done.iter().any(|(_, it)| it == what))
    }

    /// Counts what `subject` does now.
    pub fn add(&mut self, subject: S, what: W, now: DateTime<Utc>) {
        if self.done.len() >= self.subjects_max && !self.done.contains_key(&subject) {
            self.make_room(now - self.window);
        }
        self.done.entry(subject).or_default().push_back((now, what));
    }

    /// Forgets what `subject` has done.
    pub fn forgive(&mut self, subject: S) {
        self.done.remove(&subject);
    }

    fn make_room(&mut self, since: DateTime<Utc>) {
        self.done
            .retain(|_, done| done.back().is_some_and(|(at, _)| *at > since));
        if self.done.len() >= self.subjects_max {
            self.done.clear();
        }
    }
}

/// What stands for one client: a subscriber has a whole /64 of IPv6, and may take another address of it for each request.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: TimeDelta = TimeDelta::minutes(10);

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes)
    }

    #[test]
    fn one_too_many_waits_until_the_first_has_left_the_window() {
        let mut throttle = Throttle::new(WINDOW, 9);
        for minute in [0, 4] {
            assert_eq!(throttle.wait("one", 2, at(minute)), None);
            throttle.add("one", (), at(minute));
        }
        assert_eq!(throttle.wait("one", 2, at(7)), Some(TimeDelta::minutes(3)));
        assert_eq!(throttle.wait("other", 2, at(7)), None);
        assert_eq!(throttle.wait("one", 2, at(10)), None);
        throttle.add("one", (), at(10));
        assert_eq!(throttle.wait("one", 2, at(10)), Some(TimeDelta::minutes(4)));
        // What was counted all the same, by whoever did not ask before, is waited for as well.
        throttle.add("one", (), at(11));
        assert_eq!(throttle.wait("one", 2, at(11)), Some(TimeDelta::minutes(9)));
    }

    #[test]
    fn with_none_allowed_everybody_waits() {
        let mut throttle = Throttle::<_, ()>::new(WINDOW, 9);
        assert_eq!(throttle.wait("one", 0, at(0)), Some(WINDOW));
    }

    #[test]
    fn who_is_forgiven_begins_anew() {
        let mut throttle = Throttle::new(WINDOW, 9);
        throttle.add("one", (), at(0));
        throttle.forgive("one");
        assert_eq!(throttle.wait("one", 1, at(0)), None);
    }

    #[test]
    fn it_remembers_so_many_and_no_more() {
        let mut throttle = Throttle::new(WINDOW, 3);
        for subject in 0..3 {
            throttle.add(subject, (), at(subject));
        }
        // Those who are old enough to be forgotten make room first.
        throttle.add(3, (), at(11));
        assert_eq!(throttle.done.len(), 2);
        assert!(throttle.wait(2, 1, at(11)).is_some());
        for subject in 4..100 {
            throttle.add(subject, (), at(11));
            assert!(throttle.done.len() <= 3);
            assert!(throttle.wait(subject, 1, at(11)).is_some());
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::2:3"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
