//! The stage: every actor is held at each of its steps, and takes the next one when it is told to.
//!
//! An actor is a process of the shop with one thing to do: a request, a round of a worker. Its probe holds it at the boundaries
//! where a step begins; all others it passes. How long a step is depends on what other actors can see of it:
//!
//! - on SQLite a transaction is one step. It takes the write lock when it begins, and everybody else reads the last commit, so
//!   nobody can tell at which moment between its first statement and its commit the others did something;
//! - on PostgreSQL each statement of a transaction that writes, and its commit, is a step of its own. A statement that waits for
//!   a lock shows in the server's list of locks: the actor goes on when another one has let go;
//! - everywhere a snapshot is one step, since all that is read from it is as of one moment, and so are a query by itself and a
//!   call of the provider. Between an answer and whatever its receiver does next there is nothing that others could see.

use std::{collections::VecDeque, time::Duration};

use boring_checkout::{
    lab::world::Life,
    probe::{Boundary, Probe},
};
use tokio::{
    sync::{
        mpsc::{self, UnboundedReceiver, UnboundedSender},
        oneshot,
    },
    time::{Instant, timeout},
};

use super::{
    explorer::{Actor, Step},
    locks::Locks,
    story::{Line, Story},
    touch::Touch,
};

/// After so long without news it is asked whether somebody waits for a lock.
const QUIET: Duration = Duration::from_millis(3);

/// No step takes as long.
const PATIENCE: Duration = Duration::from_mins(1);

/// Tells the stage of one actor.
#[derive(Clone)]
pub struct Wire {
    actor: Actor,
    stage: UnboundedSender<(Actor, Report)>,
}

enum Report {
    At(Boundary, Go),
    /// It is done, and this is what it was answered.
    Over(String),
}

type Go = oneshot::Sender<()>;

impl Wire {
    /// Holds the actor wherever a step begins.
    pub fn probe(&self) -> Probe {
        let wire = self.clone();
        Probe::new(move |boundary| {
            let (go, gone) = oneshot::channel();
            wire.report(Report::At(boundary, go));
            async move {
                let _ = gone.await;
                Ok(())
            }
        })
    }

    pub fn actor(&self) -> Actor {
        self.actor
    }

    pub fn over(&self, answer: String) {
        self.report(Report::Over(answer));
    }

    fn report(&self, report: Report) {
        let _ = self.stage.send((self.actor, report));
    }
}

/// What one step of a transaction that writes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// All of it.
    Transaction,
    /// Each statement, and the commit.
    Statement,
}

/// Where actors meet.
pub struct Stage<'l> {
    players: Vec<Player>,
    wire: UnboundedSender<(Actor, Report)>,
    reports: UnboundedReceiver<(Actor, Report)>,
    grain: Grain,
    locks: Option<&'l mut Locks>,
    /// A transaction was dropped, and the server may not know yet.
    is_rolling_back: bool,
    /// An actor did two things at once: on a busy machine a request does not wait for what it has begun, and goes on without.
    pub is_astray: bool,
    pub steps: Vec<Step>,
    pub story: Story,
}

struct Player {
    name: &'static str,
    /// Its process, which lasts as long as the stage.
    life: Life,
    held: VecDeque<(Boundary, Go)>,
    is_over: bool,
    transaction: Transaction,
    /// Its last step.
    step: Option<usize>,
}

enum Transaction {
    None,
    Reads,
    /// What it has written so far.
    Writes(Touch),
}

impl<'l> Stage<'l> {
    /// With `locks` on PostgreSQL.
    pub fn new(grain: Grain, locks: Option<&'l mut Locks>) -> Self {
        let (wire, reports) = mpsc::unbounded_channel();
        Self {
            players: Vec::new(),
            wire,
            reports,
            grain,
            locks,
            is_rolling_back: false,
            is_astray: false,
            steps: Vec::new(),
            story: Story::default(),
        }
    }

    /// The wire of the next actor.
    pub fn wire(&self) -> Wire {
        Wire {
            actor: self.players.len(),
            stage: self.wire.clone(),
        }
    }

    /// The next actor enters.
    pub fn enter(&mut self, name: &'static str, life: Life) {
        self.players.push(Player {
            name,
            life,
            held: VecDeque::new(),
            is_over: false,
            transaction: Transaction::None,
            step: None,
        });
    }

    /// Those who can take a step.
    pub fn able(&self) -> Vec<Actor> {
        let able = |actor: &Actor| !self.players[*actor].held.is_empty();
        (0..self.players.len()).filter(able).collect()
    }

    /// Whether everybody is done.
    pub fn is_over(&self) -> bool {
        self.players.iter().all(|player| player.is_over)
    }

    /// Lets an actor take its next step, to the end or until it waits for somebody.
    pub async fn step(&mut self, actor: Actor) {
        let player = &mut self.players[actor];
        let (boundary, go) = player.held.pop_front().expect("somebody who can");
        player.step = Some(self.steps.len());
        let touch = Touch::default();
        self.steps.push(Step { actor, touch });
        self.story.lines.push(Line::of(player.name, boundary));
        self.pass(actor, boundary);
        let _ = go.send(());
        self.settle().await;
    }

