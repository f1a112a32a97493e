//! What is not sent can be seen, and tried again.

use std::{fmt, str::FromStr};

use chrono::{DateTime, SecondsFormat, Utc};
use uuid::Uuid;

use super::Mail;
use crate::{
    db::{Db, retrying},
    orders::OrderNumber,
};

/// A mail that is owed.
#[derive(Debug, sqlx::FromRow)]
pub struct Owed {
    #[sqlx(flatten)]
    mail: Mail,
    order_number: Option<OrderNumber>,
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
        let subject = self.mail.subject(self.order_number.as_ref());
        let (kind, attempts) = (self.mail.kind, self.attempts);
        write!(f, "{subject}  {kind}  {state} {since}, {attempts} attempts")?;
        match &self.last_error {
            // It may have any number of lines.
            Some(error) => write!(f, ": {}", error.replace(char::is_control, " ")),
            None => Ok(()),
        }
    }
}

/// Everything that is not sent, oldest first.
pub async fn owed(db: &Db) -> sqlx::Result<Vec<Owed>> {
    db.query(
        "select e.*, o.number as order_number from emails e
         left join orders o on o.checkout_id = e.checkout_id
         where e.sent_at is null order by e.created_at, e.about, e.kind",
    )
    .fetch_all()
    .await
}

/// Which mails to try again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// All that are about an order, or about one of its refunds.
    Order(OrderNumber),
    /// Those about one purchase or refund, as the list names it.
    About(Uuid),
}

impl FromStr for Which {
    type Err = NeitherNumberNorId;
    fn from_str(text: &str) -> Result<Self, NeitherNumberNorId> {
        if let Ok(number) = text.parse() {
            return Ok(Self::Order(number));
        }
        let id = Uuid::try_parse(text).map_err(|_| NeitherNumberNorId)?;
        Ok(Self::About(id))
    }
}

/// The text names no mails.
#[derive(Debug, thiserror::Error)]
#[error(
    "neither the number of an order nor the id of a purchase or refund, as `mail list` shows them"
)]
pub struct NeitherNumberNorId;

/// Lets what was given up, of these or of all, be tried again, as if for the first time. Returns how many.
pub async fn retry(db: &Db, which: Option<&Which>) -> sqlx::Result<u64> {
    retrying(|| retry_once(db, which)).await
}

async fn retry_once(db: &Db, which: Option<&Which>) -> sqlx::Result<u64> {
    let (order, about) = match which {
        Some(Which::Order(number)) => (Some(number), None),
        Some(Which::About(id)) => (None, Some(*id)),
        None => (None, None),
    };
    let mut tx = db.begin().await?;
    let retried = tx
        .query(
            "update emails set given_up_at = null, not_before = null, attempts = 0, refusals = 0
             where given_up_at is not null
               and about = coalesce($1, about)
               and ($2 is null or checkout_id in (select checkout_id from orders where number = $2))",
        )
        .bind(about)
        .bind(order)
        .execute()
        .await?;
    tx.leaves_work();
    tx.commit().await?;
    Ok(retried)
}
