//! A strike is a fault at one boundary of a story: `crash@17` is the death of the process at the boundary with the number 17.
//!
//! All that fit are tried, but for those that would be another one again:
//!
//! - Dying is the same wherever nothing that outlives the process has changed in between: what is not committed is rolled
//!   back. So a process dies once in each such stretch, where it begins, and once more when everything is written and nothing
//!   committed. To go away from a request is to let it die, at most.
//! - Between the end of one thing and the beginning of the next the process changes nothing but its own memory. So who comes in
//!   between does it *before* a boundary, and not also *after* the one before it.
//! - A connection that is lost after a statement ends at the same place in the same error as one that is lost before it, and
//!   what the statement did is rolled back; outside a transaction statements only read. Commits are another matter, and so is
//!   all that leaves the database.

use std::{fmt, str::FromStr, sync::Arc};

use crate::{
    lab::world::{Fault, Moment, Plan, fault::NotAFault},
    probe::Boundary,
};

/// A fault, and the number of the boundary where it strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strike {
    /// Counted from 0, over the whole story.
    pub at: usize,
    /// What goes wrong.
    pub fault: Fault,
}

/// The strikes of one run, in their order: `lost@17+crash@23`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strikes(Vec<Strike>);

impl Strikes {
    /// Lets them happen.
    pub fn plan(&self) -> Plan {
        let strikes = self.0.clone();
        Arc::new(move |moment: &Moment| {
            let strike = strikes.iter().find(|strike| strike.at == moment.number);
            strike.map(|strike| strike.fault)
        })
    }

    /// These, and one more after them.
    #[must_use]
    pub fn and(&self, strike: Strike) -> Self {
        let strikes = self.0.iter().copied().chain([strike]);
        Self(strikes.collect())
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = Strike> {
        self.0.iter().copied()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The number of the first boundary after all of them.
    pub fn end(&self) -> usize {
        self.0.last().map_or(0, |last| last.at + 1)
    }
}

/// Every strike that fits into a story which passed these boundaries, from the number `from` on.
pub fn all(moments: &[Moment], from: usize) -> Vec<Strike> {
    let mut strikes = Vec::new();
    let (mut step, mut has_changed, mut is_told) = (None, true, false);
    for (moment, next) in moments.iter().zip(followers(moments)) {
        has_changed |= step != Some(moment.step);
        step = Some(moment.step);
        let boundary = moment.boundary;
        is_told |= matches!(boundary, Boundary::AfterSend(operation) if has_effect(operation));
        has_changed |= changes(boundary);
        let is_last = next.is_none_or(|next| next.step != moment.step);
        let here = Here {
            is_between: is_before(boundary) || is_last,
            has_changed: has_changed || boundary == Boundary::BeforeCommit,
            is_told,
        };
        if here.is_between {
            has_changed = false;
        }
        let faults = Fault::ALL
            .into_iter()
            .filter(|&fault| here.fits(fault, moment));
        if moment.number >= from {
            let at = moment.number;
            strikes.extend(faults.map(|fault| Strike { at, fault }));
        }
    }
    strikes
}

fn followers(moments: &[Moment]) -> impl Iterator<Item = Option<&Moment>> {
    let following = moments.iter().skip(1).map(Some);
    following.chain([None])
}

/// What is so at a boundary.
struct Here {
    /// Something is about to begin, or all of the step is done.
    is_between: bool,
    /// Something that outlives the process has changed since the last such place, or is about to.
    has_changed: bool,
    /// The provider has something to tell.
    is_told: bool,
}

impl Here {
    fn fits(&self, fault: Fault, moment: &Moment) -> bool {
        let boundary = moment.boundary;
        fault.fits(boundary)
            && match fault {
                Fault::Crash => self.is_between && self.has_changed,
                Fault::Leave => self.is_between && self.has_changed && moment.is_of_request,
                Fault::Again => self.is_between && moment.is_of_request,
                Fault::Webhook => self.is_between && self.is_told,
                Fault::Lost => can_be_lost(boundary),
                Fault::ErrorBefore | Fault::RateLimit => true,
                Fault::ErrorAfter => {
                    matches!(boundary, Boundary::BeforeSend(operation) if has_effect(operation))
                }
            }
    }
}

/// Whether something that outlives the process may have changed.
fn changes(boundary: Boundary) -> bool {
    matches!(
        boundary,
        Boundary::AfterCommit
            | Boundary::AfterSend(_)
            | Boundary::AfterPublish
            | Boundary::AfterAcknowledge(_)
            | Boundary::AfterMail(_)
    )
}

fn can_be_lost(boundary: Boundary) -> bool {
    !matches!(
        boundary,
        Boundary::AfterStatement(_)
            | Boundary::AfterBegin
            | Boundary::AfterSnapshot
            | Boundary::AfterReceive(_)
    )
}

fn is_before(boundary: Boundary) -> bool {
    matches!(
        boundary,
        Boundary::BeforeBegin
            | Boundary::BeforeSnapshot
            | Boundary::BeforeStatement(_)
            | Boundary::BeforeCommit
            | Boundary::BeforeSend(_)
            | Boundary::BeforePublish
            | Boundary::BeforeAcknowledge(_)
            | Boundary::BeforeMail(_)
    )
}

/// Whether an operation of the provider's changes anything.
fn has_effect(operation: &str) -> bool {
    !matches!(operation.rsplit('.').next(), Some("list" | "retrieve"))
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.fault, self.at)
    }
}

