//! The goals, as ratios of one run, on a machine that has two processors for all of it.

use std::fmt;

use serde::Serialize;

use super::{
    database::Engine::{self, Postgres, Sqlite},
    report::Report,
};

/// A figure, and what it should be.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    engine: Engine,
    what: String,
    value: f64,
    bound: f64,
    /// Whether the bound is the least that it should be; else it is the most.
    at_least: bool,
}

impl Goal {
    fn is_met(&self) -> bool {
        if self.at_least {
            self.value >= self.bound
        } else {
            self.value <= self.bound
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let met = if self.is_met() { "met" } else { "missed" };
        let side = if self.at_least { "at least" } else { "at most" };
        let Self {
            engine,
            what,
            value,
            bound,
            ..
        } = self;
        write!(
            f,
            "{met:<7} {:<11} {what}: {value:.2}, {side} {bound}",
            engine.name()
        )
    }
}

/// Those about which something was measured.
pub fn judge(report: &Report) -> Vec<Goal> {
    let mut goals = Vec::new();
    let mut goal = |engine, what: &str, value: Option<f64>, bound, at_least| {
        goals.extend(value.map(|value| Goal {
            engine,
            what: what.to_owned(),
            value,
            bound,
            at_least,
        }));
    };
    for clients in [8, 32, 64] {
        let what = format!("{clients} clients beside the yardstick");
        goal(
            Postgres,
            &what,
            report.ratio(Postgres, "new", clients),
            0.5,
            true,
        );
    }
    let ratio = report.ratio(Sqlite, "new", 32);
    goal(Sqlite, "32 clients beside the yardstick", ratio, 1.0, true);
    let ratio = report.ratio(Sqlite, "slow disk", 32);
    goal(
        Sqlite,
        "32 clients beside the yardstick, on a slow disk",
        ratio,
        2.5,
        true,
    );
    for engine in [Sqlite, Postgres] {
        let rate = |name, clients| report.rate(engine, name, clients);
        let hot = over(rate("one product", Some(64)), rate("one product", Some(8)));
        goal(engine, "one product, 64 clients beside 8", hot, 0.9, true);
        let safe = over(rate("safe", None), rate("naive", None));
        goal(engine, "safe beside naive", safe, 0.9, true);
        let replay = over(rate("replay", None), rate("before the replay", None));
        goal(engine, "replays beside new ones", replay, 5.0, true);
        let old = over(rate("old", None), rate("young", None));
        goal(
            engine,
            "beside many old purchases and without",
            old,
            0.9,
            true,
        );
        let audit = report.value(engine, "audit: MB at most");
        goal(engine, "MB of an audit at most", audit, 200.0, false);
        let spread = report.spread(engine, "half the rate");
        goal(
            engine,
            "p99 beside p50 at half the rate",
            spread,
            6.0,
            false,
        );
        let fact = |name| report.value(engine, name);
        let storm = fact("storm: database, ms");
        goal(
            engine,
            "the database's milliseconds in a storm",
            storm,
            50.0,
            false,
        );
        let memory = [
            fact("shop: MB at most"),
            fact("simulator: MB at most"),
            fact("MB of these are the program that both are").map(|program| -program),
        ];
        let memory = memory.into_iter().sum::<Option<f64>>();
        goal(
            engine,
            "MB of shop and simulator at most",
            memory,
            64.0,
            false,
        );
        goal(
            engine,
            "milliseconds until it is ready",
            fact("ready after, ms"),
            200.0,
            false,
        );
        let idle = fact("idle: percent of a processor");
        goal(engine, "percent of a processor at rest", idle, 1.0, false);
    }
    goals
}

fn over(value: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(value? / other?)
}
