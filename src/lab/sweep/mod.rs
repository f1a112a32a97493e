//! The sweep: every fault at every boundary of every story.
//!
//! A story is told once, where nothing goes wrong, to count its boundaries. Then it is told once more for every boundary and
//! every fault that fits there. Each time the world goes on as it would until nothing is due: customers try again, workers
//! run, the provider delivers again. Then the books are audited, and compared with what the story promises.
//!
//! ```text
//! paid ── count: 0 … 215 ──┬── crash@0   ── goes on ── audit, promise
//!                          ├── lost@0    ── goes on ── audit, promise
//!                          └── …
//! ```
//!
//! Nobody lists the boundaries, so nobody can forget one. In reading order:
//!
//! 1. here: the runs, and who makes them.
//! 2. [`scenarios`]: the stories.
//! 3. `tellings`: how each is told.
//! 4. [`strike`]: which faults are tried where.
//! 5. [`verdict`]: what is wrong with how a run ended.
//! 6. [`report`]: what is told of it.
//! 7. [`alone`]: what is told of one run by itself.
//! 8. [`beside`]: the safe flow beside the naive one, which has to be found out.

pub mod alone;
pub mod beside;
mod progress;
pub mod report;
mod run;
pub mod scenarios;
pub mod strike;
mod tellings;
#[cfg(test)]
mod tests;
pub mod verdict;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

pub use self::progress::Shown;
use tokio_util::sync::CancellationToken;

use self::{
    alone::Alone,
    progress::Progress,
    report::{Finding, Report, Row},
    run::{Ended, Run},
    scenarios::Scenario,
    strike::Strikes,
};
use super::{
    flow::{Failed, Opening, Premises},
    naive, safe,
    world::Ground,
};
use crate::secret::Secret;

/// How often is looked whether it shall stop.
const GLANCE: Duration = Duration::from_millis(100);

/// What is to be swept.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Which shop.
    pub flow: Flow,
    /// Which stories.
    pub scenarios: Vec<&'static Scenario>,
    /// Where: a PostgreSQL server, on which databases are made and dropped. SQLite, where none is named.
    pub server: Option<Secret>,
    /// Whether a second fault strikes in each run, at every boundary after the first.
    pub pairs: bool,
    /// Of the runs with two faults only each so-manieth is made: there are many.
    pub every: usize,
    /// The one run to be made, instead of all.
    pub only: Option<Strikes>,
    /// How many runs are made at a time.
    pub jobs: usize,
}

/// A shop that can be swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// This crate's.
    Safe,
    /// Its naive twin.
    Naive,
}

impl Flow {
    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Naive => "naive",
        }
    }

    fn open(self) -> fn(Premises) -> Opening {
        match self {
            Self::Safe => safe::open,
            Self::Naive => naive::open,
        }
    }
}

impl Sweep {
    /// Sweeps, and tells what was found. It takes its time, and threads of its own. Once `stop` is cancelled it clears away
    /// what it has made, and tells that it was stopped.
    pub fn run(&self, shown: Shown, stop: &CancellationToken) -> Result<Report, Failed> {
        let began = Instant::now();
        let first = self.only.clone().unwrap_or_default();
        let runs = self.scenarios.iter().map(|&scenario| Run {
            scenario,
            strikes: first.clone(),
        });
        let (queue, (told, ended)) = (Arc::new(Queue::of(runs.collect())), mpsc::channel());
        let workers: Vec<_> = (0..self.jobs.max(1))
            .map(|_| self.start_worker(&queue, told.clone()))
            .collect();
        let gathered = self.gather(&queue, &ended, shown, stop);
        queue.close();
        for worker in workers {
            worker
                .map(thread::JoinHandle::join)?
                .map_err(|_| "a worker panicked")?;
        }
        Ok(Report {
            took: began.elapsed(),
            ..gathered?
        })
    }

