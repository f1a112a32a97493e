//! Who is in a history, and what they know.

use std::collections::BTreeMap;

use boring_checkout::lab::flow::{Answer, Customer, Form, NoAnswer, Place, Standing};

/// How many there are, and of what.
pub struct Crowd {
    pub customers: &'static [&'static str],
    /// SKUs, and the units of each.
    pub goods: &'static [(&'static str, i64)],
    /// How many moves a history has.
    pub moves: std::ops::Range<usize>,
}

/// Some who want many things.
pub const MARKET: Crowd = Crowd {
    customers: &["ann", "ben", "cem", "dee"],
    goods: &[("TEA-01", 12), ("MUG-01", 8), ("LMP-01", 2)],
    moves: 150..300,
};

/// Two who want the same.
pub const QUEUE: Crowd = Crowd {
    customers: &["ann", "ben"],
    goods: &[("LMP-01", 5)],
    moves: 60..200,
};

/// A customer, with all that they have in front of them.
pub struct Buyer {
    pub customer: Customer,
    /// Forms that they have opened.
    pub forms: Vec<Form>,
    /// Their purchases, and what they were told of each.
    pub purchases: BTreeMap<Place, Option<Standing>>,
    /// The bank's page that they saw last.
    pub bank: Option<String>,
}

impl Buyer {
    pub fn new(name: &'static str) -> Self {
        Self {
            customer: Customer::new(name),
            forms: Vec::new(),
            purchases: BTreeMap::new(),
            bank: None,
        }
    }

    /// Keeps what came back, and says what cannot be.
    pub fn hears(
        &mut self,
        at: Option<&Place>,
        answer: &Result<Answer, NoAnswer>,
    ) -> Result<(), String> {
        match answer {
            Ok(Answer::Form(form) | Answer::Refused(Some(form))) => self.forms.push(form.clone()),
            Ok(Answer::Place(place)) => {
                self.purchases.entry(place.clone()).or_default();
            }
            Ok(Answer::Standing(now)) => {
                if let Standing::Asked(page) = now {
                    self.bank = Some(page.clone());
                }
                let place = at.expect("they looked at one");
                let before = self
                    .purchases
                    .insert(place.clone(), Some(now.clone()))
                    .flatten();
                if before
                    .as_ref()
                    .is_some_and(|before| !may_follow(before, now))
                {
                    return Err(format!("after {before:?} its customer is told {now:?}"));
                }
            }
            Ok(Answer::Done | Answer::Refused(None)) | Err(NoAnswer) => {}
        }
        Ok(())
    }
}

/// What was decided stays so, whatever comes later.
fn may_follow(before: &Standing, now: &Standing) -> bool {
    match before {
        Standing::Processing | Standing::Asked(_) => true,
        Standing::Paid(_) | Standing::TooLate => before == now,
        Standing::Declined | Standing::Ended => before == now || *now == Standing::TooLate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_decided_stays_decided() {
        let paid = || Standing::Paid("7K3M-9QXT-2P".to_owned());
        for (before, now, may) in [
            (Standing::Processing, Standing::Declined, true),
            (Standing::Asked("p".to_owned()), Standing::Processing, true),
            (paid(), paid(), true),
            (paid(), Standing::Processing, false),
            (paid(), Standing::Paid("another".to_owned()), false),
            (Standing::Declined, paid(), false),
            (Standing::Declined, Standing::TooLate, true),
            (Standing::Ended, Standing::Processing, false),
        ] {
            assert_eq!(may_follow(&before, &now), may, "{before:?} {now:?}");
        }
    }
}