impl fmt::Display for Strikes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, strike) in self.0.iter().enumerate() {
            let plus = if place == 0 { "" } else { "+" };
            write!(f, "{plus}{strike}")?;
        }
        Ok(())
    }
}

impl FromStr for Strikes {
    type Err = NotStrikes;
    fn from_str(text: &str) -> Result<Self, NotStrikes> {
        let mut strikes = Self::default();
        for part in text.split('+') {
            let (fault, at) = part.split_once('@').ok_or(NotStrikes::Form)?;
            let strike = Strike {
                fault: fault.parse()?,
                at: at.parse().map_err(|_| NotStrikes::Form)?,
            };
            if strike.at < strikes.end() {
                return Err(NotStrikes::Order);
            }
            strikes = strikes.and(strike);
        }
        Ok(strikes)
    }
}

/// The text is not a strike, or several.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStrikes {
    /// It is none at all.
    #[error("must be a fault and the number of a boundary, such as crash@17 or lost@17+crash@23")]
    Form,
    /// There is no such fault.
    #[error(transparent)]
    Fault(#[from] NotAFault),
    /// A later one strikes earlier.
    #[error("the boundaries must be in their order")]
    Order,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(boundaries: &[(Boundary, usize)]) -> Vec<Moment> {
        let moments = boundaries.iter().enumerate();
        moments
            .map(|(number, (boundary, step))| Moment {
                number,
                boundary: *boundary,
                step: *step,
                doing: "submit",
                is_of_request: true,
            })
            .collect()
    }

    fn tried(fault: Fault, moments: &[Moment]) -> Vec<usize> {
        let strikes = all(moments, 0).into_iter();
        let of_it = strikes.filter(|strike| strike.fault == fault);
        of_it.map(|strike| strike.at).collect()
    }

    #[test]
    fn strikes_are_written_as_they_are_read() {
        for text in ["crash@17", "lost@0+webhook@23"] {
            assert_eq!(text.parse::<Strikes>().expect(text).to_string(), text);
        }
        for (text, error) in [
            ("", NotStrikes::Form),
            ("crash", NotStrikes::Form),
            ("crash@x", NotStrikes::Form),
            ("flood@1", NotStrikes::Fault(NotAFault)),
            ("crash@2+crash@2", NotStrikes::Order),
        ] {
            assert_eq!(text.parse::<Strikes>(), Err(error), "{text}");
        }
    }

    #[test]
    fn what_would_be_the_same_is_tried_once() {
        use Boundary::{
            AfterCommit, AfterReceive, AfterSend, AfterStatement, BeforeCommit, BeforeSend,
            BeforeStatement,
        };
        let create = "payment_intents.create";
        let story = moments(&[
            (BeforeStatement("a"), 1),
            (AfterStatement("a"), 1),
            (BeforeStatement("b"), 1),
            (AfterStatement("b"), 1),
            (BeforeCommit, 1),
            (AfterCommit, 1),
            (BeforeSend(create), 2),
            (AfterSend(create), 2),
            (AfterReceive(create), 2),
        ]);
        assert_eq!(tried(Fault::Crash, &story), [0, 4, 5, 6, 8]);
        assert_eq!(tried(Fault::Leave, &story), [0, 4, 5, 6, 8]);
        assert_eq!(tried(Fault::Again, &story), [0, 2, 4, 5, 6, 8]);
        assert_eq!(tried(Fault::Lost, &story), [0, 2, 4, 5, 6, 7]);
        assert_eq!(tried(Fault::ErrorAfter, &story), [6]);
        let told = tried(Fault::Webhook, &story);
        assert_eq!(told, [8], "there is nothing to tell before");
    }
}
