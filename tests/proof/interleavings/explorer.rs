//! Which orders there are, and how to see all of them without seeing any twice.
//!
//! A run is one order of the actors' steps, from the first to the last. Two runs that differ only in the order of independent
//! steps end the same, so one of them is enough. [`Explorer`] finds one of each kind by running again and again:
//!
//! ```text
//! run      A1 A2 B1 B2        B1 depends on A2, and could have come before it
//! next     A1 B1 …            so that order is run as well; and so on, until no run asks for another
//! ```
//!
//! It is dynamic partial-order reduction with source sets (Abdulla, Aronis, Jonsson and Sagonas, 2014) and sleep sets
//! (Godefroid, 1996). A run replays the beginning that it shares with the one before, so nothing of the world has to be
//! copied.

use std::collections::BTreeSet;

use super::touch::Touch;

/// Who takes a step: a place in the list of actors.
pub type Actor = usize;

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct Step {
    pub actor: Actor,
    pub touch: Touch,
}

/// How a run goes on.
#[derive(Debug, PartialEq, Eq)]
pub enum Choice {
    /// This one takes a step.
    Next(Actor),
    /// Not at all: all that can follow was seen already.
    Seen,
    /// It was to repeat the beginning of the run before, and does not.
    Astray,
}

/// Says who goes on, run after run.
#[derive(Debug, Default)]
pub struct Explorer {
    /// The points at which somebody was chosen, of the run under way or the last one.
    points: Vec<Point>,
    /// How many of them the run under way has passed.
    passed: usize,
}

#[derive(Debug)]
struct Point {
    chosen: Actor,
    able: Vec<Actor>,
    /// Who is to be chosen here, in some run.
    wanted: Vec<Actor>,
    /// Who was, and what their step touched.
    done: Vec<Step>,
    /// Whose step, taken here, leads to what was seen already.
    asleep: Vec<Step>,
}

impl Explorer {
    /// Who of those that are `able` goes on. `steps` are those of the run so far.
    pub fn choose(&mut self, able: &[Actor], steps: &[Step]) -> Choice {
        if let Some(point) = self.points.get(self.passed) {
            if point.able != able {
                return Choice::Astray;
            }
            self.passed += 1;
            return Choice::Next(point.chosen);
        }
        let asleep = self.asleep_after(steps);
        let is_awake = |actor: &Actor| asleep.iter().all(|step| step.actor != *actor);
        // Whoever was at it goes on, so that the first orders are the plainest.
        let last = steps.last().map(|step| step.actor);
        let chosen = last.filter(|actor| able.contains(actor) && is_awake(actor));
        let Some(chosen) = chosen.or_else(|| able.iter().copied().find(is_awake)) else {
            return Choice::Seen;
        };
        self.points.push(Point {
            chosen,
            able: able.to_vec(),
            wanted: vec![chosen],
            done: Vec::new(),
            asleep,
        });
        self.passed += 1;
        Choice::Next(chosen)
    }

    /// The run under way went astray: the same one follows.
    pub fn begin_again(&mut self) {
        self.passed = 0;
    }

    /// Plans the next run after one that took these `steps`, to its end or until all that follows was seen. `false`: there
    /// is no other order.
    pub fn goes_on(&mut self, steps: &[Step]) -> bool {
        self.want_what_races(steps);
        while let Some(mut point) = self.points.pop() {
            let step = steps.get(self.points.len()).expect("a step for each point");
            point.done.push(step.clone());
            let is_spent = |actor: &Actor| {
                let seen = point.done.iter().chain(&point.asleep);
                seen.clone().any(|step| step.actor == *actor)
            };
            if let Some(next) = point.wanted.iter().copied().find(|actor| !is_spent(actor)) {
                point.chosen = next;
                self.points.push(point);
                self.passed = 0;
                return true;
            }
        }
        false
    }

    /// Who sleeps where the last of `steps` has led: those that did before it, and that it did not disturb.
    fn asleep_after(&self, steps: &[Step]) -> Vec<Step> {
        let (Some(point), Some(last)) = (self.points.last(), steps.last()) else {
            return Vec::new();
        };
        let before = point.asleep.iter().chain(&point.done);
        before
            .filter(|step| step.actor != last.actor && !step.touch.depends_on(&last.touch))
            .cloned()
            .collect()
    }

    /// Two steps race when the second depends on the first and on nothing between that does. Where the first was taken, what
    /// came of the race the other way round is wanted: whatever did not depend on the first, and then the second.
    fn want_what_races(&mut self, steps: &[Step]) {
        // Those who sleep at the end would have gone on with these.
        let (taken, next) = (steps.len(), self.asleep_after(steps));
        let steps: Vec<&Step> = steps.iter().chain(&next).collect();
        // Of each step, those that happened before it: its actor's own, those that it depends on, and theirs.
        let mut pasts: Vec<Past> = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let mut past = Past::new();
            for earlier in (0..at.min(taken)).rev() {
                let is_own = steps[earlier].actor == step.actor;
                let meets = is_own || steps[earlier].touch.depends_on(&step.touch);
                if !meets || past.contains(&earlier) {
                    continue;
                }
                if !is_own {
                    let without = |between: &usize| !pasts[*between].contains(&earlier);
                    let instead: Vec<usize> =
                        (earlier + 1..at.min(taken)).filter(without).collect();
                    let firsts = firsts(&steps, &pasts, &instead, (at, &past));
                    self.points[earlier].want(&firsts);
                }
                past.insert(earlier);
                past.extend(&pasts[earlier]);
            }
            pasts.push(past);
        }
    }
}

type Past = BTreeSet<usize>;

