//! One run alone, for whoever wants to see it: where each fault struck, what the story promises, and what it came to.

use std::fmt;

use super::{
    run::{Ended, Run},
    scenarios::Scenario,
    strike::Strike,
    verdict::Violation,
};
use crate::lab::{
    flow::Failed,
    world::{Moment, Sums, Tally},
};

/// A story that was told once.
#[derive(Clone, Debug)]
pub struct Alone {
    scenario: &'static Scenario,
    struck: Vec<(Strike, Moment)>,
    tally: Tally,
    violations: Vec<Violation>,
}

impl Alone {
    /// An error when one of its faults had no place to strike: nothing went wrong then, and that all is well says nothing.
    pub(super) fn of(run: &Run, ended: &Ended) -> Result<Self, Failed> {
        let struck = run.strikes.iter().map(|strike| {
            let moment = ended.moments.get(strike.at).copied();
            let moment = moment.ok_or_else(|| {
                let count = ended.moments.len();
                format!("{strike} strikes nothing: the story passes {count} boundaries, from 0 on")
            })?;
            let boundary = moment.boundary;
            if strike.fault.fits(boundary) {
                Ok((strike, moment))
            } else {
                Err(format!("{strike} cannot happen there: {boundary}"))
            }
        });
        Ok(Self {
            scenario: run.scenario,
            struck: struck.collect::<Result<_, _>>()?,
            tally: ended.tally.clone(),
            violations: ended.violations.clone(),
        })
    }
}

/// For people.
impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}\n", self.scenario.name, self.scenario.about)?;
        for (
            strike,
            Moment {
                boundary, doing, ..
            },
        ) in &self.struck
        {
            let strike = strike.to_string();
            writeln!(f, "{strike:<16}{doing}: {boundary}")?;
        }
        let Tally { sums, copies, .. } = &self.tally;
        writeln!(
            f,
            "\n{:<16}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}",
            "", "charges", "minor", "refunds", "minor", "orders", "sold", "mails"
        )?;
        write_sums(f, "promised", &self.scenario.promise)?;
        write_sums(f, "came to", sums)?;
        if *copies > 0 {
            writeln!(
                f,
                "\nMails that came again under the Message-ID of the first: {copies}"
            )?;
        }
        if self.violations.is_empty() {
            return writeln!(f, "\nNothing was lost or doubled.");
        }
        writeln!(f)?;
        for Violation { kind, detail } in &self.violations {
            writeln!(f, "{kind}: {detail}")?;
        }
        Ok(())
    }
}

fn write_sums(f: &mut fmt::Formatter<'_>, what: &str, sums: &Sums) -> fmt::Result {
    let Sums {
        charges,
        charged_minor,
        refunds,
        refunded_minor,
        orders,
        sold,
        mails,
    } = sums;
    writeln!(
        f,
        "{what:<16}{charges:>8}{charged_minor:>8}{refunds:>8}{refunded_minor:>8}{orders:>8}{sold:>8}{mails:>8}"
    )
}