    /// Takes down how each run has ended, until there are no more.
    fn gather(
        &self,
        queue: &Queue,
        ended: &mpsc::Receiver<Result<(Run, Ended), Failed>>,
        shown: Shown,
        stop: &CancellationToken,
    ) -> Result<Report, Failed> {
        let mut report = Report {
            flow: self.flow,
            is_postgres: self.server.is_some(),
            pairs: self.pairs,
            rows: self.scenarios.iter().map(|it| Row::of(it)).collect(),
            findings: Vec::new(),
            alone: None,
            took: Duration::ZERO,
        };
        let progress = Progress::new(shown);
        let mut open = self.scenarios.len();
        progress.expect(open);
        while open > 0 {
            let (run, ended) = match ended.recv_timeout(GLANCE) {
                Ok(ended) => ended?,
                Err(_) if stop.is_cancelled() => return Err("it was stopped".into()),
                Err(_) => continue,
            };
            let more = self.follow(&run, &ended);
            open = open - 1 + more.len();
            progress.one_is_done();
            progress.expect(more.len());
            let mut rows = report.rows.iter_mut();
            if let Some(row) = rows.find(|row| row.scenario == run.scenario.name) {
                row.count(&run, &ended);
            }
            report.findings.extend(Finding::of(&run, &ended));
            if self.only.is_some() {
                report.alone = Some(Alone::of(&run, &ended)?);
            }
            queue.add(more);
        }
        report.findings.sort();
        Ok(report)
    }

    /// The runs that follow from one: a story where nothing went wrong is struck once, at every boundary, and with
    /// `pairs` one that was struck is struck again.
    fn follow(&self, run: &Run, ended: &Ended) -> Vec<Run> {
        let depth = if self.pairs { 2 } else { 1 };
        if self.only.is_some() || run.strikes.count() >= depth {
            return Vec::new();
        }
        let strikes = strike::all(&ended.moments, run.strikes.end());
        let every = if run.strikes.count() == 1 {
            self.every
        } else {
            1
        };
        // Each begins elsewhere, so that together they come by everywhere.
        let strikes = strikes.into_iter().skip(run.strikes.end() % every);
        let strikes = strikes.step_by(every).map(|strike| Run {
            scenario: run.scenario,
            strikes: run.strikes.and(strike),
        });
        strikes.collect()
    }

    fn start_worker(
        &self,
        queue: &Arc<Queue>,
        ended: mpsc::Sender<Result<(Run, Ended), Failed>>,
    ) -> Result<thread::JoinHandle<()>, Failed> {
        let (queue, server) = (Arc::clone(queue), self.server.clone());
        let open = self.flow.open();
        let worker = thread::Builder::new().name("sweep".to_owned());
        Ok(worker.spawn(move || {
            let runtime = match run::runtime() {
                Ok(runtime) => runtime,
                Err(error) => return drop(ended.send(Err(error))),
            };
            runtime.block_on(async {
                if let Err(error) = work_off(&queue, server.as_ref(), open, &ended).await {
                    let _ = ended.send(Err(error));
                }
            });
        })?)
    }
}

/// Makes one run after the other, on a ground of its own, until there are none.
async fn work_off(
    queue: &Queue,
    server: Option<&Secret>,
    open: fn(Premises) -> Opening,
    ended: &mpsc::Sender<Result<(Run, Ended), Failed>>,
) -> Result<(), Failed> {
    let ground = match server {
        Some(server) => Ground::postgres(server).await?,
        None => Ground::sqlite().await?,
    };
    while let Some(run) = queue.next() {
        let made = run.make(&ground, open).await;
        let is_broken = made.is_err();
        let told = ended.send(made.map(|ended| (run, ended)));
        if told.is_err() || is_broken {
            break;
        }
    }
    ground.remove().await
}

/// Runs that wait for somebody to make them.
struct Queue(Mutex<Waiting>, std::sync::Condvar);

struct Waiting {
    runs: VecDeque<Run>,
    is_closed: bool,
}

impl Queue {
    fn of(runs: VecDeque<Run>) -> Self {
        let is_closed = false;
        Self(
            Mutex::new(Waiting { runs, is_closed }),
            std::sync::Condvar::new(),
        )
    }

    fn add(&self, runs: Vec<Run>) {
        self.lock().runs.extend(runs);
        self.1.notify_all();
    }

    /// There is nothing more to do, whatever still waits.
    fn close(&self) {
        let mut waiting = self.lock();
        waiting.is_closed = true;
        waiting.runs.clear();
        drop(waiting);
        self.1.notify_all();
    }

    /// Waits for the next one; `None` once there will be no more.
    fn next(&self) -> Option<Run> {
        let waiting = self.1.wait_while(self.lock(), |waiting| {
            waiting.runs.is_empty() && !waiting.is_closed
        });
        waiting
            .unwrap_or_else(PoisonError::into_inner)
            .runs
            .pop_front()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
