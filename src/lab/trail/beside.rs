//! The log, with the trail beside it.
//!
//! Each keeps what is its own: the log what its filter lets through, the trail what the shop says. It would be shorter with a
//! filter for each layer. But a library that only *asks* whether its lines are wanted leaves such filters believing that the
//! next line of the thread is its own, and that line is lost; sqlx asks after each statement on PostgreSQL.
//! <https://github.com/tokio-rs/tracing/issues/2519>

use tracing::{
    Event, Metadata, Subscriber,
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
    subscriber::Interest,
};
use tracing_subscriber::{EnvFilter, Layer, layer::Context, registry::LookupSpan};

use super::layer::{Keep, is_kept};

/// Lines that are written as `filter` says, and the trail.
pub(super) struct Beside<L> {
    pub(super) lines: L,
    pub(super) filter: EnvFilter,
    pub(super) keep: Keep,
}

impl<S, L> Layer<S> for Beside<L>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    L: Layer<S>,
{
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        let interest = Layer::<S>::register_callsite(&self.filter, metadata);
        if is_kept(metadata) {
            Interest::always()
        } else {
            interest
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, context: Context<'_, S>) -> bool {
        is_kept(metadata) || self.filter.enabled(metadata, context)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let hint = self.filter.max_level_hint();
        hint.map(|hint| hint.max(LevelFilter::DEBUG))
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        Layer::on_new_span(&self.filter, attributes, id, context.clone());
        if is_kept(attributes.metadata()) {
            self.keep.on_new_span(attributes, id, &context);
        }
        self.lines.on_new_span(attributes, id, context);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        Layer::on_record(&self.filter, id, values, context.clone());
        self.keep.on_record(id, values, &context);
        self.lines.on_record(id, values, context);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if is_kept(event.metadata()) {
            self.keep.on_event(event, &context);
        }
        if self.filter.enabled(event.metadata(), context.clone()) {
            self.lines.on_event(event, context);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        Layer::on_enter(&self.filter, id, context.clone());
        self.lines.on_enter(id, context);
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        Layer::on_exit(&self.filter, id, context.clone());
        self.lines.on_exit(id, context);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        Layer::on_close(&self.filter, id.clone(), context.clone());
        self.keep.on_close(&id, &context);
        self.lines.on_close(id, context);
    }
}
