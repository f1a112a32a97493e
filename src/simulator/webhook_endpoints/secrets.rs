//! The secrets that sign deliveries, and their rotation.
//!
//! ```text
//! roll ──► a new secret signs; the old one signs beside it until the overlap ends
//! ```
//!
//! Meanwhile a receiver that knows either secret finds a signature it can check, so nobody has to change both sides
//! at the same moment: <https://docs.stripe.com/webhooks#roll-endpoint-signing-secrets-periodically>.

use std::fmt;

use serde::Serialize;
use sqlx::SqliteConnection;

use super::find;
use crate::simulator::{ControlError, Refused, clock, ids};

/// The longest that an old secret stays valid.
const MAX_OVERLAP_SECONDS: i64 = 24 * 60 * 60;

/// Each makes every delivery's header longer. Who rolls more often within a day ends the old ones at once.
const MAX_ACTIVE: usize = 8;

/// What a roll came to.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct RolledSecret {
    /// The endpoint's id.
    pub id: String,
    /// The new secret. Nothing tells it again.
    pub secret: String,
    /// Until when the old one signs beside it: RFC 3339, by the simulator's clock.
    pub old_secret_expires_at: String,
}

/// `whsec_` and 32 letters and digits, used as it stands.
pub(super) fn fresh() -> String {
    format!("whsec_{}", ids::alphanumeric(32))
}

/// What signs deliveries at `now` (seconds of the simulator's clock), the current secret first.
pub(super) async fn active_secrets(
    tx: &mut SqliteConnection,
    endpoint_id: &str,
    now: i64,
) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar(
        "select secret from webhook_secrets
         where endpoint_id = $1 and (expires_at is null or expires_at > $2)
         order by id desc",
    )
    .bind(endpoint_id)
    .bind(now)
    .fetch_all(tx)
    .await
}

/// Makes `secret` the only one.
pub(super) async fn replace(
    tx: &mut SqliteConnection,
    endpoint_id: &str,
    secret: &str,
) -> sqlx::Result<()> {
    sqlx::query("delete from webhook_secrets where endpoint_id = $1")
        .bind(endpoint_id)
        .execute(&mut *tx)
        .await?;
    insert(tx, endpoint_id, secret).await
}

/// A new secret for an endpoint. The old ones sign beside it for `overlap_seconds` more; 0 ends them at once.
pub(in crate::simulator) async fn roll(
    tx: &mut SqliteConnection,
    endpoint_id: &str,
    overlap_seconds: i64,
    now: i64,
) -> Result<RolledSecret, ControlError> {
    if !(0..=MAX_OVERLAP_SECONDS).contains(&overlap_seconds) {
        let sentence = format!("overlap_seconds is between 0 and {MAX_OVERLAP_SECONDS}.");
        return Err(Refused::new(sentence).param("overlap_seconds").into());
    }
    if find(tx, endpoint_id).await?.is_none() {
        return Err(ControlError::NoSuchEndpoint(endpoint_id.to_owned()));
    }
    let is_crowded = active_secrets(tx, endpoint_id, now).await?.len() >= MAX_ACTIVE;
    if is_crowded && overlap_seconds > 0 {
        let sentence = format!(
            "{MAX_ACTIVE} secrets of this endpoint are valid already. With overlap_seconds 0 the old ones end at once."
        );
        return Err(Refused::new(sentence).param("overlap_seconds").into());
    }
    let expires_at = now + overlap_seconds;
    sqlx::query(
        "update webhook_secrets set expires_at = min(coalesce(expires_at, $2), $2) where endpoint_id = $1",
    )
    .bind(endpoint_id)
    .bind(expires_at)
    .execute(&mut *tx)
    .await?;
    sqlx::query("delete from webhook_secrets where endpoint_id = $1 and expires_at <= $2")
        .bind(endpoint_id)
        .bind(now)
        .execute(&mut *tx)
        .await?;
    let secret = fresh();
    insert(tx, endpoint_id, &secret).await?;
    Ok(RolledSecret {
        id: endpoint_id.to_owned(),
        secret,
        old_secret_expires_at: clock::rfc3339(expires_at * 1000),
    })
}

async fn insert(tx: &mut SqliteConnection, endpoint_id: &str, secret: &str) -> sqlx::Result<()> {
    sqlx::query("insert into webhook_secrets (endpoint_id, secret) values ($1, $2)")
        .bind(endpoint_id)
        .bind(secret)
        .execute(tx)
        .await?;
    Ok(())
}

impl fmt::Debug for RolledSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RolledSecret")
            .field("id", &self.id)
            .field("old_secret_expires_at", &self.old_secret_expires_at)
            .finish_non_exhaustive()
    }
}
