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
    Kind, Mail,
    compose::{ComposeError, Composer, Letter},
    post::{Post, SendError},
};
use crate::{
    batches::{Batches, own},
    clock::Clock,
    db::{Db, retrying},
    probe::{Boundary, report},
    workers::{self, Work, backoff},
};

/// How long a postman has a mail to itself. Far longer than [`PATIENCE`], so that two do not send it at once.
const LEASE: TimeDelta = TimeDelta::minutes(2);

/// How long a mail server may take over one mail.
const PATIENCE: Duration = Duration::from_mins(1);

/// The longest wait before a mail is tried again.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(15);

/// The first wait after a mail to which no answer came in time; it doubles up to [`UNANSWERED_WAIT_MAX`]. A server that takes
/// mails and is too slow to say so gets few copies. <https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.2.6>
const UNANSWERED_WAIT: TimeDelta = TimeDelta::minutes(5);
const UNANSWERED_WAIT_MAX: TimeDelta = TimeDelta::hours(4);

/// A mail that the server refuses is given up after so many refusals: some refuse at first and mean "later".
const REFUSALS_MAX: i64 = 5;

/// Any mail is given up after so many attempts, a day and a half after the first.
const ATTEMPTS_MAX: i64 = 150;

/// Sends what is owed.
#[derive(Debug)]
pub struct Postman {
    db: Db,
    clock: Clock,
    composer: Composer,
    post: Post,
    marks: Batches<Mail, sqlx::Error>,
}

/// A mail that is ours until `not_before`.
#[derive(Debug, sqlx::FromRow)]
pub struct Claimed {
    #[sqlx(flatten)]
    mail: Mail,
    attempts: i64,
    refusals: i64,
    not_before: DateTime<Utc>,
}

/// The mails that are due; `$1` is the time.
macro_rules! due {
    ($limit:literal) => {
        concat!(
            "select about, kind, copy from emails
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
    const PLACES: usize = 16;
    type Item = Claimed;

    async fn is_due(&self) -> sqlx::Result<bool> {
        let due = concat!("with due as (", due!("1"), ") select count(*) from due");
        workers::counts_any(&self.db, due, self.clock.now()).await
    }

    async fn claim(&self, room: i64) -> sqlx::Result<Vec<Claimed>> {
        let claim = concat!(
            "with due as (",
            due!("$3"),
            "/*pg for update skip locked */)
             update emails set not_before = $2, attempts = attempts + 1
             where (about, kind, copy) in (select about, kind, copy from due)
             returning *"
        );
        let now = self.clock.now();
        workers::claim(&self.db, claim, now, now + LEASE, room).await
    }

    #[tracing::instrument("mail", skip_all, fields(checkout.id = %claimed.mail.checkout_id))]
    async fn perform(&self, claimed: Claimed) -> sqlx::Result<()> {
        let (mail, attempt) = (&claimed.mail, claimed.attempts);
        let (about, kind) = (mail.about, mail.kind);
        let Some(failure) = self.send(mail).await.err() else {
            self.mark_sent(mail).await?;
            tracing::info!(%about, %kind, attempt, "mail sent");
            return Ok(());
        };
        let now = self.clock.now();
        let given_up = failure.is_the_last(&claimed);
        let reason = failure.in_short();
        // Servers repeat the address in what they say, so that goes into the database and not into the log.
        if given_up {
            tracing::error!(%about, %kind, attempt, reason, "mail given up; `mail list` says more");
        } else {
            tracing::warn!(%about, %kind, attempt, reason, "mail not sent; `mail list` says more");
        }
        let until = now + failure.wait(attempt);
        let given_up_at = given_up.then_some(now);
        retrying(|| postpone(&self.db, &claimed, until, given_up_at, &failure)).await
    }
}

impl Postman {
    /// One that sends what `db` says is owed, as `composer` writes it, by `post`.
    pub fn new(db: &Db, clock: &Clock, composer: Composer, post: Post) -> Self {
        Self {
            db: db.clone(),
            clock: clock.clone(),
            composer,
            post,
            marks: Batches::default(),
        }
    }

    async fn send(&self, mail: &Mail) -> Result<(), Failure> {
        let letter = self.composer.compose(mail).await?;
        tokio::time::timeout(PATIENCE, self.post_letter(mail.kind, letter))
            .await
            .unwrap_or(Err(SendError::Unanswered))?;
        Ok(())
    }

    async fn post_letter(&self, kind: Kind, letter: Letter) -> Result<(), SendError> {
        report(self.db.probe(), Boundary::BeforeMail(kind.name())).await?;
        self.post.send(&letter.name, letter.message).await?;
        report(self.db.probe(), Boundary::AfterMail(kind.name())).await?;
        Ok(())
    }

    async fn mark_sent(&self, mail: &Mail) -> sqlx::Result<()> {
        let mark_all = |mut mails: Vec<Mail>| async move {
            mails.sort_by_key(|mail| mail.about);
            retrying(|| mark_sent(&self.db, &mails, self.clock.now())).await
        };
        self.marks.go(mail.clone(), mark_all).await.map_err(own)
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
    fn is_the_last(&self, claimed: &Claimed) -> bool {
        match self {
            Self::Compose(ComposeError::NoAddress | ComposeError::NotTrueAnyMore) => true,
            Self::Send(SendError::Refused(_)) => claimed.refusals + 1 >= REFUSALS_MAX,
            Self::Compose(_) | Self::Send(SendError::Later(_) | SendError::Unanswered) => {
                claimed.attempts >= ATTEMPTS_MAX
            }
        }
    }

    fn is_refusal(&self) -> bool {
        matches!(self, Self::Send(SendError::Refused(_)))
    }

    fn wait(&self, attempts: i64) -> TimeDelta {
        match self {
            Self::Send(SendError::Unanswered) => {
                let seconds = UNANSWERED_WAIT.num_seconds();
                let doubled = backoff(attempts, UNANSWERED_WAIT_MAX).num_seconds();
                TimeDelta::seconds(seconds.saturating_mul(doubled)).min(UNANSWERED_WAIT_MAX)
            }
            _ => backoff(attempts, LONGEST_WAIT),
        }
    }

    /// For the log, into which nothing of what a server says gets.
    fn in_short(&self) -> &'static str {
        match self {
            Self::Compose(_) => "it cannot be written",
            Self::Send(SendError::Later(_)) => {
                "the mail server was not reached, or did not take it"
            }
            Self::Send(SendError::Unanswered) => "no answer in time",
            Self::Send(SendError::Refused(_)) => "refused",
        }
    }
}

/// Whoever sent them, they are sent: no lease is asked for.
async fn mark_sent(db: &Db, mails: &[Mail], now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    for mail in mails {
        tx.query(
            "update emails set sent_at = $3, given_up_at = null, last_error = null
             where about = $1 and kind = $2 and copy = $4 and sent_at is null",
        )
        .bind(mail.about)
        .bind(mail.kind)
        .bind(now)
        .bind(mail.copy)
        .execute()
        .await?;
    }
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
        "update emails set not_before = $4, given_up_at = $5, last_error = $6, refusals = refusals + $7
         where about = $1 and kind = $2 and copy = $8 and not_before = $3 and sent_at is null",
    )
    .bind(claimed.mail.about)
    .bind(claimed.mail.kind)
    .bind(claimed.not_before)
    .bind(until)
    .bind(given_up_at)
    .bind(failure.to_string())
    .bind(i64::from(failure.is_refusal()))
    .bind(claimed.mail.copy)
    .execute()
    .await?;
    tx.commit().await
}
