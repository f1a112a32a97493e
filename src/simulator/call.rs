//! One API call, as the operations see it.

use serde_json::Value;
use sqlx::SqliteConnection;

use super::{Shared, error::ApiError, objects};

/// What an operation works with: the transaction its effects are in, and why it is run.
#[derive(Debug)]
pub(super) struct Call<'c> {
    pub(super) tx: &'c mut SqliteConnection,
    /// Unix seconds of the simulator's clock; one instant for everything the call does.
    pub(super) now: i64,
    pub(super) cause: Cause,
    /// Where the simulator is reached, for the links it gives out.
    pub(super) base_url: &'c str,
    /// There is something to deliver, or to do later, once this is committed.
    pub(super) has_news: bool,
    /// What it has to tell. All of it is written at its end, at once.
    pub(super) events: Vec<Value>,
}

impl<'c> Call<'c> {
    /// What happens without a request.
    pub(super) fn automatic(tx: &'c mut SqliteConnection, shared: &'c Shared) -> Self {
        Self {
            tx,
            now: shared.clock.now(),
            cause: Cause::default(),
            base_url: &shared.base_url,
            has_news: false,
            events: Vec::new(),
        }
    }

    /// Writes down what the call has to tell, to be committed with it. Whether there is anything for the workers is the
    /// answer.
    pub(super) async fn end(self) -> Result<bool, ApiError> {
        objects::insert_all(self.tx, &self.events).await?;
        Ok(self.has_news)
    }
}

/// Named by every event of the call, so that a receiver can tell which request was behind it.
#[derive(Clone, Debug, Default)]
pub(super) struct Cause {
    /// `None`: nobody asked, it happened by itself.
    pub(super) request_id: Option<String>,
    pub(super) idempotency_key: Option<String>,
}
