//! What is wrong with how a story ended.

use std::cmp::Ordering;

use crate::lab::{
    story::Stopped,
    world::{Sums, Tally},
};

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Which kind: `double charge`, `lost order`, or the name of an invariant.
    pub kind: &'static str,
    /// What exactly.
    pub detail: String,
}

impl Violation {
    /// The story came to no end.
    pub(super) fn of_story(stopped: &Stopped) -> Self {
        let kind = match stopped {
            Stopped::Unhelped(_) => "customer not helped",
            Stopped::Unexpected(..) => "unexpected answer",
            Stopped::ToldWrong { .. } => "customer told wrong",
            Stopped::Restless => "never at rest",
            Stopped::Failed(_) => "the world failed",
        };
        let detail = stopped.to_string();
        Self { kind, detail }
    }
}

/// What there is too much of, or too little, and which invariants are broken.
pub fn compare(tally: &Tally, promise: &Sums) -> Vec<Violation> {
    let found = &tally.sums;
    let sums = [
        ("charge", found.charges, promise.charges),
        ("amount", found.charged_minor, promise.charged_minor),
        ("order", found.orders, promise.orders),
        ("stock", found.sold, promise.sold),
        ("mail", found.mails, promise.mails),
        ("refund", found.refunds, promise.refunds),
        (
            "refunded amount",
            found.refunded_minor,
            promise.refunded_minor,
        ),
    ];
    let differing = sums.into_iter().filter_map(|(what, found, promised)| {
        let kind = named(what, found.cmp(&promised))?;
        let detail = format!("{what}: {found} instead of {promised}");
        Some(Violation { kind, detail })
    });
    let broken = tally.broken.iter().map(|broken| Violation {
        kind: broken.name,
        detail: broken.detail.clone(),
    });
    differing.chain(broken).collect()
}

fn named(what: &str, how: Ordering) -> Option<&'static str> {
    Some(match (what, how) {
        (_, Ordering::Equal) => return None,
        ("charge", Ordering::Greater) => "double charge",
        ("charge", Ordering::Less) => "missing charge",
        ("amount", _) => "wrong amount charged",
        ("order", Ordering::Greater) => "double order",
        ("order", Ordering::Less) => "lost order",
        ("stock", Ordering::Greater) => "oversold stock",
        ("stock", Ordering::Less) => "stock not taken",
        ("mail", Ordering::Greater) => "double mail",
        ("mail", Ordering::Less) => "lost mail",
        ("refund", Ordering::Greater) => "double refund",
        ("refund", Ordering::Less) => "lost refund",
        (_, _) => "wrong amount given back",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let promise = Sums {
            charges: 1,
            orders: 1,
            mails: 1,
            ..Sums::default()
        };
        let tally = Tally {
            sums: Sums {
                charges: 2,
                orders: 0,
                ..promise
            },
            ..Tally::default()
        };
        let found = compare(&tally, &promise);
        let kinds: Vec<_> = found.iter().map(|violation| violation.kind).collect();
        assert_eq!(kinds, ["double charge", "lost order"]);
        let same = Tally {
            sums: promise,
            ..Tally::default()
        };
        assert_eq!(compare(&same, &promise), []);
    }
}
