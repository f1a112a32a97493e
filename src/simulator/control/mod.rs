//! The levers of the simulator, which no payment provider has: faults, chaos, the clock, the ledger, the journals.
//!
//! [`Control`] has them for Rust tests; `/_control` (in [`http`]) offers the same functions as JSON, and the page at
//! `/` as forms.

mod body;
pub(super) mod http;

use std::{sync::Arc, time::Duration};

use axum::{extract::FromRef, http::StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Shared, clock,
    error::ApiError,
    faults::{ArmedFault, Chaos, Fault},
    journal::{self, LoggedRequest},
    ledger::{self, Ledger},
    objects,
    refused::Refused,
    schedule,
    webhook_endpoints::{self, RolledSecret},
    webhooks::{self, LoggedDelivery},
};

/// Redelivering more often than this at once is a mistake.
const MAX_COPIES: u32 = 100;

/// The controls of a running simulator; cheap to clone.
#[derive(Clone, Debug)]
pub struct Control {
    pub(super) shared: Arc<Shared>,
}

/// Why a control did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// It cannot be done as asked; nothing has changed.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// There is no event with this id.
    #[error("there is no event {0}")]
    NoSuchEvent(String),
    /// There is no webhook endpoint with this id.
    #[error("there is no webhook endpoint {0}")]
    NoSuchEndpoint(String),
    /// There is no object with this id.
    #[error("there is no object {0}")]
    NoSuchObject(String),
    /// The simulator's database failed, or it was closed.
    #[error("the simulator failed: {0}")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// One delivery that [`Control::redeliver`] made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redelivery {
    /// The endpoint.
    pub url: String,
    /// What it answered.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
}

/// The simulator's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockReading {
    /// Unix seconds.
    pub now: i64,
    /// How far it is ahead of the wall's, in seconds.
    pub offset_seconds: i64,
}

impl Control {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Arms a fault. Refused when it could never strike, or not as its author thinks.
    pub fn arm(&self, fault: Fault) -> Result<ArmedFault, Refused> {
        self.shared.faults.arm(fault)
    }

    /// The faults that still wait, the oldest first.
    pub fn faults(&self) -> Vec<ArmedFault> {
        self.shared.faults.list()
    }

    /// Forgets all faults that wait, and returns how many there were. Chaos goes on.
    pub fn clear_faults(&self) -> usize {
        self.shared.faults.clear()
    }

    /// Lets faults strike at random, from the first request on. Refused when the rates are none.
    pub fn start_chaos(&self, chaos: Chaos) -> Result<(), Refused> {
        chaos.check()?;
        self.shared.faults.set_chaos(Some(chaos));
        Ok(())
    }

    /// The chaos that reigns, if any does.
    pub fn chaos(&self) -> Option<Chaos> {
        self.shared.faults.chaos()
    }

    /// Ends chaos; the faults that were armed one by one stay.
    pub fn end_chaos(&self) {
        self.shared.faults.set_chaos(None);
    }

    /// What was really paid.
    pub async fn ledger(&self) -> Result<Ledger, ControlError> {
        self.read_ledger(&Map::new()).await
    }

    /// What was really paid with intents that carry all of this metadata, with their refunds and events.
    pub async fn ledger_of(&self, metadata: &[(&str, &str)]) -> Result<Ledger, ControlError> {
        let pairs = metadata.iter();
        let wanted = pairs.map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        self.read_ledger(&wanted.collect()).await
    }

    async fn read_ledger(&self, metadata: &Map<String, Value>) -> Result<Ledger, ControlError> {
        let mut tx = self.shared.store.read().await?;
        Ok(ledger::read(tx.conn().await?, metadata).await?)
    }

