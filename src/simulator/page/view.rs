//! What the page shows, already turned into text. Askama escapes all of it.

use std::fmt;

use askama::Template;
use chrono::DateTime;
use serde_json::Map;
use sqlx::SqliteConnection;

use super::forms::Typed;
use crate::simulator::{
    control::{Control, ControlError},
    currencies, event_types,
    faults::{ApiFault, WebhookFault},
    journal::LoggedRequest,
    ledger::{self, Ledger},
    operations::Operation,
    place,
    webhooks::{self, LoggedDelivery},
};

/// So many rows fit on a screen; the control calls have the rest.
const PAYMENTS: i64 = 10;
const REQUESTS: usize = 20;
const DELIVERIES: i64 = 20;

/// The whole page.
#[derive(Template)]
#[template(path = "simulator/overview.html")]
pub(super) struct Overview {
    refresh_seconds: Option<u32>,
    typed: Typed,
    base_url: String,
    now: String,
    ahead: Option<String>,
    ledger: Ledger,
    payments: Vec<Payment>,
    requests: Vec<LoggedRequest>,
    deliveries: Vec<LoggedDelivery>,
    faults: Vec<Waiting>,
    chaos: Option<Reigning>,
    request_faults: [&'static str; 7],
    webhook_faults: [&'static str; 5],
    operations: Vec<&'static str>,
    event_types: &'static [&'static str],
}

struct Payment {
    id: String,
    amount: String,
    status: String,
    metadata: String,
}

struct Waiting {
    text: String,
    seen: u64,
    skip: u32,
    struck: u32,
    times: u32,
}

struct Reigning {
    seed: u64,
    rates: Vec<String>,
}

impl Overview {
    pub(super) async fn of(
        control: &Control,
        typed: Typed,
        refresh_seconds: Option<u32>,
    ) -> Result<Self, ControlError> {
        // One transaction: what the page says of the ledger and of deliveries is true at the same moment.
        let mut tx = control.shared.store.read().await?;
        let ledger = ledger::read(tx.conn().await?, &Map::new()).await?;
        let payments = newest_payments(tx.conn().await?).await?;
        let mut deliveries = webhooks::journal(tx.conn().await?, DELIVERIES).await?;
        drop(tx);
        for delivery in &mut deliveries {
            delivery.url = place::without_secrets(&delivery.url);
        }
        let faults = control.faults().into_iter().map(|it| Waiting {
            text: it.fault.to_string(),
            seen: it.seen,
            skip: it.fault.skip,
            struck: it.struck,
            times: it.fault.times,
        });
        let chaos = control.chaos().map(|chaos| Reigning {
            seed: chaos.seed,
            rates: chaos
                .rates
                .to_string()
                .split(',')
                .map(ToOwned::to_owned)
                .collect(),
        });
        let clock = control.clock();
        Ok(Self {
            refresh_seconds,
            typed,
            base_url: control.shared.base_url.clone(),
            now: time(clock.now),
            ahead: ahead(clock.offset_seconds),
            ledger,
            payments,
            requests: control.shared.journal.read(REQUESTS),
            deliveries,
            faults: faults.collect(),
            chaos,
            request_faults: ApiFault::NAMES,
            webhook_faults: WebhookFault::NAMES,
            operations: Operation::all().map(|it| it.name).collect(),
            event_types: event_types::MADE,
        })
    }

    /// The time of day in an RFC 3339 timestamp; the whole is shown on demand.
    fn clock_time(at: &str) -> &str {
        at.get(11..19).unwrap_or(at)
    }

    /// The class of a status.
    fn tone(status: impl fmt::Display) -> &'static str {
        if status.to_string().starts_with('2') {
            "good"
        } else {
            "bad"
        }
    }
}

/// The newest payment intents, with nothing of them that is secret.
async fn newest_payments(tx: &mut SqliteConnection) -> sqlx::Result<Vec<Payment>> {
    let rows: Vec<(String, i64, String, String, String)> = sqlx::query_as(
        "select id, body ->> '$.amount', body ->> '$.currency', body ->> '$.status',
                (select coalesce(group_concat(key || '=' || value, ', '), '') from json_each(body, '$.metadata'))
         from objects
         where kind = 'payment_intent'
         order by seq desc
         limit $1",
    )
    .bind(PAYMENTS)
    .fetch_all(tx)
    .await?;
    let payments = rows
        .into_iter()
        .map(|(id, amount, currency, status, metadata)| Payment {
            id,
            amount: currencies::written(amount, &currency),
            status,
            metadata,
        });
    Ok(payments.collect())
}

/// `29 November 2026, 20:05:35 UTC`
fn time(unix: i64) -> String {
    let at = DateTime::from_timestamp(unix, 0);
    at.map(|at| at.format("%-d %B %Y, %H:%M:%S UTC").to_string())
        .unwrap_or_default()
}

/// How far the clock was moved: `1 day, 1 h`. `None` when it was not.
fn ahead(seconds: i64) -> Option<String> {
    let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    Some(humantime::format_duration(std::time::Duration::from_secs(seconds)).to_string())
}
