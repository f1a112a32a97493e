//! What is told of a sweep: a line for each story, and each violation with the command that repeats it.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Flow,
    alone::Alone,
    run::{Ended, Run},
    scenarios::Scenario,
    strike::Strikes,
    verdict::Violation,
};

/// Of one kind in one story so many are shown. The rest has the same reason, most likely.
const SHOWN: usize = 3;

/// What was found.
#[derive(Debug)]
pub struct Report {
    /// Which shop was swept.
    pub flow: Flow,
    /// On which engine.
    pub is_postgres: bool,
    /// Whether two faults struck in each run.
    pub pairs: bool,
    /// Each story.
    pub rows: Vec<Row>,
    /// Each violation.
    pub findings: Vec<Finding>,
    /// The one run, where only one was made.
    pub alone: Option<Alone>,
    /// From beginning to end.
    pub took: Duration,
}

/// A story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its name.
    pub scenario: &'static str,
    /// The boundaries that it passes where nothing goes wrong.
    pub boundaries: usize,
    /// How often it was told.
    pub runs: usize,
    /// Runs with a violation.
    pub violated: usize,
    /// Milliseconds of all runs together, however many were made at a time.
    pub milliseconds: u128,
}

/// A violation, and the run that has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The story.
    pub scenario: &'static str,
    /// Of these kinds the fewest strikes first, which are the shortest way to repeat it.
    pub kind: &'static str,
    /// How many faults there were.
    pub faults: usize,
    /// Which.
    pub strikes: Strikes,
    /// What exactly is wrong.
    pub detail: String,
}

impl Row {
    pub(super) fn of(scenario: &'static Scenario) -> Self {
        Self {
            scenario: scenario.name,
            boundaries: 0,
            runs: 0,
            violated: 0,
            milliseconds: 0,
        }
    }

    pub(super) fn count(&mut self, run: &Run, ended: &Ended) {
        if run.strikes.count() == 0 {
            self.boundaries = ended.moments.len();
        }
        self.runs += 1;
        self.violated += usize::from(!ended.violations.is_empty());
        self.milliseconds += ended.took.as_millis();
    }
}

impl Finding {
    pub(super) fn of(run: &Run, ended: &Ended) -> Vec<Self> {
        let violations = ended.violations.iter();
        violations
            .map(|Violation { kind, detail }| Self {
                scenario: run.scenario.name,
                kind,
                faults: run.strikes.count(),
                strikes: run.strikes.clone(),
                detail: detail.clone(),
            })
            .collect()
    }

    /// The command that makes this run alone.
    pub fn repeat(&self, flow: Flow, is_postgres: bool) -> String {
        let flow = match flow {
            Flow::Safe => "",
            Flow::Naive => " --flow naive",
        };
        let server = if is_postgres {
            " --database-url URL"
        } else {
            ""
        };
        let fault = if self.faults == 0 {
            String::new()
        } else {
            format!(" --fault {}", self.strikes)
        };
        let scenario = self.scenario;
        format!("boring-checkout sweep{flow} --scenario {scenario}{fault}{server}")
    }
}

impl Report {
    /// Whether nothing was lost or doubled.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn engine(&self) -> &'static str {
        if self.is_postgres {
            "PostgreSQL"
        } else {
            "SQLite"
        }
    }

    /// How many runs have a violation of each kind.
    pub fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut runs: Vec<_> = self
            .findings
            .iter()
            .map(|finding| (finding.kind, finding.scenario, &finding.strikes))
            .collect();
        runs.sort_unstable();
        runs.dedup();
        let mut kinds = BTreeMap::new();
        for (kind, ..) in runs {
            *kinds.entry(kind).or_default() += 1;
        }
        kinds
    }

    /// All of it, for programs.
    pub fn to_json(&self) -> Value {
        let violations = self.findings.iter().map(|finding| {
            json!({
                "scenario": finding.scenario,
                "fault": (finding.faults > 0).then(|| finding.strikes.to_string()),
                "kind": finding.kind,
                "detail": finding.detail,
                "repeat": finding.repeat(self.flow, self.is_postgres),
            })
        });
        json!({
            "ok": self.is_clean(),
            "flow": self.flow.name(),
            "engine": self.engine(),
            "pairs": self.pairs,
            "seconds": self.took.as_secs_f64(),
            "scenarios": self.rows,
            "kinds": self.kinds(),
            "violations": violations.collect::<Vec<_>>(),
        })
    }
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flow, engine) = (self.flow.name(), self.engine());
        if let Some(alone) = &self.alone {
            return write!(f, "The {flow} flow on {engine}\n\n{alone}");
        }
        let faults = if self.pairs {
            "two faults"
        } else {
            "one fault"
        };
        writeln!(f, "The {flow} flow on {engine}, {faults} in each run\n")?;
        writeln!(
            f,
            "{:<26}{:>12}{:>10}{:>12}{:>9}",
            "scenario", "boundaries", "runs", "violations", "ms/run"
        )?;
        for row in &self.rows {
            let Row {
                scenario,
                boundaries,
                runs,
                violated,
                milliseconds,
            } = row;
            let each = milliseconds
                .checked_div(u128::try_from(*runs).unwrap_or(1))
                .unwrap_or(0);
            writeln!(
                f,
                "{scenario:<26}{boundaries:>12}{runs:>10}{violated:>12}{each:>9}"
            )?;
        }
        let sum = |of: fn(&Row) -> usize| self.rows.iter().map(of).sum::<usize>();
        let (boundaries, runs, violated) = (
            sum(|it| it.boundaries),
            sum(|it| it.runs),
            sum(|it| it.violated),
        );
        writeln!(
            f,
            "{:<26}{boundaries:>12}{runs:>10}{violated:>12}{:>8} s",
            "",
            self.took.as_secs()
        )?;
        for (kind, runs) in self.kinds() {
            writeln!(f, "\n{kind}: {runs} runs")?;
            let findings = self.findings.iter().filter(|finding| finding.kind == kind);
            for finding in findings.take(SHOWN) {
                writeln!(f, "  {}", finding.detail)?;
                writeln!(f, "  {}", finding.repeat(self.flow, self.is_postgres))?;
            }
        }
        Ok(())
    }
}
