//! Mail: one of each kind about each purchase or refund, sent by a worker, far from the path of a payment.
//!
//! ```text
//! inbox row + row in `emails` ── commit        the mail is owed, once: (about, kind) is unique
//!               │
//!            postman ── mail server ── `sent_at`
//! ```
//!
//! Between the mail server's "accepted" and our commit of `sent_at` is a window that nobody can close: whoever dies in it
//! has sent a mail that is owed still, and it is sent again. So that the receiver can tell, both have the same
//! Message-ID, which is made from what the mail is about and its kind alone; in the folder of `.eml` files the second
//! overwrites the first.
//!
//! 1. here: a mail is owed.
//! 2. [`compose`]: what it says. Each kind has a file of its own: `confirmation`, `not_fulfilled`, `refund_notice`.
//! 3. [`post`]: where it goes, a folder or a mail server.
//! 4. [`postman`]: the worker that sends what is owed, until it is sent or given up.
//! 5. [`operator`]: what is not sent can be seen, and tried again.
//! 6. [`copies`]: one that was sent can be sent again, on request.
//! 7. [`mailbox`]: what is in the folder, read back for the lab.

pub mod compose;
mod confirmation;
pub mod copies;
pub mod mailbox;
mod not_fulfilled;
pub mod operator;
pub mod post;
pub mod postman;
mod refund_notice;

use std::fmt;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{
    db::Tx,
    ids::CheckoutId,
    orders::{OrderNumber, OrderPlaced},
    outbox::{Message, inbox::ConsumeError},
    refunds::news::{OrderRefunded, PaymentRefunded},
};

/// What a mail says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum Kind {
    /// "Thank you for your order." About a purchase.
    OrderConfirmation,
    /// "Your payment came too late, and you have it back." About a purchase.
    NotFulfilled,
    /// "Something of what you paid for your order was given back." About a refund.
    RefundNotice,
}

impl Kind {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = [
            Self::OrderConfirmation,
            Self::NotFulfilled,
            Self::RefundNotice,
        ]
        .into_iter();
        all.find(|kind| kind.name() == name)
    }

    /// What it is called in the database, in the Message-ID and in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::OrderConfirmation => "order_confirmation",
            Self::NotFulfilled => "not_fulfilled",
            Self::RefundNotice => "refund_notice",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which mail: there is one for each of these.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Mail {
    /// The purchase's id, or the refund's.
    pub about: Uuid,
    /// What it says.
    pub kind: Kind,
    /// 0 for the mail itself; a copy that somebody has asked for has the next number.
    pub copy: i64,
    /// Whose buyer gets it.
    pub checkout_id: CheckoutId,
}

impl Mail {
    /// What people call the thing that it is about: a purchase by the number of its `order`, all else by its id.
    fn subject(&self, order: Option<&OrderNumber>) -> String {
        match (self.kind, order) {
            (Kind::OrderConfirmation, Some(number)) => number.to_string(),
            _ => self.about.to_string(),
        }
    }

    /// What is added to its Message-ID and to its file's name: nothing, but for a copy.
    fn suffix(&self, separator: char) -> String {
        match self.copy {
            0 => String::new(),
            number => format!("{separator}copy-{number}"),
        }
    }
}

/// Whether a mail could be sent to an address: what cannot is found out before anything is sold to it.
pub fn can_be_sent_to(address: &str) -> bool {
    // A server by its number is an address, and nobody's. So is a name in quotes, which few mail servers understand, and
    // which lettre writes into a header that it cannot read.
    let is_anybodys = !address.contains(['[', '"']);
    is_anybodys && address.parse::<lettre::Address>().is_ok()
}

/// Acts on a message, as a part of the transaction that notes that it was consumed.
pub async fn hear(tx: &mut Tx, message: &Message, now: DateTime<Utc>) -> Result<(), ConsumeError> {
    if let Some(news) = OrderPlaced::read(message)? {
        let about = news.checkout_id.into();
        owe(tx, about, Kind::OrderConfirmation, news.checkout_id, now).await?;
    }
    if let Some(news) = PaymentRefunded::read(message)? {
        let about = news.checkout_id.into();
        owe(tx, about, Kind::NotFulfilled, news.checkout_id, now).await?;
    }
    if let Some(news) = OrderRefunded::read(message)? {
        let about = news.refund_id.into();
        owe(tx, about, Kind::RefundNotice, news.checkout_id, now).await?;
    }
    Ok(())
}

/// Writes down that a buyer is to get a mail. The same one again changes nothing.
async fn owe(
    tx: &mut Tx,
    about: Uuid,
    kind: Kind,
    checkout: CheckoutId,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    tx.query(
        "insert into emails (about, kind, checkout_id, created_at) values ($1, $2, $3, $4)
         on conflict do nothing",
    )
    .bind(about)
    .bind(kind)
    .bind(checkout)
    .bind(now)
    .execute()
    .await?;
    tx.leaves_work();
    Ok(())
}
