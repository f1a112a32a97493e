//! The lock on a database file: one simulator at a time has it.
//!
//! Which keys are in use, and how far the clock is ahead, is known to one process only. So whoever opens a database
//! locks a file beside it (`provider.db.lock`) for as long as it is open. The system releases the lock of a process
//! that dies; the file stays, since whoever removed it might remove one that another process has just locked.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::Instant;

use super::store::StoreError;

/// How long to wait for a process that was just told to end, or killed.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often to look whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Held until it is released or dropped.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Locks the database in `file`.
    pub(super) async fn take(file: &Path) -> Result<Self, StoreError> {
        let mut path = file.as_os_str().to_owned();
        path.push(".lock");
        let beside = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(PathBuf::from(path))
            .map_err(StoreError::Lock)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match beside.try_lock() {
                Ok(()) => return Ok(Self(beside)),
                Err(TryLockError::Error(error)) => return Err(StoreError::Lock(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(StoreError::InUse);
                }
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Lets others have the database. To be called when it is closed.
    pub(super) fn release(&self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the lock on the database is kept until the process ends");
        }
    }
}
