//! One API call, as the operations see it.

use serde::Serialize;
use sqlx::SqliteConnection;

use super::{Shared, transaction::Tx};

/// What an operation works with: the transaction its effects are in, and why it is run.
#[derive(Debug)]
pub(super) struct Call<'c> {
    pub(super) tx: &'c mut Tx,
    /// Unix seconds of the simulator's clock; one instant for everything the call does.
    pub(super) now: i64,
    pub(super) cause: Cause,
    /// Where the simulator is reached, for the links it gives out.
    pub(super) base_url: &'c str,
    /// There is something to deliver, or to do later, once this is committed.
    pub(super) has_news: bool,
}

impl<'c> Call<'c> {
    /// What happens without a request.
    pub(super) fn automatic(tx: &'c mut Tx, shared: &'c Shared) -> Self {
        Self {
            tx,
            now: shared.clock.now(),
            cause: Cause::default(),
            base_url: &shared.base_url,
            has_news: false,
        }
    }

    /// To ask for something. All that the call has written before is seen.
    pub(super) async fn conn(&mut self) -> sqlx::Result<&mut SqliteConnection> {
        self.tx.conn().await
    }
}

/// Named by every event of the call, so that a receiver can tell which request was behind it.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Cause {
    /// `None`: nobody asked, it happened by itself.
    #[serde(rename = "id")]
    pub(super) request_id: Option<String>,
    pub(super) idempotency_key: Option<String>,
}
