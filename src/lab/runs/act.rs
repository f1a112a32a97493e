//! An act: something that somebody is at, in a task of its own, so that others can come in between.

use std::time::Duration;

use tokio::task::JoinHandle;

use super::cue::{Cue, Strings};
use crate::lab::flow::{Answer, NoAnswer};

/// How long somebody is waited for who may be held up by somebody else.
pub(super) const A_MOMENT: Duration = Duration::from_millis(300);

/// How often is looked whether it is over.
const GLANCE: Duration = Duration::from_millis(10);

/// What somebody got for what they asked.
pub(super) type Outcome = Result<Answer, NoAnswer>;

/// Something that somebody is at.
pub(super) struct Act {
    outcome: JoinHandle<Outcome>,
    strings: Option<Strings>,
}

impl Act {
    /// What goes on in a task, with something that happens on the way.
    pub(super) fn of(
        outcome: JoinHandle<Outcome>,
        cue: Option<Cue>,
        strings: Option<Strings>,
    ) -> Self {
        let is_deadly = cue.is_some_and(Cue::is_deadly);
        match strings {
            Some(strings) if is_deadly => Self {
                outcome: ends_with(outcome, strings),
                strings: None,
            },
            strings => Self { outcome, strings },
        }
    }

    /// Waits until it is held, or over.
    pub(super) async fn is_held(&mut self) {
        let Some(strings) = &mut self.strings else {
            return;
        };
        tokio::select! {
            () = strings.reached() => {}
            () = is_over(&self.outcome) => {}
        }
    }

    /// Lets it go on.
    pub(super) fn goes_on(&self) {
        if let Some(strings) = &self.strings {
            strings.let_go();
        }
    }

    /// Waits for its end, and for no longer than `patience`.
    pub(super) async fn ends_within(&self, patience: Duration) {
        let _ = tokio::time::timeout(patience, is_over(&self.outcome)).await;
    }

    /// Waits for its end. Whoever died has no answer.
    pub(super) async fn ends(self) -> Outcome {
        self.goes_on();
        self.outcome.await.unwrap_or(Err(NoAnswer))
    }
}

async fn is_over(outcome: &JoinHandle<Outcome>) {
    while !outcome.is_finished() {
        tokio::time::sleep(GLANCE).await;
    }
}

/// The same, which ends without an answer as soon as its process dies: whoever waits for it sees the connection end, and only
/// then the rest of it is let go, to die. Else it could still answer.
fn ends_with(mut outcome: JoinHandle<Outcome>, mut strings: Strings) -> JoinHandle<Outcome> {
    tokio::spawn(async move {
        tokio::select! {
            ended = &mut outcome => return ended.unwrap_or(Err(NoAnswer)),
            () = strings.reached() => {}
        }
        outcome.abort();
        let _ = outcome.await;
        strings.let_go();
        Err(NoAnswer)
    })
}
