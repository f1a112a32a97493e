//! Where the provider and we disagree: kept for a person, reported by the audit until it is resolved, which
//! a refund does by itself, and an [`operator`] with a note.

pub mod operator;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{db::Tx, ids::CheckoutId};

/// One contradiction.
#[derive(Debug)]
pub struct Discrepancy<'a> {
    /// Which kind, in snake case.
    pub kind: &'static str,
    /// The provider's object that it is about.
    pub object: &'a str,
    /// The checkout that the object names.
    pub checkout: CheckoutId,
    /// What differs, in a sentence.
    pub detail: String,
}

/// Opens a discrepancy. The same one again changes nothing, and is `false`.
pub async fn open(
    tx: &mut Tx,
    discrepancy: &Discrepancy<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let opened = tx
        .query(
            "insert into discrepancies (id, kind, object_id, checkout_id, detail, created_at)
             values ($1, $2, $3, $4, $5, $6)
             on conflict do nothing",
        )
        .bind(Uuid::now_v7())
        .bind(discrepancy.kind)
        .bind(discrepancy.object)
        .bind(discrepancy.checkout)
        .bind(&discrepancy.detail)
        .bind(now)
        .execute()
        .await?;
    if opened == 1 {
        // An error: somebody has to look.
        tracing::error!(
            checkout.id = %discrepancy.checkout,
            kind = discrepancy.kind,
            object = discrepancy.object,
            "discrepancy: {}", discrepancy.detail
        );
    }
    Ok(opened == 1)
}

/// Resolves the discrepancy of a kind about an object of the provider's.
pub async fn resolve(
    tx: &mut Tx,
    kind: &str,
    object: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<u64> {
    let resolved = tx
        .query(
            "update discrepancies set resolved_at = $3
         where kind = $1 and object_id = $2 and resolved_at is null",
        )
        .bind(kind)
        .bind(object)
        .bind(now)
        .execute()
        .await?;
    if resolved > 0 {
        tracing::info!(kind, object, "discrepancy resolved");
    }
    Ok(resolved)
}

/// Opens a discrepancy again whose resolution did not last.
pub async fn reopen(tx: &mut Tx, kind: &str, object: &str) -> sqlx::Result<u64> {
    tx.query(
        "update discrepancies set resolved_at = null, resolved_by = null, note = null
         where kind = $1 and object_id = $2",
    )
    .bind(kind)
    .bind(object)
    .execute()
    .await
}
