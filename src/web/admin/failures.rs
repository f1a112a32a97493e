//! Wrong passwords, counted for each address.
//!
//! Ten within ten minutes are let pass: more than anybody mistypes. Then the address is not listened to until ten minutes
//! since the first are over, whatever it sends, for whoever can tell a right guess apart has guessed. That makes 1,440 a day; a
//! password that was made up has 2^100.

use std::{collections::HashMap, net::IpAddr};

use chrono::{DateTime, TimeDelta, Utc};

/// So many wrong ones are let pass …
const TRIES: u32 = 10;

/// … within so long.
const WITHIN: TimeDelta = TimeDelta::minutes(10);

/// So many addresses are remembered. With more, the one that began first is forgotten: its time is over soonest.
const ADDRESSES_MAX: usize = 10_000;

/// Who was wrong, since when, and how often.
#[derive(Debug, Default)]
pub(super) struct Failures(HashMap<IpAddr, Failed>);

#[derive(Debug)]
struct Failed {
    since: DateTime<Utc>,
    times: u32,
}

impl Failed {
    fn over(&self) -> DateTime<Utc> {
        self.since + WITHIN
    }
}

impl Failures {
    /// How long an address is not listened to any more, if it is not.
    pub fn wait(&self, from: IpAddr, now: DateTime<Utc>) -> Option<TimeDelta> {
        let failed = self.0.get(&from)?;
        (failed.times >= TRIES && now < failed.over()).then(|| failed.over() - now)
    }

    /// Counts a wrong password.
    pub fn add(&mut self, from: IpAddr, now: DateTime<Utc>) {
        let is_known = self.0.get(&from).is_some_and(|it| now < it.over());
        if !is_known {
            self.make_room(now);
            self.0.insert(
                from,
                Failed {
                    since: now,
                    times: 0,
                },
            );
        }
        if let Some(failed) = self.0.get_mut(&from) {
            failed.times += 1;
        }
    }

    /// Forgets the wrong ones of who knows the right one.
    pub fn forgive(&mut self, from: IpAddr) {
        self.0.remove(&from);
    }

    fn make_room(&mut self, now: DateTime<Utc>) {
        if self.0.len() < ADDRESSES_MAX {
            return;
        }
        self.0.retain(|_, failed| now < failed.over());
        if self.0.len() >= ADDRESSES_MAX {
            let first = self.0.iter().min_by_key(|(_, failed)| failed.since);
            if let Some(&first) = first.map(|(address, _)| address) {
                self.0.remove(&first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn ten_are_let_pass_within_ten_minutes_and_each_address_has_its_own() {
        let (mut failures, start) = (Failures::default(), DateTime::UNIX_EPOCH);
        for _ in 0..TRIES {
            assert_eq!(failures.wait(address(1), start), None);
            failures.add(address(1), start);
        }
        assert_eq!(failures.wait(address(1), start), Some(WITHIN));
        assert_eq!(failures.wait(address(2), start), None);
        let end = start + WITHIN;
        assert!(
            failures
                .wait(address(1), end - TimeDelta::seconds(1))
                .is_some()
        );
        assert_eq!(failures.wait(address(1), end), None);
        // The ten minutes begin anew.
        failures.add(address(1), end);
        assert_eq!(failures.wait(address(1), end), None);
    }

    #[test]
    fn who_knows_it_begins_anew() {
        let (mut failures, now) = (Failures::default(), DateTime::UNIX_EPOCH);
        for _ in 1..TRIES {
            failures.add(address(1), now);
        }
        failures.forgive(address(1));
        failures.add(address(1), now);
        assert_eq!(failures.wait(address(1), now), None);
    }

    #[test]
    fn the_memory_is_bounded_and_the_oldest_goes_first() {
        let mut failures = Failures::default();
        let max = u32::try_from(ADDRESSES_MAX).expect("few");
        let at = |number: u32| DateTime::UNIX_EPOCH + TimeDelta::milliseconds(number.into());
        for number in 0..=max {
            for _ in 0..TRIES {
                failures.add(address(number), at(number));
            }
        }
        assert_eq!(failures.0.len(), ADDRESSES_MAX);
        assert_eq!(failures.wait(address(0), at(max)), None);
        assert!(failures.wait(address(1), at(max)).is_some());
        assert!(failures.wait(address(max), at(max)).is_some());
        // What is over goes without a need to choose.
        failures.add(address(max + 1), at(max) + WITHIN);
        assert_eq!(failures.0.len(), 1);
    }
}
