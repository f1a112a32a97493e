//! Running a whole phase again after a failure that may go away.

use std::{future::Future, time::Duration};

use crate::waits;

/// How often [`retrying`] runs its work before it reports the failure.
const ATTEMPTS: u32 = 7;

/// The longest wait before the second attempt; it doubles for each further one. All waits together are about
/// a second and a half at most, after which a connection that died with its server is no longer lent.
const FIRST_WAIT: Duration = Duration::from_millis(25);

/// Runs `work`, a whole transaction from `begin` to `commit`, again after a transient failure.
///
/// A commit whose answer was lost is unknown, not failed. So the work must be safe to run twice: it talks to
/// the database and to nothing else, and finds what an earlier run of it left.
///
/// ```ignore
/// pub async fn submit(db: &Db, purchase: &Purchase) -> Result<Checkout, SubmitError> {
///     retrying(|| submit_once(db, purchase)).await
/// }
/// ```
pub async fn retrying<T, E, F>(work: impl Fn() -> F) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
    E: Transient,
{
    let mut longest = FIRST_WAIT;
    for _ in 1..ATTEMPTS {
        match work().await {
            Err(error) if error.is_transient() => {
                tokio::time::sleep(waits::before_next_try(longest, Duration::ZERO)).await;
                longest *= 2;
            }
            outcome => return outcome,
        }
    }
    work().await
}

/// Errors that may go away when the whole transaction is run again.
pub trait Transient {
    /// Whether another run may succeed.
    fn is_transient(&self) -> bool;
}

impl Transient for sqlx::Error {
    fn is_transient(&self) -> bool {
        match self {
            // The connection broke, perhaps during the commit: whether it happened is unknown.
            sqlx::Error::Io(_) => true,
            sqlx::Error::Database(error) => matches!(
                error.code().as_deref(),
                Some(
                    // PostgreSQL: serialization failure, deadlock, lock not available in time; the server is
                    // shutting down, has crashed, or is starting.
                    "40001" | "40P01" | "55P03" | "57P01" | "57P02" | "57P03"
                    // SQLite: another process holds the write lock.
                    | "5" | "517"
                )
            ),
            _ => false,
        }
    }
}
