//! The postman: what is owed is sent, each mail by itself.
//!
//! A mail is claimed with a lease, sent, and marked at once, so that a crash repeats no more than the few under way. One
//! that fails waits, longer each time, behind those that have not failed; none holds up another. A mail server that is
//! down for a day delays the mails and nothing else.
//!
//! ```text
//! owed ──┬──> sent
//!   ^    └──> given up    refused, or tried for more than a day: a person has to look
//!   └────────────┘        `boring-checkout mail retry`
//! ```

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Mail,
    compose::{ComposeError, Composer},
    post::{Post, SendError},
};
use crate::{
    clock::Clock,
    db::{Db, retrying},
    workers::{Work, backoff},
};

/// How long a postman has a mail to itself. Far longer than [`PATIENCE`], so that two do not send it at once.
const LEASE: TimeDelta = TimeDelta::minutes(2);

/// How long a mail server may take over one mail.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest wait before a mail is tried again.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(15);

/// A mail that the server refuses is given up after so many attempts: some refuse at first and mean "later".
const REFUSALS_MAX: i64 = 5;

/// Any mail is given up after so many attempts, a day and a half after the first.
const ATTEMPTS_MAX: i64 = 150;

/// Sends what is owed.
#[derive(Debug)]
pub struct Postman {
    /// The shop's database.
    pub db: Db,
    /// The time.
    pub clock: Clock,
    /// Writes the mails.
    pub composer: Composer,
    /// Where they go.
    pub post: Post,
}

/// A mail that is ours until `not_before`.
#[derive(Debug, sqlx::FromRow)]
pub struct Claimed {
    #[sqlx(flatten)]
    mail: Mail,
    attempts: i64,
    not_before: DateTime<Utc>,
}

/// The mails that are due; `$1` is the time.
macro_rules! due {
    ($limit:literal) => {
        concat!(
            "select about, kind from emails
             where sent_at is null and given_up_at is null
               and (not_before is null or not_before <= $1)
             order by attempts, created_at
             limit ",
            $limit,
            " "
        )
    };
}

impl Work for Postman {
    const NAME: &str = "postman";
    const PLACES: usize = 4;
    type Item = Claimed;

    async fn is_due(&self) -> sqlx::Result<bool> {
        let due = concat!("with due as (", due!("1"), ") select count(*) from due");
        let due: i64 = self
            .db
            .query(due)
            .bind(self.clock.now())
            .fetch_scalar()
            .await?;
        Ok(due > 0)
    }

    async fn claim(&self, room: i64) -> sqlx::Result<Vec<Claimed>> {
        let now = self.clock.now();
        claim(&self.db, room, now, now + LEASE).await
    }

    async fn perform(&self, claimed: Claimed) -> sqlx::Result<()> {
        let (mail, attempt) = (&claimed.mail, claimed.attempts);
        let (about, kind) = (mail.about, mail.kind);
        let Some(failure) = self.send(mail).await.err() else {
            retrying(|| mark_sent(&self.db, mail, self.clock.now())).await?;
            tracing::info!(%about, %kind, attempt, "mail sent");
            return Ok(());
        };
        let now = self.clock.now();
        let given_up = attempt >= failure.attempts_max();
        // Servers repeat the address in what they say, so that goes into the database and not into the log.
        if given_up {
            tracing::error!(%about, %kind, attempt, "mail given up");
        } else {
            tracing::warn!(%about, %kind, attempt, "mail not sent");
        }
        let until = now + backoff(attempt, LONGEST_WAIT);
        let given_up_at = given_up.then_some(now);
        retrying(|| postpone(&self.db, &claimed, until, given_up_at, &failure)).await
    }
}

impl Postman {
    async fn send(&self, mail: &Mail) -> Result<(), Failure> {
        let letter = self.composer.compose(mail).await?;
        tokio::time::timeout(PATIENCE, self.post.send(&letter.name, letter.message))
            .await
            .unwrap_or_else(|_| Err(SendError::Later("no answer in time".to_owned())))?;
        Ok(())
    }
}

/// Why a mail was not sent.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Compose(#[from] ComposeError),
    #[error(transparent)]
    Send(#[from] SendError),
}

impl Failure {
    fn attempts_max(&self) -> i64 {
        match self {
            Self::Compose(ComposeError::NoAddress | ComposeError::NotTrueAnyMore) => 1,
            Self::Compose(_) | Self::Send(SendError::Later(_)) => ATTEMPTS_MAX,
            Self::Send(SendError::Refused(_)) => REFUSALS_MAX,
        }
    }
}

/// Claims up to `room` mails that are due. A claim whose commit was answered by an error may have happened; those mails
/// come back when their lease runs out.
async fn claim(
    db: &Db,
    room: i64,
    now: DateTime<Utc>,
    until: DateTime<Utc>,
) -> sqlx::Result<Vec<Claimed>> {
    let mut tx = db.begin().await?;
    let claimed = tx
        .query(concat!(
            "with due as (",
            due!("$3"),
            "/*pg for update skip locked */)
             update emails set not_before = $2, attempts = attempts + 1
             where (about, kind) in (select about, kind from due)
             returning *"
        ))
        .bind(now)
        .bind(until)
        .bind(room)
        .fetch_all()
        .await?;
    tx.commit().await?;
    Ok(claimed)
}

/// Whoever sent it, it is sent: no lease is asked for.
async fn mark_sent(db: &Db, mail: &Mail, now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "update emails set sent_at = $3, given_up_at = null, last_error = null
         where about = $1 and kind = $2 and sent_at is null",
    )
    .bind(mail.about)
    .bind(mail.kind)
    .bind(now)
    .execute()
    .await?;
    tx.commit().await
}

/// Lets a mail wait, if the lease is still ours: else somebody else knows better.
async fn postpone(
    db: &Db,
    claimed: &Claimed,
    until: DateTime<Utc>,
    given_up_at: Option<DateTime<Utc>>,
    failure: &Failure,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "update emails set not_before = $4, given_up_at = $5, last_error = $6
         where about = $1 and kind = $2 and not_before = $3 and sent_at is null",
    )
    .bind(claimed.mail.about)
    .bind(claimed.mail.kind)
    .bind(claimed.not_before)
    .bind(until)
    .bind(given_up_at)
    .bind(failure.to_string())
    .execute()
    .await?;
    tx.commit().await
}
