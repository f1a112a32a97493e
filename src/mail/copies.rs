//! A mail that was sent is sent again, because somebody asks for it: a customer has deleted theirs, or never got it.
//!
//! The copy is a row of its own, numbered, and has a Message-ID of its own: mail programs and the folder of `.eml` files
//! take one of the same Message-ID for the same mail. It comes from a form with a key, so a double click is one copy. What
//! holds of the mail itself, one of a kind about each, is untouched.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Kind;
use crate::db::{Db, Tx, retrying};

/// What became of the wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resent {
    /// It will be sent again, or the same form had asked for it before.
    Owed,
    /// There is no such mail, or it was not sent so far: then it is not yet given up, or can be retried.
    NotSentYet,
}

/// Owes a copy of the mail of a kind `about` something, once for each form.
pub async fn resend(
    db: &Db,
    about: Uuid,
    kind: Kind,
    form: Uuid,
    now: DateTime<Utc>,
) -> sqlx::Result<Resent> {
    retrying(|| resend_once(db, about, kind, form, now)).await
}

async fn resend_once(
    db: &Db,
    about: Uuid,
    kind: Kind,
    form: Uuid,
    now: DateTime<Utc>,
) -> sqlx::Result<Resent> {
    let mut tx = db.begin().await?;
    if !lock_sent(&mut tx, about, kind).await? {
        tx.rollback().await?;
        return Ok(Resent::NotSentYet);
    }
    let copies = tx
        .query(
            "insert into emails (about, kind, copy, checkout_id, form_key, created_at)
             select about, kind, max(copy) + 1, checkout_id, $3, $4
             from emails where about = $1 and kind = $2
             group by about, kind, checkout_id
             on conflict (form_key) do nothing",
        )
        .bind(about)
        .bind(kind)
        .bind(form)
        .bind(now)
        .execute()
        .await?;
    tx.leaves_work();
    tx.commit().await?;
    tracing::info!(%about, %kind, copies, "mail to be sent again");
    Ok(Resent::Owed)
}

/// Whether the mail itself was sent. Whoever else wants a copy of it waits, so that the copies can be numbered.
async fn lock_sent(tx: &mut Tx, about: Uuid, kind: Kind) -> sqlx::Result<bool> {
    let sent: Option<(i64,)> = tx
        .query(
            "select copy from emails
             where about = $1 and kind = $2 and copy = 0 and sent_at is not null
             /*pg for update */",
        )
        .bind(about)
        .bind(kind)
        .fetch_optional()
        .await?;
    Ok(sent.is_some())
}
