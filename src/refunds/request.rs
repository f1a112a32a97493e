//! Requesting: one wish becomes at most one refund.
//!
//! The same form arrives twice: a double click, a reload, a retry after a lost answer. All carry the wish's key, which is
//! unique, so one insert wins and the rest find its refund. Another wish takes from the same payment, and what is left of
//! that only one of two can have:
//!
//! ```text
//! wish K        insert K ── take 60 of 100 ── commit ──┐
//! wish K again  insert K ── waits ─────────────────────┼── conflict: read the refund of K
//! wish L        insert L ── take 60 ── waits ──────────┴── no longer what was left: look again, and refuse
//! ```
//!
//! Nothing here talks to the provider: the refund is on disk, and its money reserved, before anybody is asked for it.
//! Drop the unique index on `refunds.idempotency_key`, and `a_key_is_one_orders` fails on PostgreSQL, where two transactions
//! can be in the middle of this at once. Of one order, what is left would tell them apart too.

use chrono::{DateTime, Utc};

use super::{
    drive::{Claimed, LEASE},
    model::Refund,
    reserve,
    wish::Wish,
};
use crate::{
    checkout::Till,
    db::{Transient, Tx, retrying},
    ids::{CheckoutId, RefundId},
    money::{Currency, Money},
    orders::OrderNumber,
};

/// What became of a wish.
#[derive(Debug)]
pub enum Requested {
    /// A new refund. The caller holds its lease and [drives](super::drive()) it.
    New(Claimed),
    /// The key was here before. Whoever has the refund's lease is at work on it, or a worker will be.
    Existing(Refund),
}

impl Requested {
    /// The refund, as it stood then.
    pub fn refund(&self) -> &Refund {
        match self {
            Self::New(claimed) => &claimed.refund,
            Self::Existing(refund) => refund,
        }
    }
}

/// Writes down the refund that `wish` asks for and reserves its money, or returns the one that exists, in one transaction.
pub async fn request(till: &Till, wish: &Wish) -> Result<Requested, RequestError> {
    let id = RefundId::new();
    let requested = retrying(|| request_once(till, wish, id)).await?;
    let refund = requested.refund();
    match &requested {
        Requested::New(_) => {
            tracing::info!(refund.id = %refund.id, amount = %refund.amount(), requester = %wish.requester, "refund requested");
        }
        Requested::Existing(_) => {
            tracing::info!(refund.id = %refund.id, status = refund.status.name(), "refund found again");
        }
    }
    Ok(requested)
}

async fn request_once(till: &Till, wish: &Wish, id: RefundId) -> Result<Requested, RequestError> {
    let mut tx = till.db.begin().await?;
    let requested = write_down(&mut tx, wish, id, till.clock.now()).await;
    tx.end(requested).await
}

async fn write_down(
    tx: &mut Tx,
    wish: &Wish,
    id: RefundId,
    now: DateTime<Utc>,
) -> Result<Requested, RequestError> {
    // The money before the key: if this very wish has just taken it, its refund is seen as well, and answers.
    let paid = paid(tx, &wish.order).await?;
    if let Some(existing) = existing(tx, wish).await? {
        return if existing.refund.id == id {
            // The commit of an earlier run went through, and its answer was lost.
            Ok(Requested::New(existing))
        } else {
            accept(existing.refund, wish)
        };
    }
    let paid = paid.ok_or(RequestError::UnknownOrder)?;
    let left = paid.left();
    let amount = agreed_amount(wish, left)?;
    let Some(new) = insert(tx, wish, id, &paid, amount, now).await? else {
        let winner = existing(tx, wish).await?;
        return accept(winner.ok_or(RequestError::Raced)?.refund, wish);
    };
    let currency = paid.currency.code();
    if !reserve::take(
        tx,
        &paid.payment_intent_id,
        amount,
        currency,
        Some(left.minor),
    )
    .await?
    {
        // Something was taken, or given free, since we looked. Another run says what that means for this wish.
        return Err(RequestError::Raced);
    }
    Ok(Requested::New(new))
}

/// What was paid for an order.
#[derive(sqlx::FromRow)]
struct Paid {
    checkout_id: CheckoutId,
    payment_intent_id: String,
    amount_minor: i64,
    refunded_minor: i64,
    currency: Currency,
}

impl Paid {
    /// What is neither given back nor on its way.
    fn left(&self) -> Money {
        Money::new(self.amount_minor - self.refunded_minor, self.currency)
    }
}