    /// The last ten thousand requests to the API, newest first.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.shared.journal.read(journal::CAPACITY)
    }

    /// The last thousand attempts to deliver an event, newest first.
    pub async fn deliveries(&self) -> Result<Vec<LoggedDelivery>, ControlError> {
        let mut tx = self.shared.store.read().await?;
        Ok(webhooks::journal(tx.conn().await?, webhooks::SHOWN).await?)
    }

    /// Delivers an event again, now, this many times (1 to 100) to every endpoint that wants its type, and tells what
    /// came of it. Of many copies a few are under way at a time.
    ///
    /// As at the provider, this stands beside the automatic deliveries: it meets no faults and ends no retries.
    pub async fn redeliver(
        &self,
        event: &str,
        copies: u32,
    ) -> Result<Vec<Redelivery>, ControlError> {
        if !(1..=MAX_COPIES).contains(&copies) {
            let sentence = format!("copies is between 1 and {MAX_COPIES}.");
            return Err(Refused::new(sentence).param("copies").into());
        }
        let sent = webhooks::send_now(&self.shared, event, copies).await?;
        let sent = sent.ok_or_else(|| ControlError::NoSuchEvent(event.to_owned()))?;
        let told = sent.into_iter().map(|(url, reception)| Redelivery {
            url,
            status: reception.as_ref().ok().copied(),
            error: reception.err(),
        });
        Ok(told.collect())
    }

    /// Gives a webhook endpoint a new secret, as one does at Stripe's Dashboard. The old one signs beside it for
    /// `overlap` more, a day at most; without any it ends at once.
    pub async fn roll_secret(
        &self,
        endpoint: &str,
        overlap: Duration,
    ) -> Result<RolledSecret, ControlError> {
        let seconds = i64::try_from(overlap.as_secs()).unwrap_or(i64::MAX);
        let mut tx = self.shared.store.begin().await?;
        let now = self.shared.clock.now();
        let rolled = webhook_endpoints::roll(tx.conn().await?, endpoint, seconds, now).await?;
        tx.commit().await?;
        Ok(rolled)
    }

    /// What time it is here.
    pub fn clock(&self) -> ClockReading {
        ClockReading {
            now: self.shared.clock.now(),
            offset_seconds: self.shared.clock.offset(),
        }
    }

    /// Moves the clock forward, by whole seconds: a fraction is dropped. Keys expire and retries become due.
    ///
    /// Refused beyond ten years at once, or a century in all. There is no way back, which would un-expire keys.
    pub async fn advance(&self, by: Duration) -> Result<ClockReading, ControlError> {
        let seconds = i64::try_from(by.as_secs()).unwrap_or(i64::MAX);
        if seconds > clock::MAX_ADVANCE_SECONDS {
            let limit = clock::MAX_ADVANCE_SECONDS;
            let sentence = format!("advance_seconds is between 0 and {limit}.");
            return Err(Refused::new(sentence).param("advance_seconds").into());
        }
        let mut tx = self.shared.store.begin().await?;
        let Some(offset) = clock::advance(tx.conn().await?, seconds).await? else {
            let sentence = format!(
                "The clock is {} seconds ahead already, and {} is as far as it goes.",
                self.shared.clock.offset(),
                clock::MAX_OFFSET_SECONDS
            );
            return Err(Refused::new(sentence).param("advance_seconds").into());
        };
        tx.commit().await?;
        self.shared.clock.set_offset(offset);
        self.shared.wake_workers();
        Ok(self.clock())
    }

    /// Does now what would happen by itself later, whatever its time: an asynchronous capture is counted, a bank
    /// debit is decided, an authorization expires, … With `object` only what happens to the object with this id.
    /// Returns how much happened, which is nothing where nothing is scheduled.
    pub async fn settle(&self, object: Option<&str>) -> Result<usize, ControlError> {
        if let Some(id) = object {
            let mut tx = self.shared.store.read().await?;
            let found = objects::find_any(tx.conn().await?, id).await?;
            found.ok_or_else(|| ControlError::NoSuchObject(id.to_owned()))?;
        }
        Ok(schedule::settle(&self.shared, object).await?)
    }

    /// Forgets everything but what the simulator was started with: its webhook endpoints, and chaos, which starts
    /// again from its first request.
    pub async fn reset(&self) -> Result<(), ControlError> {
        let mut tx = self.shared.store.begin().await?;
        for forget in [
            "delete from delivery_attempts",
            "delete from deliveries",
            "delete from scheduled",
            "delete from objects where kind <> 'webhook_endpoint'",
            "delete from idempotency_keys",
            "update clock set offset_seconds = 0",
        ] {
            sqlx::query(forget).execute(tx.conn().await?).await?;
        }
        let now = chrono::Utc::now().timestamp();
        webhook_endpoints::restore(&mut tx, &self.shared.webhooks, now).await?;
        tx.commit().await?;
        self.shared.clock.set_offset(0);
        self.shared.faults.clear();
        self.shared.faults.set_chaos(self.shared.chaos.clone());
        self.shared.journal.clear();
        Ok(())
    }
}

impl FromRef<Arc<Shared>> for Control {
    fn from_ref(shared: &Arc<Shared>) -> Self {
        Self::new(Arc::clone(shared))
    }
}

impl From<ControlError> for ApiError {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Refused(refused) => refused.into(),
            ControlError::NoSuchEvent(event) => {
                Self::missing("event", &event, "id").status(StatusCode::NOT_FOUND)
            }
            ControlError::NoSuchEndpoint(endpoint) => webhook_endpoints::not_found(&endpoint),
            ControlError::NoSuchObject(id) => Self::missing("object", &id, "object").not_found(),
            ControlError::Failed(cause) => Self::internal(cause),
        }
    }
}

impl From<sqlx::Error> for ControlError {
    fn from(cause: sqlx::Error) -> Self {
        Self::Failed(cause.into())
    }
}

impl From<ApiError> for ControlError {
    /// Controls ask for what is stored, so whatever is wrong with it is not the asker's fault.
    fn from(error: ApiError) -> Self {
        Self::Failed(error.into_cause())
    }
}
