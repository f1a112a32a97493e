//! What keeps the trail: it is told of each span and of each line of the log.
//!
//! It sees the same whatever the log is turned to: all that the shop says, and nothing of the simulator beside it, which is
//! another company.

use std::{
    fmt::{self, Write as _},
    sync::atomic::{AtomicU64, Ordering},
};

use chrono::Utc;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    layer::Context,
    registry::{LookupSpan, Scope},
};

use super::{Line, Place, Trail, shortened};

/// What a request is called by the first line of its activity.
pub const REQUEST: &str = "request";

/// The fields that name what a line is about, and who is at work.
const CHECKOUT: &str = "checkout.id";
const RUN: &str = "lab.run";
const WHO: &str = "lab.who";

/// Keeps what it is told.
pub(super) struct Keep(&'static Trail);

impl Keep {
    pub(super) fn new(trail: &'static Trail) -> Self {
        Self(trail)
    }
}

/// Ties the span that an activity began with, and ends with, to the activity.
struct Of(u64);

/// What is kept: the shop's own words, and those about its requests and answers.
pub(super) fn is_kept(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    let is_ours = target.starts_with("boring_checkout::")
        && !target.starts_with("boring_checkout::simulator");
    let is_told = *metadata.level() <= Level::DEBUG;
    is_told && (is_ours || target.starts_with("tower_http::trace::on_response"))
}

impl Keep {
    pub(super) fn on_new_span<S: Subscriber + for<'span> LookupSpan<'span>>(
        &self,
        attributes: &Attributes<'_>,
        id: &Id,
        context: &Context<'_, S>,
    ) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Some(span) = context.span(id) else {
            return;
        };
        let mut words = Words::default();
        attributes.record(&mut words);
        let (keys, who) = (words.keys(), words.take(WHO));
        let is_request = span.name() == REQUEST;
        let line = is_request.then(|| words.line(REQUEST, span.metadata()));
        if let Some(activity) = activity(span.scope()) {
            self.0.add(activity, keys, line);
        } else {
            let activity = NEXT.fetch_add(1, Ordering::Relaxed);
            span.extensions_mut().insert(Of(activity));
            self.0.begin(activity, who, keys, line);
        }
    }

    pub(super) fn on_record<S: Subscriber + for<'span> LookupSpan<'span>>(
        &self,
        id: &Id,
        values: &Record<'_>,
        context: &Context<'_, S>,
    ) {
        let mut words = Words::default();
        values.record(&mut words);
        if let Some(activity) = context.span(id).and_then(|span| activity(span.scope())) {
            self.0.add(activity, words.keys(), None);
        }
    }

    pub(super) fn on_event<S: Subscriber + for<'span> LookupSpan<'span>>(
        &self,
        event: &Event<'_>,
        context: &Context<'_, S>,
    ) {
        // What stands in no span is of no activity. All work begins with one.
        let Some(activity) = context.event_scope(event).and_then(activity) else {
            return;
        };
        let mut words = Words::default();
        event.record(&mut words);
        let (keys, message) = (words.keys(), words.take("message").unwrap_or_default());
        let line = words.line(&message, event.metadata());
        self.0.add(activity, keys, Some(line));
    }

    pub(super) fn on_close<S: Subscriber + for<'span> LookupSpan<'span>>(
        &self,
        id: &Id,
        context: &Context<'_, S>,
    ) {
        let Some(span) = context.span(id) else {
            return;
        };
        if let Some(of) = span.extensions().get::<Of>() {
            self.0.end(of.0);
        }
    }
}

/// The activity that spans belong to, the innermost span first. Those of a library, which nobody keeps, may be among them.
fn activity<'s, S: LookupSpan<'s> + 's>(mut spans: Scope<'s, S>) -> Option<u64> {
    spans.find_map(|span| span.extensions().get::<Of>().map(|of| of.0))
}

/// The fields of a span or of an event.
#[derive(Default)]
struct Words(Vec<(&'static str, String)>);

impl Words {
    fn keys(&self) -> Vec<String> {
        let keys = self
            .0
            .iter()
            .filter(|(name, _)| [CHECKOUT, RUN].contains(name));
        keys.map(|(_, value)| value.clone()).collect()
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let place = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.remove(place).1)
    }

    /// A line with these values. A statement's place is that of whoever wrote the statement.
    fn line(mut self, message: &str, metadata: &'static Metadata<'static>) -> Line {
        let place = match (self.take("at.file"), self.take("at.line")) {
            (Some(file), Some(line)) => line.parse().ok().map(|line| Place { file, line }),
            _ => metadata
                .file()
                .zip(metadata.line())
                .map(|(file, line)| Place {
                    file: file.to_owned(),
                    line,
                }),
        };
        Line {
            at: Utc::now(),
            level: *metadata.level(),
            module: metadata.target(),
            message: message.to_owned(),
            fields: self.0,
            place,
        }
    }
}

impl Visit for Words {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), shortened(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = String::new();
        let _ = write!(text, "{value:?}");
        self.0.push((field.name(), shortened(&text)));
    }
}
