//! Mail: one of each kind for each order, sent by a worker, far from the path of a payment.
//!
//! ```text
//! inbox row + row in `emails` ── commit        the mail is owed, once: (order, kind) is unique
//!               │
//!            postman ── mail server ── `sent_at`
//! ```
//!
//! Between the mail server's "accepted" and our commit of `sent_at` is a window that nobody can close: whoever dies in it
//! has sent a mail that is owed still, and it is sent again. So that the receiver can tell, both have the same
//! Message-ID, which is made from order and kind alone; in the folder of `.eml` files the second overwrites the first.
//!
//! 1. here: a mail is owed.
//! 2. [`compose`]: what it says.
//! 3. [`post`]: where it goes, a folder or a mail server.
//! 4. [`postman`]: the worker that sends what is owed, until it is sent or given up.
//! 5. [`mailbox`]: what is in the folder, read back for the lab.

pub mod compose;
pub mod mailbox;
pub mod post;
pub mod postman;

use std::fmt;

use chrono::{DateTime, Utc};

use crate::{
    db::Tx,
    orders::{OrderNumber, OrderPlaced},
    outbox::{Message, inbox::ConsumeError},
};

/// What a mail is about. An order has at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum Kind {
    /// "Thank you for your order."
    OrderConfirmation,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OrderConfirmation => "order_confirmation",
        })
    }
}

/// Acts on a message, as a part of the transaction that notes that it was consumed.
pub async fn hear(tx: &mut Tx, message: &Message, now: DateTime<Utc>) -> Result<(), ConsumeError> {
    if let Some(placed) = OrderPlaced::read(message)? {
        owe(tx, &placed.order_number, Kind::OrderConfirmation, now).await?;
    }
    Ok(())
}

/// Writes down that the order's buyer is to get a mail. The same one again changes nothing.
async fn owe(tx: &mut Tx, order: &OrderNumber, kind: Kind, now: DateTime<Utc>) -> sqlx::Result<()> {
    tx.query(
        "insert into emails (order_number, kind, created_at) values ($1, $2, $3)
         on conflict do nothing",
    )
    .bind(order)
    .bind(kind)
    .bind(now)
    .execute()
    .await?;
    tx.leaves_work();
    Ok(())
}
