//! `GET /metrics`: what a Prometheus server reads, as text.
//!
//! Numbers of the database ([`gauges`]) are the same in each process; they are read at most every ten seconds, whoever asks,
//! and however often. Counters are this process's own. Every label has a few values that stand in this program: a route and not
//! an address, and nothing of any customer.

mod durations;
mod text;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::header::CONTENT_TYPE,
    response::IntoResponse,
};
use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Mutex;

pub use self::durations::Durations;
use self::text::{Kind, Text};
use crate::{
    app::App,
    checkout::Verdict,
    db::Db,
    gauges::{self, Gauges},
    webhooks::Received,
};

/// How long the numbers of the database are good for.
const FRESH: TimeDelta = TimeDelta::seconds(10);

/// What this process has counted. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    requests: Durations,
    webhooks: [AtomicU64; VERDICTS.len()],
    gauges: Mutex<Option<(DateTime<Utc>, Gauges)>>,
}

/// What can become of a delivery, in the order of the counters.
const VERDICTS: [&str; 6] = [
    "applied",
    "ignored",
    "discrepancy",
    "duplicate",
    "refused",
    "failed",
];

/// What became of a delivery.
#[derive(Clone, Copy, Debug)]
pub enum Delivery {
    /// It was an event.
    Received(Received),
    /// It was not one of the provider's: the sender is told so.
    Refused,
    /// It was one, and has to be sent again.
    Failed,
}

impl Metrics {
    /// The requests, by route.
    pub fn requests(&self) -> &Durations {
        &self.0.requests
    }

    /// Counts a delivery of the provider's.
    pub fn count_webhook(&self, delivery: Delivery) {
        let verdict = match delivery {
            Delivery::Received(Received::Processed(Verdict::Concluded | Verdict::Waiting)) => 0,
            Delivery::Received(Received::Processed(Verdict::Nothing)) => 1,
            Delivery::Received(Received::Processed(Verdict::Discrepancy)) => 2,
            Delivery::Received(Received::Duplicate) => 3,
            Delivery::Refused => 4,
            Delivery::Failed => 5,
        };
        if let Some(counter) = self.0.webhooks.get(verdict) {
            counter.fetch_add(1, Relaxed);
        }
    }

    /// The numbers of the database. Of many who ask at once one reads, and a failure is not kept.
    async fn gauges(&self, db: &Db, now: DateTime<Utc>) -> sqlx::Result<Gauges> {
        let mut kept = self.0.gauges.lock().await;
        if let Some((at, gauges)) = &*kept
            && now - *at < FRESH
        {
            return Ok(gauges.clone());
        }
        let gauges = gauges::read(db).await?;
        *kept = Some((now, gauges.clone()));
        Ok(gauges)
    }
}

/// Which of our routes a request is for. Whatever strangers try is one more.
pub fn route(request: &Request) -> String {
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map(MatchedPath::as_str);
    // Within what is nested, everything else has a route too, with a name that is nobody's business.
    let route = route.filter(|route| !route.contains("__private"));
    route.unwrap_or("none").to_owned()
}

/// `GET /metrics`.
pub async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let now = app.till.clock.now();
    let mut text = Text::default();
    let gauges = app.metrics.gauges(&app.till.db, now).await;
    if let Err(error) = &gauges {
        tracing::warn!(%error, "the metrics have no numbers of the database");
    }
    text.number(
        "boring_database_up",
        "Whether the numbers of the database could be read.",
        i64::from(gauges.is_ok()),
    );
    if let Ok(gauges) = gauges {
        write_gauges(&mut text, &gauges, now);
    }
    write_counters(&mut text, &app);
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, text.finish())
}

fn write_gauges(text: &mut Text, gauges: &Gauges, now: DateTime<Utc>) {
    text.family("boring_checkouts", Kind::Gauge, "Checkouts by status.");
    for (status, count) in &gauges.checkouts {
        text.sample("boring_checkouts", &[("status", status.name())], count);
    }
    let age = |since: Option<DateTime<Utc>>| since.map_or(0, |at| (now - at).num_seconds().max(0));
    for (name, help, value) in [
        (
            "boring_checkouts_pending_age_seconds",
            "Age of the oldest undecided checkout; 0 when there is none.",
            age(gauges.pending_since),
        ),
        (
            "boring_outbox_unpublished",
            "Messages that are not published, parked ones included.",
            gauges.outbox_unpublished,
        ),
        (
            "boring_outbox_parked",
            "Messages that nobody tries to publish until they are retried.",
            gauges.outbox_parked,
        ),
        (
            "boring_outbox_age_seconds",
            "Age of the oldest message that is still to be published; 0 when there is none.",
            age(gauges.unpublished_since),
        ),
        (
            "boring_mails_waiting",
            "Mails that are to be sent.",
            gauges.mails_waiting,
        ),
        (
            "boring_mails_given_up",
            "Mails that nobody tries to send until they are retried.",
            gauges.mails_given_up,
        ),
        (
            "boring_refunds_pending",
            "Refunds on their way.",
            gauges.refunds_pending,
        ),
        (
            "boring_discrepancies_open",
            "Contradictions with the provider that nobody has resolved.",
            gauges.discrepancies_open,
        ),
    ] {
        text.number(name, help, value);
    }
}

fn write_counters(text: &mut Text, app: &App) {
    let name = "boring_webhooks_total";
    text.family(
        name,
        Kind::Counter,
        "Deliveries by the provider, by what became of them.",
    );
    for (verdict, count) in VERDICTS.iter().zip(&app.metrics.0.webhooks) {
        text.sample(name, &[("verdict", verdict)], count.load(Relaxed));
    }
    let name = "boring_provider_requests_total";
    text.family(
        name,
        Kind::Counter,
        "Requests to the provider, each attempt, by how it was answered.",
    );
    for (outcome, count) in app.till.provider.requests() {
        text.sample(name, &[("outcome", outcome)], count);
    }
    app.metrics.requests().write(text);
}