async fn paid(tx: &mut Tx, order: &OrderNumber) -> sqlx::Result<Option<Paid>> {
    tx.query(
        "select p.* from orders o join payments p on p.checkout_id = o.checkout_id
         where o.number = $1",
    )
    .bind(order)
    .fetch_optional()
    .await
}

/// The refund of this key. Whoever asked for it held its lease, so there is one to hold.
async fn existing(tx: &mut Tx, wish: &Wish) -> sqlx::Result<Option<Claimed>> {
    tx.query("select * from refunds where idempotency_key = $1")
        .bind(wish.key)
        .fetch_optional()
        .await
}

/// Whether an existing refund may answer this wish.
fn accept(existing: Refund, wish: &Wish) -> Result<Requested, RequestError> {
    if existing.requester != Some(wish.requester.to_string()) {
        return Err(RequestError::KeyOfAnother);
    }
    if existing.fingerprint != Some(wish.fingerprint()) {
        return Err(RequestError::KeyReused);
    }
    Ok(Requested::Existing(existing))
}

/// The amount to give back, in minor units. What was left when the form was shown has to be left still: whoever typed the
/// amount did not know of what was given back since.
fn agreed_amount(wish: &Wish, left: Money) -> Result<i64, RequestError> {
    let amount = wish.amount_minor.unwrap_or(left.minor);
    let is_between_steps = amount % left.currency.step() != 0;
    if wish.amount_minor.is_some() && (amount < 1 || is_between_steps) {
        return Err(RequestError::NotAnAmount);
    }
    if wish
        .left_shown_minor
        .is_some_and(|shown| shown != left.minor)
    {
        return Err(RequestError::LeftChanged { now: left });
    }
    if left.minor == 0 {
        return Err(RequestError::NothingLeft);
    }
    if amount > left.minor {
        return Err(RequestError::TooMuch { left });
    }
    if wish.restock && amount < left.minor {
        return Err(RequestError::RestocksAPart);
    }
    Ok(amount)
}

/// `None` when the key already has its refund.
async fn insert(
    tx: &mut Tx,
    wish: &Wish,
    id: RefundId,
    paid: &Paid,
    amount_minor: i64,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<Claimed>> {
    tx.query(
        "insert into refunds (id, kind, checkout_id, payment_intent_id, amount_minor, currency, status,
             idempotency_key, requester, fingerprint, restock, reason,
             call_key, attempts, lease_until, created_at)
         values ($1, 'order', $2, $3, $4, $5, 'pending',
             $6, $7, $8, $9, $10,
             $11, 1, $12, $13)
         on conflict do nothing
         returning *",
    )
    .bind(id)
    .bind(paid.checkout_id)
    .bind(&paid.payment_intent_id)
    .bind(amount_minor)
    .bind(paid.currency)
    .bind(wish.key)
    .bind(wish.requester.to_string())
    .bind(wish.fingerprint())
    .bind(wish.restock)
    .bind(&wish.reason)
    .bind(format!("refund-{id}"))
    .bind(now + LEASE)
    .bind(now)
    .fetch_optional()
    .await
}

/// Why there is no new refund. Nothing was stored, reserved or asked for, but for what [`Db`](Self::Db) leaves open.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The key was used for something else.
    #[error("This form was already used for a different refund.")]
    KeyReused,
    /// The key was used by somebody else, of whom nothing is told.
    #[error("This form can't be used. Please open a new one.")]
    KeyOfAnother,
    /// There is no such order.
    #[error("There is no order of this number.")]
    UnknownOrder,
    /// Zero, less, or between two amounts that a card can be given.
    #[error("This is no amount that can be given back.")]
    NotAnAmount,
    /// All of it was given back, or is on its way.
    #[error("Nothing is left to give back: all of it was given back, or is on its way.")]
    NothingLeft,
    /// More than can be given back.
    #[error("Only {left} is left to give back.")]
    TooMuch {
        /// What is left.
        left: Money,
    },
    /// Something was given back since the form was shown, or did not arrive.
    #[error("What is left to give back has changed to {now}.")]
    LeftChanged {
        /// What is left now.
        now: Money,
    },
    /// Of a part of the money nobody can say which goods it is for.
    #[error("The goods go back on the shelf only with all that is left to give back.")]
    RestocksAPart,
    /// What is left changed while we looked at it; another run of the phase decides.
    #[error("another request was faster")]
    Raced,
    /// The database did not do its part. Whether something was stored is unknown.
    #[error("the database failed")]
    Db(#[from] sqlx::Error),
}

impl Transient for RequestError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Db(error) => error.is_transient(),
            Self::Raced => true,
            _ => false,
        }
    }
}
