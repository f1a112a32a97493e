//! Mails can be listed and found, and what is not sent tried again.

use std::{fmt, str::FromStr};

use chrono::{DateTime, SecondsFormat, Utc};
use uuid::Uuid;

use super::{Kind, Mail};
use crate::{
    db::{Db, Query, Tx, retrying},
    ids::CheckoutId,
    orders::OrderNumber,
    paging::{At, Key, Keyed, NoKey, Turns, turns},
    search::{self, Searchable, Term, Way},
};

/// A mail in a list.
#[derive(Debug, sqlx::FromRow)]
pub struct Listed {
    /// Which one.
    #[sqlx(flatten)]
    pub mail: Mail,
    /// The order of its purchase.
    pub order_number: Option<OrderNumber>,
    /// Whom it goes to.
    pub email: String,
    /// How often it was tried, since it was last retried.
    pub attempts: i64,
    not_before: Option<DateTime<Utc>>,
    /// When it was sent.
    pub sent_at: Option<DateTime<Utc>>,
    given_up_at: Option<DateTime<Utc>>,
    /// What the mail server said last.
    pub last_error: Option<String>,
    /// Since when it is owed.
    pub created_at: DateTime<Utc>,
}

impl Listed {
    /// What is to be said of it, and of which moment.
    pub fn state(&self) -> (&'static str, DateTime<Utc>) {
        match (self.sent_at, self.given_up_at, self.not_before) {
            (Some(at), _, _) => ("sent", at),
            (None, Some(at), _) => ("given up at", at),
            (None, None, Some(at)) => ("waits until", at),
            (None, None, None) => ("new since", self.created_at),
        }
    }

    /// What people call the thing that it is about.
    pub fn subject(&self) -> String {
        self.mail.subject(self.order_number.as_ref())
    }
}

impl Keyed for Listed {
    type Key = Place;
    fn key(&self) -> Place {
        let Mail {
            about, kind, copy, ..
        } = self.mail;
        Place {
            time: self.created_at,
            about,
            kind,
            copy,
        }
    }
}

/// For people: a line for each mail.
impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, since) = self.state();
        let since = since.to_rfc3339_opts(SecondsFormat::Secs, true);
        let subject = self.subject();
        let (kind, attempts) = (self.mail.kind, self.attempts);
        let copy = if self.mail.copy > 0 { " (copy)" } else { "" };
        write!(
            f,
            "{subject}  {kind}{copy}  {state} {since}, {attempts} attempts"
        )?;
        match &self.last_error {
            // It may have any number of lines.
            Some(error) => write!(f, ": {}", error.replace(char::is_control, " ")),
            None => Ok(()),
        }
    }
}

macro_rules! listed {
    () => {
        "select e.*, o.number as order_number, c.email from emails e
         join checkouts c on c.id = e.checkout_id
         left join orders o on o.checkout_id = e.checkout_id "
    };
}

/// Everything that is not sent, oldest first.
pub async fn owed(db: &Db) -> sqlx::Result<Vec<Listed>> {
    let owed = concat!(
        listed!(),
        "where e.sent_at is null order by e.created_at, e.about, e.kind, e.copy"
    );
    db.query(owed).fetch_all().await
}

/// Those that were given up, oldest first: `limit` of them at most.
pub async fn given_up(db: &Db, limit: i64) -> sqlx::Result<Vec<Listed>> {
    let given_up = concat!(
        listed!(),
        "where e.given_up_at is not null order by e.created_at limit $1"
    );
    retrying(|| db.query(given_up).bind(limit).fetch_all()).await
}

/// All about a purchase and its refunds, oldest first.
pub async fn of_checkout(tx: &mut Tx, id: CheckoutId) -> sqlx::Result<Vec<Listed>> {
    let of_checkout = concat!(
        listed!(),
        "where e.checkout_id = $1 order by e.created_at, e.about, e.kind, e.copy"
    );
    tx.query(of_checkout).bind(id).fetch_all().await
}

macro_rules! found {
    ($condition:literal) => {
        turns!(
            concat!(listed!(), "where ", $condition),
            limit "$5",
            "e.created_at" = "$1",
            "e.about" = "$2",
            "e.kind" = "$3",
            "e.copy" = "$4"
        )
    };
}

impl Searchable for Listed {
    const ALL: Turns = found!("true");
    const WAYS: &'static [Way] = &[
        Way {
            form: |text| Kind::named(text).map(|kind| Term::Shared(kind.to_string())),
            turns: found!("e.kind = $6"),
        },
        Way {
            form: search::email,
            turns: found!("e.checkout_id in (select id from checkouts where email_folded = $6)"),
        },
        Way {
            form: search::order_number,
            turns: found!("e.checkout_id = (select checkout_id from orders where number = $6)"),
        },
        Way {
            form: search::id,
            turns: found!(
                "e.checkout_id in (select id from checkouts where id = $6
                                   union select checkout_id from refunds where id = $6)"
            ),
        },
    ];
}

/// Where a mail stands in the list: by the time since when it is owed.
#[derive(Clone, Debug)]
pub struct Place {
    time: DateTime<Utc>,
    about: Uuid,
    kind: Kind,
    copy: i64,
}

impl Key for Place {
    fn beyond() -> Self {
        Self {
            time: At::beyond().time,
            about: Uuid::max(),
            kind: Kind::OrderConfirmation,
            copy: i64::MAX,
        }
    }

    fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        let query = query.bind(self.time).bind(self.about);
        query.bind(self.kind).bind(self.copy)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (about, kind, copy) = (self.about, self.kind, self.copy);
        let id = format!("{about}~{kind}~{copy}");
        At {
            time: self.time,
            id,
        }
        .fmt(f)
    }
}

impl FromStr for Place {
    type Err = NoKey;
    fn from_str(text: &str) -> Result<Self, NoKey> {
        let At { time, id } = text.parse()?;
        let mut parts = id.splitn(3, '~');
        let mut next = || parts.next().ok_or(NoKey);
        Ok(Self {
            time,
            about: Uuid::try_parse(next()?).map_err(|_| NoKey)?,
            kind: Kind::named(next()?).ok_or(NoKey)?,
            copy: next()?.parse().map_err(|_| NoKey)?,
        })
    }
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