/// Who can begin when the steps `instead` are taken, in some order that their dependences allow, and the one at `last`.
fn firsts(steps: &[&Step], pasts: &[Past], instead: &[usize], last: (usize, &Past)) -> Vec<Actor> {
    let (last, past) = last;
    let mut seen = BTreeSet::new();
    let mut firsts = Vec::new();
    for &at in instead.iter().chain([&last]) {
        let past = if at == last { past } else { &pasts[at] };
        let is_first_of_its_actor = seen.insert(steps[at].actor);
        if is_first_of_its_actor && !instead.iter().any(|earlier| past.contains(earlier)) {
            firsts.push(steps[at].actor);
        }
    }
    firsts
}

impl Point {
    /// Wants one of these to go first here; all that can, when none of these can.
    fn want(&mut self, firsts: &[Actor]) {
        let is_seen_to = |actor: &Actor| {
            self.wanted.contains(actor) || self.asleep.iter().any(|step| step.actor == *actor)
        };
        if firsts.iter().any(is_seen_to) {
            return;
        }
        match firsts.iter().find(|actor| self.able.contains(actor)) {
            Some(&one) => self.wanted.push(one),
            None => self.wanted.clone_from(&self.able),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATEMENTS: [&str; 4] = [
        "select 1 from a",
        "update a set x = 1",
        "select 1 from b",
        "update b set x = 1",
    ];

    /// Each actor's steps. What is written is seen at once.
    type Program = Vec<Vec<usize>>;

    fn touch(step: usize) -> Touch {
        let mut touch = Touch::statement(STATEMENTS[step]);
        touch.publish(&touch.clone());
        touch
    }

    /// An order, as who takes each step.
    type Order = Vec<Actor>;

    fn able(program: &Program, order: &[Actor]) -> Vec<Actor> {
        let taken = |actor: &Actor| order.iter().filter(|other| *other == actor).count();
        (0..program.len())
            .filter(|actor| taken(actor) < program[*actor].len())
            .collect()
    }

    fn steps(program: &Program, order: &[Actor]) -> Vec<Step> {
        let mut taken = vec![0; program.len()];
        let step = |&actor: &Actor| {
            taken[actor] += 1;
            Step {
                actor,
                touch: touch(program[actor][taken[actor] - 1]),
            }
        };
        order.iter().map(step).collect()
    }

    fn every_order(program: &Program) -> Vec<Order> {
        let mut whole = Vec::new();
        let mut begun = vec![Order::new()];
        while let Some(order) = begun.pop() {
            let able = able(program, &order);
            if able.is_empty() {
                whole.push(order);
                continue;
            }
            begun.extend(able.iter().map(|actor| [&order[..], &[*actor]].concat()));
        }
        whole
    }

    /// One for all orders that differ in independent steps only: the smallest of them.
    fn kind(program: &Program, order: &[Actor]) -> Order {
        let mut left = steps(program, order);
        let mut smallest = Order::new();
        while !left.is_empty() {
            let first = |at: &usize| {
                let step = &left[*at];
                let depends =
                    |other: &Step| other.actor == step.actor || other.touch.depends_on(&step.touch);
                !left[..*at].iter().any(depends)
            };
            let next = (0..left.len())
                .filter(first)
                .min_by_key(|at| left[*at].actor);
            smallest.push(left.remove(next.expect("the first of all")).actor);
        }
        smallest
    }

    fn explored(program: &Program) -> (Vec<Order>, usize) {
        let (mut whole, mut broken_off) = (Vec::new(), 0);
        let mut explorer = Explorer::default();
        loop {
            let mut order = Order::new();
            let is_whole = loop {
                let able = able(program, &order);
                if able.is_empty() {
                    break true;
                }
                match explorer.choose(&able, &steps(program, &order)) {
                    Choice::Next(actor) => order.push(actor),
                    Choice::Seen => break false,
                    Choice::Astray => panic!("a program does as it is told"),
                }
            };
            let taken = steps(program, &order);
            if is_whole {
                whole.push(order);
            } else {
                broken_off += 1;
            }
            if !explorer.goes_on(&taken) {
                return (whole, broken_off);
            }
        }
    }

    fn kinds(program: &Program, orders: &[Order]) -> BTreeSet<Order> {
        orders.iter().map(|order| kind(program, order)).collect()
    }

    #[test]
    fn what_has_nothing_to_do_with_each_other_is_seen_in_one_order() {
        assert_eq!(explored(&vec![vec![1; 5], vec![3; 5]]).0.len(), 1);
        assert_eq!(explored(&vec![vec![0; 5], vec![0; 5]]).0.len(), 1);
    }

    #[test]
    fn what_has_is_seen_in_every_order() {
        assert_eq!(explored(&vec![vec![1; 3], vec![1; 3]]).0.len(), 20);
        assert_eq!(explored(&vec![vec![1, 1], vec![1], vec![1]]).0.len(), 12);
    }

    fn programs() -> impl Strategy<Value = Program> {
        let steps = |most| prop::collection::vec(0..STATEMENTS.len(), 0..=most);
        prop_oneof![
            prop::collection::vec(steps(6), 2),
            prop::collection::vec(steps(3), 3),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

        /// Against the list of all orders: one of each kind is run, and none twice.
        #[test]
        fn each_kind_of_order_is_seen_once(program in programs()) {
            let (orders, broken_off) = explored(&program);
            let all = kinds(&program, &every_order(&program));
            prop_assert_eq!(kinds(&program, &orders), all.clone());
            prop_assert_eq!(orders.len(), all.len());
            prop_assert!(broken_off <= all.len(), "{} of {} are in vain", broken_off, all.len());
        }
    }
}
