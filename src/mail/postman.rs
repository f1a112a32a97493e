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

use std::{fmt, time::Duration};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

use super::{
    Kind,
    compose::{ComposeError, Composer},
    post::{Post, SendError},
};
use crate::{
    clock::Clock,
    db::{Db, retrying},
    orders::OrderNumber,
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
    order_number: OrderNumber,
    kind: Kind,
    attempts: i64,
    not_before: DateTime<Utc>,
}

/// The mails that are due; `$1` is the time.
macro_rules! due {
    ($limit:literal) => {
        concat!(
            "select order_number, kind from emails
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

    async fn perform(&self, mail: Claimed) -> sqlx::Result<()> {
        let (order, kind, attempt) = (&mail.order_number, mail.kind, mail.attempts);
        let Some(failure) = self.send(&mail).await.err() else {
            retrying(|| mark_sent(&self.db, &mail, self.clock.now())).await?;
            tracing::info!(%order, %kind, attempt, "mail sent");
            return Ok(());
        };
        let now = self.clock.now();
        let given_up = attempt >= failure.attempts_max();
        // Servers repeat the address in what they say, so that goes into the database and not into the log.
        if given_up {
            tracing::error!(%order, %kind, attempt, "mail given up");
        } else {
            tracing::warn!(%order, %kind, attempt, "mail not sent");
        }
        let until = now + backoff(attempt, LONGEST_WAIT);
        let given_up_at = given_up.then_some(now);
        retrying(|| postpone(&self.db, &mail, until, given_up_at, &failure)).await
    }
}

impl Postman {
    async fn send(&self, mail: &Claimed) -> Result<(), Failure> {
        let message = self.composer.compose(&mail.order_number, mail.kind).await?;
        let name = format!("{}-{}", mail.order_number, mail.kind);
        tokio::time::timeout(PATIENCE, self.post.send(&name, message))
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
            Self::Compose(ComposeError::NoAddress) => 1,
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
             where (order_number, kind) in (select order_number, kind from due)
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
async fn mark_sent(db: &Db, mail: &Claimed, now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "update emails set sent_at = $3, given_up_at = null, last_error = null
         where order_number = $1 and kind = $2 and sent_at is null",
    )
    .bind(&mail.order_number)
    .bind(mail.kind)
    .bind(now)
    .execute()
    .await?;
    tx.commit().await
}

/// Lets a mail wait, if the lease is still ours: else somebody else knows better.
async fn postpone(
    db: &Db,
    mail: &Claimed,
    until: DateTime<Utc>,
    given_up_at: Option<DateTime<Utc>>,
    failure: &Failure,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "update emails set not_before = $4, given_up_at = $5, last_error = $6
         where order_number = $1 and kind = $2 and not_before = $3 and sent_at is null",
    )
    .bind(&mail.order_number)
    .bind(mail.kind)
    .bind(mail.not_before)
    .bind(until)
    .bind(given_up_at)
    .bind(failure.to_string())
    .execute()
    .await?;
    tx.commit().await
}

/// A mail that is owed.
#[derive(Debug, sqlx::FromRow)]
pub struct Owed {
    order_number: OrderNumber,
    kind: Kind,
    attempts: i64,
    not_before: Option<DateTime<Utc>>,
    given_up_at: Option<DateTime<Utc>>,
    last_error: Option<String>,
    created_at: DateTime<Utc>,
}

/// For people: a line for each mail.
impl fmt::Display for Owed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, since) = match (self.given_up_at, self.not_before) {
            (Some(at), _) => ("given up at", at),
            (None, Some(at)) => ("waits until", at),
            (None, None) => ("new since", self.created_at),
        };
        let since = since.to_rfc3339_opts(SecondsFormat::Secs, true);
        let (order, kind, attempts) = (&self.order_number, self.kind, self.attempts);
        write!(f, "{order}  {kind}  {state} {since}, {attempts} attempts")?;
        match &self.last_error {
            // It may have any number of lines.
            Some(error) => write!(f, ": {}", error.replace(char::is_control, " ")),
            None => Ok(()),
        }
    }
}

/// Everything that is not sent, oldest first.
pub async fn owed(db: &Db) -> sqlx::Result<Vec<Owed>> {
    db.query("select * from emails where sent_at is null order by created_at, order_number, kind")
        .fetch_all()
        .await
}

/// Lets what was given up, of one order or of all, be tried again, as if for the first time. Returns how many.
pub async fn retry(db: &Db, order: Option<&OrderNumber>) -> sqlx::Result<u64> {
    retrying(|| retry_once(db, order)).await
}

async fn retry_once(db: &Db, order: Option<&OrderNumber>) -> sqlx::Result<u64> {
    let mut tx = db.begin().await?;
    let retried = tx
        .query(
            "update emails set given_up_at = null, not_before = null, attempts = 0
             where given_up_at is not null and order_number = coalesce($1, order_number)",
        )
        .bind(order)
        .execute()
        .await?;
    tx.leaves_work();
    tx.commit().await?;
    Ok(retried)
}
