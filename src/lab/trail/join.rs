//! Which lines of the log are one step together.
//!
//! What one transaction does is one step, if nobody comes in between; and what is only said goes with what is done: with the
//! call that follows, or else with what was written down before. Workers come in between nobody's steps, and nobody in between
//! theirs.

use super::{
    sql,
    steps::{Lane, Part, Step},
};

/// The same steps, of which those are one that belong together.
pub(super) fn joined(steps: Vec<Step>) -> Vec<Step> {
    let mut steps = joined_where(steps, is_of_transaction);
    for step in &mut steps {
        step.is_bad |= undoes(step);
    }
    let steps = joined_where(steps, announces);
    joined_where(steps, sums_up)
}

/// A step and the next of the same activity are one if they `belong` together.
fn joined_where(steps: Vec<Step>, belong: fn(&Step, &Step) -> bool) -> Vec<Step> {
    let mut joined: Vec<Step> = Vec::new();
    for step in steps {
        match before(&mut joined, &step) {
            Some(last) if belong(last, &step) => last.take(step),
            _ => joined.push(step),
        }
    }
    joined
}

/// The step of the same activity before this one, if nobody has come in between.
fn before<'s>(steps: &'s mut [Step], step: &Step) -> Option<&'s mut Step> {
    let own = steps.iter().rposition(|it| it.activity == step.activity)?;
    let mut between = steps.iter().skip(own + 1);
    let is_alone = step.is_of_worker || between.all(|it| it.is_of_worker);
    steps.get_mut(own).filter(|_| is_alone)
}

/// Statements that follow one another are one step, up to the end of their transaction.
fn is_of_transaction(last: &Step, step: &Step) -> bool {
    let are_both = last.to == Lane::Database && step.to == Lane::Database;
    are_both && !step.has(&["begin"]) && !last.has(&["commit", "rollback"])
}

/// Whether something is undone, and be it the beginning that somebody else came after.
fn undoes(step: &Step) -> bool {
    let is_harmless = |part: &Part| {
        let has_written = sql::writes(&part.text) && !part.text.ends_with(": none");
        ["begin", "rollback"].contains(&part.text.as_str()) || !has_written
    };
    let is_idle = step.has(&["begin"]) && step.parts.iter().all(is_harmless);
    step.has(&["rollback"]) && !is_idle
}

/// Somebody says what they are about to call for.
fn announces(last: &Step, step: &Step) -> bool {
    last.is_note() && !last.is_bad && step.to == Lane::Provider && !step.is_note()
}

/// Somebody says what has come of what they have written down.
fn sums_up(last: &Step, step: &Step) -> bool {
    last.to == Lane::Database && step.is_note() && step.is_bad == last.is_bad
}

impl Step {
    /// What the lab does itself is a step of its own.
    fn is_note(&self) -> bool {
        self.from == self.to && !self.is_struck
    }

    fn has(&self, words: &[&str]) -> bool {
        self.parts
            .iter()
            .any(|part| words.contains(&part.text.as_str()))
    }

    /// Goes on with what comes after.
    fn take(&mut self, after: Self) {
        if self.is_note() {
            (self.from, self.to) = (after.from, after.to);
        }
        self.is_bad |= after.is_bad;
        for part in after.parts {
            if self.parts.last().is_none_or(|it| it.text != part.text) {
                self.parts.push(part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::super::{
        Activity, Line,
        steps::{of, samples::*},
    };
    use super::*;

    fn told(activities: &[Activity]) -> Vec<String> {
        let texts = |step: &Step| {
            let texts = step.parts.iter().map(|part| part.text.as_str());
            texts.collect::<Vec<_>>().join(", ")
        };
        of(activities).iter().map(texts).collect()
    }

    #[test]
    fn what_one_transaction_does_is_one_step() {
        let told = told(&[activity(vec![
            line("request", &[("method", "POST"), ("path", "/checkout")]),
            line("begin", &[]),
            line("statement", &[("sql", "insert into orders"), ("rows", "1")]),
            line("commit", &[]),
            line("begin", &[]),
            line("commit", &[]),
        ])]);
        let expected = [
            "POST /checkout",
            "begin, insert orders, commit",
            "begin, commit",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_said_goes_with_what_is_done() {
        let told = told(&[activity(vec![
            line("request", &[("method", "POST"), ("path", "/checkout")]),
            line("begin", &[]),
            line("commit", &[]),
            line("checkout submitted", &[]),
            line("charge", &[]),
            line("asked", &[("operation", "payment_intents.create")]),
            line("answered", &[("ended", "200 succeeded")]),
            line("thought better of it", &[]),
        ])]);
        let expected = [
            "POST /checkout",
            "begin, commit, checkout submitted",
            "charge, payment_intents.create",
            "200 succeeded",
            "thought better of it",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_the_lab_does_stands_alone() {
        let steps = of(&[activity(vec![
            line("begin", &[]),
            line("commit", &[]),
            Line {
                module: "boring_checkout::lab::runs::cue",
                ..line("the lab holds it up here", &[])
            },
            line("asked", &[("operation", "payment_intents.create")]),
        ])]);
        let is_struck: Vec<bool> = steps.iter().map(|step| step.is_struck).collect();
        assert_eq!(is_struck, [false, true, false]);
    }

    #[test]
    fn a_transaction_that_has_done_nothing_is_given_up_without_harm() {
        let is_bad = |sql: &str, rows: &str| {
            let steps = of(&[activity(vec![
                line("begin", &[]),
                line("statement", &[("sql", sql), ("rows", rows)]),
                line("rollback", &[]),
            ])]);
            steps.iter().any(|step| step.is_bad)
        };
        assert!(!is_bad("select * from orders", "1"));
        assert!(!is_bad("insert into orders (id) values ($1)", "0"));
        assert!(is_bad("insert into orders (id) values ($1)", "1"));
        assert!(of(&[activity(vec![line("rollback", &[])])])[0].is_bad);
    }

    #[test]
    fn others_come_in_between_and_workers_do_not() {
        let at = |seconds: i64, line: Line| Line {
            at: DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds),
            ..line
        };
        let request = |began: i64| {
            activity(vec![
                at(began, line("request", &[("method", "POST"), ("path", "/")])),
                at(began + 2, line("begin", &[])),
                at(began + 5, line("commit", &[])),
            ])
        };
        let worker = |began: i64| {
            activity(vec![
                at(began, line("begin", &[])),
                at(began + 2, line("commit", &[])),
            ])
        };
        let alone = ["POST /", "begin, commit", "begin, commit"];
        assert_eq!(told(&[request(0), worker(3)]), alone);
        let mixed = ["POST /", "POST /", "begin", "begin", "commit", "commit"];
        assert_eq!(told(&[request(0), request(1)]), mixed);
    }
}
