//! One API call, as the operations see it.

use sqlx::SqliteConnection;

/// What an operation works with: the transaction its effects are in, and why it is run.
#[derive(Debug)]
pub(super) struct Call<'c> {
    pub(super) tx: &'c mut SqliteConnection,
    /// Unix seconds of the simulator's clock; one instant for everything the call does.
    pub(super) now: i64,
    pub(super) cause: Cause,
    /// Where the simulator is reached, for the links it gives out.
    pub(super) base_url: &'c str,
    /// Something is to be delivered once this is committed.
    pub(super) has_news: bool,
}

/// Named by every event of the call, so that a receiver can tell which request was behind it.
#[derive(Clone, Debug, Default)]
pub(super) struct Cause {
    /// `None`: nobody asked, it happened by itself.
    pub(super) request_id: Option<String>,
    pub(super) idempotency_key: Option<String>,
}
