//! From lines of the log to the steps of a sequence diagram.
//!
//! A step is an arrow between two lanes. What one transaction does without anybody coming in between is one step, however many
//! statements it takes; each is a part of it, with its own place in the source. Which belong together says `join`.

use chrono::{DateTime, Utc};
use tracing::Level;

use super::{Activity, Line, Place, join::joined, layer::REQUEST, sql};

/// The part of the lab that plays scenarios. What it says, it does.
const RUNS: &str = "boring_checkout::lab::runs";

/// Who takes part, from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each name says it")]
pub enum Lane {
    Browser,
    Shop,
    Database,
    Provider,
    Webhook,
    Mail,
}

impl Lane {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Browser,
        Self::Shop,
        Self::Database,
        Self::Provider,
        Self::Webhook,
        Self::Mail,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Shop => "shop",
            Self::Database => "database",
            Self::Provider => "provider",
            Self::Webhook => "webhook",
            Self::Mail => "mail",
        }
    }
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// When it began.
    pub at: DateTime<Utc>,
    /// Who is at work.
    pub who: String,
    /// Where the arrow begins.
    pub from: Lane,
    /// Where it ends; the lane that it begins at, for what somebody does alone.
    pub to: Lane,
    /// Whether something goes wrong in it.
    pub is_bad: bool,
    /// Whether it is where the lab lets something go wrong.
    pub is_struck: bool,
    /// What is done.
    pub parts: Vec<Part>,
    /// Whose activity it is a part of.
    pub(super) activity: usize,
    /// Whether somebody is at work whom nobody waits for.
    pub(super) is_of_worker: bool,
}

/// A part of a step.
#[derive(Clone, Debug)]
pub struct Part {
    /// In a few words.
    pub text: String,
    /// Where in the source it is done.
    pub place: Option<Place>,
}

/// The steps of some activities, in the order of time.
pub fn of(activities: &[Activity]) -> Vec<Step> {
    let mut lines: Vec<(usize, &Activity, &Line)> = Vec::new();
    for (number, activity) in activities.iter().enumerate() {
        lines.extend(activity.lines.iter().map(|line| (number, activity, line)));
    }
    lines.sort_by_key(|(_, _, line)| line.at);
    let mut steps: Vec<Step> = Vec::new();
    for (number, activity, line) in lines {
        steps.extend(step(number, activity, line));
    }
    joined(steps)
}

fn step(number: usize, activity: &Activity, line: &Line) -> Option<Step> {
    let home = home(activity);
    let visitor = match home {
        Lane::Webhook => Lane::Provider,
        _ => Lane::Browser,
    };
    let (from, to, text) = match (line.module, line.message.as_str()) {
        (_, REQUEST) => {
            let path = abridged(line.field("path"));
            (visitor, home, format!("{} {path}", line.field("method")))
        }
        (module, _) if module.starts_with("tower_http") => {
            (home, visitor, format!("answer {}", line.field("status")))
        }
        (_, "statement") if is_housekeeping(activity, line) => return None,
        (_, "statement") => (home, Lane::Database, statement(line)),
        (_, "begin" | "commit" | "rollback") => (home, Lane::Database, line.message.clone()),
        (_, "asked") => (home, Lane::Provider, asked(line)),
        (_, "answered") => (Lane::Provider, home, answered(line)),
        (_, "mail sent") => (
            home,
            Lane::Mail,
            format!("mail sent: {}", line.field("kind")),
        ),
        (_, message) if message.starts_with("mail not sent") => {
            (home, Lane::Mail, "mail not sent".to_owned())
        }
        (_, message) => (home, home, note(message, line)),
    };
    let is_bad = line.level <= Level::WARN
        || line.field("ended") == "no answer"
        || text.starts_with("answer 5");
    Some(Step {
        at: line.at,
        who: who(activity, home),
        from,
        to,
        is_bad,
        is_struck: line.module.starts_with(RUNS),
        parts: vec![Part {
            text,
            place: own_place(line).or_else(|| activity.lines.first().and_then(own_place)),
        }],
        activity: number,
        is_of_worker: is_of_worker(activity),
    })
}