    /// Waits until everybody is held, is done, or waits for a lock that somebody has who is held.
    pub async fn settle(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            while let Ok((actor, report)) = self.reports.try_recv() {
                self.take(actor, report);
            }
            let under_way: Vec<Actor> = (0..self.players.len())
                .filter(|&it| self.is_under_way(it))
                .collect();
            if self.is_astray || (under_way.is_empty() && !self.is_rolling_back) {
                return;
            }
            assert!(Instant::now() < deadline, "nobody moves:\n{}", self.story);
            if let Ok(Some((actor, report))) = timeout(QUIET, self.reports.recv()).await {
                self.take(actor, report);
            } else if self.all_wait(&under_way).await {
                for actor in under_way {
                    self.waits(actor);
                }
                return;
            }
        }
    }

    fn is_under_way(&self, actor: Actor) -> bool {
        let player = &self.players[actor];
        player.held.is_empty() && !player.is_over
    }

    /// Whether these wait for locks, and only those are in a transaction who should be.
    async fn all_wait(&mut self, actors: &[Actor]) -> bool {
        let writing = |player: &&Player| matches!(player.transaction, Transaction::Writes(_));
        let writers = self.players.iter().filter(writing).count();
        let Some(locks) = &mut self.locks else {
            return false;
        };
        let sessions = locks.sessions().await;
        if sessions.in_transaction != writers || sessions.waiting != actors.len() {
            return false;
        }
        self.is_rolling_back = false;
        true
    }

    fn waits(&mut self, actor: Actor) {
        let step = self.players[actor].step.expect("a step that waits");
        self.steps[step].touch.waits = true;
        self.story.lines[step].waits = true;
    }

    fn take(&mut self, actor: Actor, report: Report) {
        if let Some(step) = self.players[actor].step {
            self.steps[step].touch.waits = false;
        }
        let (boundary, go) = match report {
            Report::At(boundary, go) => (boundary, go),
            Report::Over(answer) => {
                self.roll_back(actor);
                self.players[actor].is_over = true;
                let name = self.players[actor].name;
                self.story.answers.push((name, answer));
                return;
            }
        };
        self.is_astray |= !self.players[actor].held.is_empty();
        if is_outside(boundary) {
            self.roll_back(actor);
        }
        if self.is_held_at(actor, boundary) {
            self.players[actor].held.push_back((boundary, go));
            return;
        }
        if let Some(step) = self.players[actor].step {
            self.story.lines[step].goes_on(boundary);
        }
        self.pass(actor, boundary);
        let _ = go.send(());
    }

    /// Whether a step begins there.
    fn is_held_at(&self, actor: Actor, boundary: Boundary) -> bool {
        let by_statement = self.grain == Grain::Statement;
        let writes = matches!(self.players[actor].transaction, Transaction::Writes(_));
        match boundary {
            Boundary::BeforeSend(_) | Boundary::BeforeSnapshot | Boundary::BeforeQuery(_) => true,
            Boundary::BeforeBegin => !by_statement,
            Boundary::BeforeStatement(_) | Boundary::BeforeCommit => by_statement && writes,
            _ => false,
        }
    }

    /// Notes what the actor touches when it goes on from `boundary`.
    fn pass(&mut self, actor: Actor, boundary: Boundary) {
        let player = &mut self.players[actor];
        let touched = match boundary {
            Boundary::AfterBegin => {
                player.transaction = Transaction::Writes(Touch::default());
                return;
            }
            Boundary::AfterSnapshot => {
                player.transaction = Transaction::Reads;
                return;
            }
            Boundary::BeforeStatement(sql) | Boundary::BeforeQuery(sql) => Touch::statement(sql),
            Boundary::BeforeSend(operation) => Touch::call(operation),
            Boundary::AfterCommit => return self.end_transaction(actor),
            _ => return,
        };
        if let (Transaction::Writes(written), Boundary::BeforeStatement(_)) =
            (&mut player.transaction, boundary)
        {
            written.and(&touched);
        }
        // What comes before the first step, nobody has seen.
        if let Some(step) = player.step {
            self.steps[step].touch.and(&touched);
        }
    }

    /// A transaction that was not committed by now was dropped.
    fn roll_back(&mut self, actor: Actor) {
        // On SQLite nobody runs into what it has locked: it will be free as soon as they can ask for it.
        if self.locks.is_some() && matches!(self.players[actor].transaction, Transaction::Writes(_))
        {
            self.is_rolling_back = true;
        }
        self.end_transaction(actor);
    }

    /// Others see what it wrote, or do not run into its locks any more.
    fn end_transaction(&mut self, actor: Actor) {
        let player = &mut self.players[actor];
        let ended = std::mem::replace(&mut player.transaction, Transaction::None);
        if let (Transaction::Writes(written), Some(step)) = (ended, player.step) {
            self.steps[step].touch.publish(&written);
        }
    }

    /// Ends every actor's process. Whoever is held dies there.
    pub async fn close(self) -> (Vec<Step>, Story) {
        for player in &self.players {
            player.life.end().await;
        }
        (self.steps, self.story)
    }
}

/// Nobody who is in a transaction comes by there.
fn is_outside(boundary: Boundary) -> bool {
    matches!(
        boundary,
        Boundary::BeforeBegin
            | Boundary::BeforeSnapshot
            | Boundary::BeforeQuery(_)
            | Boundary::BeforeSend(_)
    )
}
