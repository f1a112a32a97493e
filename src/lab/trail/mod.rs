//! The trail: the recent lines of the log, kept by what they are about.
//!
//! What the lab shows is what an operator sees who turns the log up. A [layer](beside()) of the log's subscriber keeps the lines
//! of each activity: a request, a delivered event, a mail, or whatever else a span without a parent stands for. Once a line
//! or a span names a checkout (`checkout.id`) or a run of the lab (`lab.run`), all of its activity belongs to it, what came
//! before as well; an activity that ends without having named any is forgotten.
//!
//! ```text
//! request{POST /checkout} ── begin ── insert ── commit ── checkout.id=… ──┐
//! mail{checkout.id=…} ────── sent ────────────────────────────────────────┴── the trail of that checkout
//! ```
//!
//! Nothing is kept but what the log says, and the log has no secret and nobody's name in it. [`steps`] turns lines into what
//! is drawn; [`sql`] says in two words what a statement does.

mod beside;
mod join;
pub mod layer;
pub mod sql;
pub mod steps;

use std::{
    collections::VecDeque,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use tokio::sync::watch;
use tracing::{Level, Subscriber};
use tracing_subscriber::{EnvFilter, Layer, registry::LookupSpan};

/// So many activities are kept, and of each so many lines, which is far more than a purchase has. Together they take a few
/// megabytes at most.
const ACTIVITIES_MAX: usize = 400;
const LINES_MAX: usize = 150;

/// No text of a line is kept beyond this length.
const TEXT_MAX: usize = 300;

/// The one of this process, since there is one log. Empty unless the layer is installed.
pub fn trail() -> &'static Trail {
    static TRAIL: LazyLock<Trail> = LazyLock::new(Trail::default);
    &TRAIL
}

/// What is kept.
#[derive(Debug)]
pub struct Trail {
    activities: Mutex<VecDeque<Activity>>,
    /// Changes whenever something is added.
    changes: watch::Sender<()>,
}

/// What one span without a parent has said.
#[derive(Clone, Debug)]
pub struct Activity {
    id: u64,
    /// What it is about: ids of checkouts and of runs.
    keys: Vec<String>,
    /// Who is at work, as a run of the lab calls them.
    pub who: Option<String>,
    /// Its lines, in their order.
    pub lines: Vec<Line>,
}

/// A line of the log.
#[derive(Clone, Debug)]
pub struct Line {
    /// When it was written.
    pub at: DateTime<Utc>,
    /// How loudly.
    pub level: Level,
    /// By which module.
    pub module: &'static str,
    /// What it says.
    pub message: String,
    /// The values in it.
    pub fields: Vec<(&'static str, String)>,
    /// Where in the source it comes from.
    pub place: Option<Place>,
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, from the root of the package.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl Line {
    /// A value in it; empty when there is none of this name.
    pub fn field(&self, name: &str) -> &str {
        let mut fields = self.fields.iter();
        let found = fields.find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }
}

impl Default for Trail {
    fn default() -> Self {
        Self {
            activities: Mutex::default(),
            changes: watch::Sender::new(()),
        }
    }
}

impl Trail {
    /// All that happened about `key`, the activity that began first at the head.
    pub fn about(&self, key: &str) -> Vec<Activity> {
        let activities = self.lock();
        let is_about = |activity: &&Activity| activity.keys.iter().any(|it| it == key);
        activities.iter().filter(is_about).cloned().collect()
    }

    /// The checkouts that something has happened about, the latest first.
    pub fn checkouts(&self) -> Vec<String> {
        let mut found = Vec::new();
        for key in self.lock().iter().rev().flat_map(|it| it.keys.iter()) {
            // A run's key is an id with something behind it.
            if !key.contains('/') && !found.contains(key) {
                found.push(key.clone());
            }
        }
        found
    }

    /// Changes whenever something is added.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    fn begin(&self, id: u64, who: Option<String>, keys: Vec<String>, first: Option<Line>) {
        let mut activities = self.lock();
        if activities.len() >= ACTIVITIES_MAX {
            activities.pop_front();
        }
        activities.push_back(Activity {
            id,
            keys,
            who,
            lines: first.into_iter().collect(),
        });
    }

    /// Adds a line to an activity, or what a span within it says that it is about.
    fn add(&self, id: u64, keys: Vec<String>, line: Option<Line>) {
        let mut activities = self.lock();
        let Some(activity) = activities.iter_mut().rev().find(|it| it.id == id) else {
            return;
        };
        for key in keys {
            if !activity.keys.contains(&key) {
                activity.keys.push(key);
            }
        }
        if let Some(line) = line.filter(|_| activity.lines.len() < LINES_MAX) {
            activity.lines.push(line);
        }
        if !activity.keys.is_empty() {
            self.changes.send_replace(());
        }
    }

    fn end(&self, id: u64) {
        let mut activities = self.lock();
        let Some(place) = activities.iter().rposition(|it| it.id == id) else {
            return;
        };
        if activities.get(place).is_some_and(|it| it.keys.is_empty()) {
            activities.remove(place);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Activity>> {
        self.activities
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a text, as far as it is kept.
fn shortened(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// A layer for the log's subscriber: its `lines`, as far as `filter` wants them, and the trail beside them.
pub fn beside<S, L>(lines: L, filter: EnvFilter) -> impl Layer<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    L: Layer<S>,
{
    beside::Beside {
        lines,
        filter,
        keep: layer::Keep::new(trail()),
    }
}