/// Where in our source a line comes from. That of an answer is a library's, and stands for where the request was taken.
fn own_place(line: &Line) -> Option<Place> {
    line.place
        .clone()
        .filter(|place| place.file.starts_with("src/"))
}

/// The lane in which an activity is at work.
fn home(activity: &Activity) -> Lane {
    let is_webhook = |line: &Line| {
        line.message == REQUEST && line.field("path").ends_with("/webhook")
            || line.field("path").starts_with("/webhooks/")
    };
    if activity.lines.iter().any(is_webhook) {
        Lane::Webhook
    } else {
        Lane::Shop
    }
}

fn who(activity: &Activity, home: Lane) -> String {
    match (&activity.who, home) {
        (Some(who), _) => who.clone(),
        (None, Lane::Webhook) => "the provider".to_owned(),
        (None, _) if is_request(activity) => "a browser".to_owned(),
        (None, _) => "a worker".to_owned(),
    }
}

/// Who a visitor is has to be read for every page, and is of no interest here. Nor is what a worker reads to write a mail.
fn is_housekeeping(activity: &Activity, line: &Line) -> bool {
    let file = line.place.as_ref().map_or("", |place| &place.file);
    let is_aside = file.ends_with("web/sessions.rs") || file.ends_with("provider_calls.rs");
    is_aside || is_of_worker(activity) && !sql::writes(&sql::gist(line.field("sql")))
}

fn is_of_worker(activity: &Activity) -> bool {
    activity.who.is_none() && !is_request(activity)
}

fn is_request(activity: &Activity) -> bool {
    activity.lines.iter().any(|line| line.message == REQUEST)
}

fn statement(line: &Line) -> String {
    let gist = sql::gist(line.field("sql"));
    match line.field("rows") {
        "0" => format!("{gist}: none"),
        _ => gist,
    }
}

fn asked(line: &Line) -> String {
    let operation = line.field("operation");
    match line.field("key_end") {
        "" => operation.to_owned(),
        key => format!("{operation}, key …{key}"),
    }
}

fn answered(line: &Line) -> String {
    let ended = line.field("ended");
    match line.field("replayed") {
        "true" => format!("{ended}, replayed"),
        _ => ended.to_owned(),
    }
}

/// What somebody says to themselves, with what matters of the values.
fn note(message: &str, line: &Line) -> String {
    let telling = [
        "event.kind",
        "kind",
        "outcome",
        "verdict",
        "received",
        "consumer",
        "status",
        "doubt",
    ];
    let values = telling.iter().map(|name| line.field(name));
    let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
    if values.is_empty() {
        message.to_owned()
    } else {
        format!("{message}: {}", values.join(", "))
    }
}

/// A path without the ids in it.
fn abridged(path: &str) -> String {
    let is_id = |part: &&str| part.len() > 20;
    let parts = path
        .split('/')
        .map(|part| if is_id(&part) { "…" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// Lines as the log has them, for the tests.
#[cfg(test)]
pub(super) mod samples {
    use super::*;

    pub fn line(message: &str, fields: &[(&'static str, &str)]) -> Line {
        Line {
            at: Utc::now(),
            level: Level::DEBUG,
            module: "boring_checkout::db",
            message: message.to_owned(),
            fields: fields
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
            place: None,
        }
    }

    pub fn activity(lines: Vec<Line>) -> Activity {
        Activity {
            id: 0,
            keys: Vec::new(),
            who: None,
            lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{samples::*, *};

    #[test]
    fn a_call_in_the_middle_of_a_transaction_is_seen() {
        let steps = of(&[activity(vec![
            line("begin", &[]),
            line(
                "asked",
                &[("operation", "payment_intents.create"), ("key_end", "9a3f")],
            ),
            line("answered", &[("ended", "no answer"), ("replayed", "false")]),
            line("rollback", &[]),
        ])]);
        let lanes: Vec<_> = steps
            .iter()
            .map(|step| (step.from, step.to, step.is_bad))
            .collect();
        let expected = [
            (Lane::Shop, Lane::Database, false),
            (Lane::Shop, Lane::Provider, false),
            (Lane::Provider, Lane::Shop, true),
            (Lane::Shop, Lane::Database, true),
        ];
        assert_eq!(lanes, expected);
    }
}
