//! The safe flow beside the naive one. A sweep that finds nothing proves something only if it finds what is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::{Value, json};

use super::report::Report;

/// Two sweeps of the same stories.
#[derive(Debug)]
pub struct Beside {
    /// Of the shop.
    pub safe: Report,
    /// Of its twin.
    pub naive: Report,
}

impl Beside {
    /// Whether the shop is clean, and its twin was found out.
    pub fn is_as_expected(&self) -> bool {
        self.safe.is_clean() && !self.naive.is_clean()
    }

    /// All of it, for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "ok": self.is_as_expected(),
            "safe": self.safe.to_json(),
            "naive": self.naive.to_json(),
        })
    }
}

/// For people: both, and how many runs of each have a violation of each kind.
impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}", self.safe, self.naive)?;
        let (safe, naive) = (self.safe.kinds(), self.naive.kinds());
        let kinds: BTreeSet<_> = safe.keys().chain(naive.keys()).collect();
        writeln!(f, "{:<40}{:>10}{:>10}", "runs with", "safe", "naive")?;
        for kind in kinds {
            let of = |kinds: &BTreeMap<_, usize>| kinds.get(*kind).copied().unwrap_or_default();
            writeln!(f, "{kind:<40}{:>10}{:>10}", of(&safe), of(&naive))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::lab::sweep::{Flow, report::Finding, strike::Strikes};

    fn report(flow: Flow, kinds: &[&'static str]) -> Report {
        let finding = |kind: &&'static str| Finding {
            scenario: "paid",
            kind,
            faults: 1,
            strikes: "crash@17".parse::<Strikes>().expect("a strike"),
            detail: String::new(),
        };
        Report {
            flow,
            is_postgres: false,
            pairs: false,
            rows: Vec::new(),
            findings: kinds.iter().map(finding).collect(),
            alone: None,
            took: Duration::ZERO,
        }
    }

    #[test]
    fn a_sweep_that_is_blind_proves_nothing() {
        let cases: [(&[&'static str], &[&'static str], bool); 3] = [
            (&[], &["double charge"], true),
            (&[], &[], false),
            (&["lost mail"], &["double charge"], false),
        ];
        for (safe, naive, ok) in cases {
            let both = Beside {
                safe: report(Flow::Safe, safe),
                naive: report(Flow::Naive, naive),
            };
            assert_eq!(both.is_as_expected(), ok, "{safe:?} {naive:?}");
        }
    }

    #[test]
    fn each_kind_is_shown_with_the_runs_of_both() {
        let both = Beside {
            safe: report(Flow::Safe, &[]),
            naive: report(Flow::Naive, &["double charge"]),
        };
        let line = format!("{:<40}{:>10}{:>10}", "double charge", 0, 1);
        assert!(both.to_string().contains(&line), "{both}");
    }
}
