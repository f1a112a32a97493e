//! A cue: what happens to one piece of work at one boundary that it passes.
//!
//! It can be held there until somebody else has gone first, and then it goes on, or loses its connection, or its process dies.
//! Nobody else is struck: each piece of work has a probe of its own. It says so in the log, and is a step of the diagram.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;

use crate::probe::{Boundary, Failure, Probe};

/// Nothing is held for longer: it may hold up others.
const HELD_MAX: Duration = Duration::from_secs(5);

/// What happens, and where.
#[derive(Clone, Copy)]
pub(super) struct Cue {
    at: fn(Boundary) -> bool,
    nth: usize,
    is_held: bool,
    then: Then,
}

/// What comes after.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    Lose,
    Die,
}

impl Cue {
    /// At the first boundary that `at` picks. Nothing happens there yet.
    pub(super) fn at(at: fn(Boundary) -> bool) -> Self {
        Self {
            at,
            nth: 1,
            is_held: false,
            then: Then::GoOn,
        }
    }

    /// At the nth that it picks.
    pub(super) fn nth(self, nth: usize) -> Self {
        Self { nth, ..self }
    }

    /// It waits there until it is let go.
    pub(super) fn held(self) -> Self {
        let is_held = true;
        Self { is_held, ..self }
    }

    /// It loses its connection.
    pub(super) fn lost(self) -> Self {
        let then = Then::Lose;
        Self { then, ..self }
    }

    /// Its process dies as soon as it is let go: nothing of it runs any more, and what it has not committed is rolled back.
    pub(super) fn dead(self) -> Self {
        let then = Then::Die;
        Self { then, ..self }.held()
    }

    /// Whether the sender sees the connection end there.
    pub(super) fn is_deadly(self) -> bool {
        self.then == Then::Die
    }

    /// The probe of the one piece of work, and the strings that it hangs on.
    pub(super) fn probe(self) -> (Probe, Strings) {
        let (arrive, arrived) = watch::channel(false);
        let (let_go, gone) = watch::channel(!self.is_held);
        let passed = Arc::new(AtomicUsize::new(0));
        let probe = Probe::new(move |boundary| {
            let here = (self.at)(boundary) && passed.fetch_add(1, Ordering::SeqCst) + 1 == self.nth;
            // The dead do nothing.
            let is_dead = self.is_deadly() && *arrive.borrow();
            let (arrive, gone) = (arrive.clone(), gone.clone());
            async move {
                if is_dead {
                    die();
                }
                if here {
                    tracing::debug!("{}", self.in_words());
                    arrive.send_replace(true);
                    self.strike(gone).await?;
                }
                Ok(())
            }
        });
        (probe, Strings { arrived, let_go })
    }

    fn in_words(self) -> &'static str {
        match (self.is_held, self.then) {
            (_, Then::GoOn) => "the lab holds it up here",
            (false, Then::Lose) => "the lab breaks the connection here",
            (true, Then::Lose) => "the lab holds it up here and breaks the connection",
            (_, Then::Die) => "the lab ends the process here",
        }
    }

    async fn strike(self, mut gone: watch::Receiver<bool>) -> Result<(), Failure> {
        let _ = tokio::time::timeout(HELD_MAX, gone.wait_for(|gone| *gone)).await;
        match self.then {
            Then::GoOn => Ok(()),
            Then::Lose => Err(Failure::Lost),
            Then::Die => die(),
        }
    }
}

/// Ends the task that it is called in, as the end of its process would: what it holds is dropped, and nothing else is done.
fn die() -> ! {
    std::panic::resume_unwind(Box::new("the process has died"))
}

/// What a piece of work hangs on.
pub(super) struct Strings {
    arrived: watch::Receiver<bool>,
    let_go: watch::Sender<bool>,
}

impl Strings {
    /// Waits until the work is there.
    pub(super) async fn reached(&mut self) {
        // It has ended without having come by, and never will.
        if self.arrived.wait_for(|arrived| *arrived).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Lets it go on.
    pub(super) fn let_go(&self) {
        self.let_go.send_replace(true);
    }
}

/// A transaction is about to begin: nothing is locked yet.
pub(super) fn begins(boundary: Boundary) -> bool {
    boundary == Boundary::BeforeBegin
}

/// The provider has charged, and its answer is under way.
pub(super) fn charged(boundary: Boundary) -> bool {
    boundary == Boundary::AfterSend("payment_intents.create")
}

/// The provider has charged, and its answer is read.
pub(super) fn charged_and_known(boundary: Boundary) -> bool {
    boundary == Boundary::AfterReceive("payment_intents.create")
}

/// The provider is about to be asked to give money back.
pub(super) fn gives_back(boundary: Boundary) -> bool {
    boundary == Boundary::BeforeSend("refunds.create")
}

/// A mail is about to be posted.
pub(super) fn posts(boundary: Boundary) -> bool {
    matches!(boundary, Boundary::BeforeMail(_))
}
