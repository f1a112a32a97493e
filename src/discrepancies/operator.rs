//! Discrepancies can be listed and found, and a person who has looked into one resolves it, with a note.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{
    db::{Db, Tx, retrying},
    ids::CheckoutId,
    paging::{Keyed, Turns, turns},
    search::{self, Searchable, Way},
};

/// The longest note, in characters.
pub const NOTE_MAX: usize = 1_000;

/// A discrepancy, as it is kept.
#[derive(Debug, sqlx::FromRow)]
pub struct Listed {
    /// Its id.
    pub id: Uuid,
    /// Which kind, in snake case.
    pub kind: String,
    /// The provider's object that it is about.
    pub object_id: String,
    /// The checkout that the object names.
    pub checkout_id: Option<CheckoutId>,
    /// What differs, in a sentence.
    pub detail: String,
    /// When it was found.
    pub created_at: DateTime<Utc>,
    /// When it was resolved.
    pub resolved_at: Option<DateTime<Utc>>,
    /// By whom, when it was a person.
    pub resolved_by: Option<String>,
    /// Why that is right.
    pub note: Option<String>,
}

impl Keyed for Listed {
    type Key = Uuid;
    fn key(&self) -> Uuid {
        self.id
    }
}

/// The open ones, oldest first: `limit` of them at most.
pub async fn open(db: &Db, limit: i64) -> sqlx::Result<Vec<Listed>> {
    retrying(|| {
        db.query("select * from discrepancies where resolved_at is null order by id limit $1")
            .bind(limit)
            .fetch_all()
    })
    .await
}

/// The one named `id`.
pub async fn find(db: &Db, id: Uuid) -> sqlx::Result<Option<Listed>> {
    retrying(|| {
        db.query("select * from discrepancies where id = $1")
            .bind(id)
            .fetch_optional()
    })
    .await
}

/// All that concern a checkout, oldest first.
pub async fn of_checkout(tx: &mut Tx, id: CheckoutId) -> sqlx::Result<Vec<Listed>> {
    tx.query("select * from discrepancies where checkout_id = $1 order by id")
        .bind(id)
        .fetch_all()
        .await
}

macro_rules! listed {
    ($condition:literal) => {
        turns!(concat!("select * from discrepancies where ", $condition), limit "$2", "id" = "$1")
    };
}

impl Searchable for Listed {
    const ALL: Turns = listed!("true");
    const WAYS: &'static [Way] = &[
        Way {
            form: search::id,
            turns: listed!("checkout_id = $3"),
        },
        Way {
            form: search::order_number,
            turns: listed!("checkout_id = (select checkout_id from orders where number = $3)"),
        },
        Way {
            form: search::object,
            turns: listed!("object_id = $3"),
        },
        Way {
            form: search::word,
            turns: listed!("kind = $3"),
        },
    ];
}

/// Resolves the open discrepancy `id`: who says so, and why. `false`: there is none, or it was resolved before, and the
/// first note stays.
pub async fn resolve(
    db: &Db,
    id: Uuid,
    who: &str,
    note: &Note,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let resolved = retrying(|| resolve_once(db, id, who, note, now)).await?;
    if resolved {
        tracing::info!(discrepancy.id = %id, who, "discrepancy resolved by hand");
    }
    Ok(resolved)
}

async fn resolve_once(
    db: &Db,
    id: Uuid,
    who: &str,
    note: &Note,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let resolved = tx
        .query(
            "update discrepancies set resolved_at = $2, resolved_by = $3, note = $4
             where id = $1 and resolved_at is null",
        )
        .bind(id)
        .bind(now)
        .bind(who)
        .bind(&note.0)
        .execute()
        .await?;
    tx.commit().await?;
    Ok(resolved == 1)
}

/// Why a discrepancy needs nobody any more: something, and not too much of it.
#[derive(Clone, Debug)]
pub struct Note(String);

impl Note {
    /// `None` for what is empty, too long, or has control characters other than line breaks in it.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim().replace("\r\n", "\n");
        let is_sane = text.chars().all(|c| c == '\n' || !c.is_control());
        (is_sane && (1..=NOTE_MAX).contains(&text.chars().count())).then_some(Self(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_something_and_not_too_much() {
        let most = "n".repeat(NOTE_MAX);
        for good in ["called the bank", "two\r\nlines", &most] {
            assert!(Note::of(good).is_some(), "{good:?}");
        }
        for bad in ["", " \n ", "a\0b", &format!("{most}n")] {
            assert!(Note::of(bad).is_none(), "{bad:?}");
        }
    }
}
