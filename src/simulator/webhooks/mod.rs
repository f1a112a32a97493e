//! Webhooks: every event reaches every endpoint at least once.
//!
//! ```text
//! the transaction of a change          events + deliveries (pending)
//! worker      claim what is due ──► POST, signed ──► 2xx: delivered
//!                  ▲                       │
//!                  └── later, by the ◄─────┴── anything else, or nothing
//!                      schedule                 (after three days: given up)
//! ```
//!
//! Nothing is promised about order: what is due at the same moment is sent at the same moment.

mod attempt;
mod deliveries;
mod signature;
mod worker;

use sqlx::SqliteConnection;

pub use self::deliveries::LoggedDelivery;
pub(super) use self::{
    attempt::send_now,
    deliveries::journal,
    worker::{client, work},
};
use super::{WebhookTarget, ids};

/// Makes the configured endpoints those of `targets`, recognised by their URLs.
///
/// One that is named no longer is switched off, and its deliveries wait until it is named again.
pub(super) async fn configure(
    tx: &mut SqliteConnection,
    targets: &[WebhookTarget],
    now: i64,
) -> sqlx::Result<()> {
    sqlx::query("update webhook_endpoints set enabled = 0 where configured = 1")
        .execute(&mut *tx)
        .await?;
    for target in targets {
        sqlx::query(
            "insert into webhook_endpoints (id, url, secret, configured, created) values ($1, $2, $3, 1, $4)
             on conflict (url) where configured = 1 do update set secret = excluded.secret, enabled = 1",
        )
        .bind(ids::object_id("we"))
        .bind(&target.url)
        .bind(&target.secret)
        .bind(now)
        .execute(&mut *tx)
        .await?;
    }
    Ok(())
}
