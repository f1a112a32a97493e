//! What the provider was asked for a purchase and for its refunds, and how it answered, kept for the operator.
//!
//! The calls of an attempt are gathered in memory and written down here, as a part of the transaction that records what came
//! of them, or puts it off: a payment costs one statement more, and no commit. The calls of an attempt whose process was
//! killed in between are lost; that there was one the count of attempts tells.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{
    db::Tx,
    ids::{CheckoutId, RefundId},
    provider::Call,
};

/// Attempts of one purchase, or refund, whose calls are kept, beside the last: of more than half a day, after which they are
/// all alike.
const ATTEMPTS_MAX: i64 = 200;

/// Calls that one statement writes down. Hardly any attempt has more.
const ROWS: usize = 3;

/// One time that somebody was at work on a purchase or a refund, and asked the provider.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The purchase.
    pub checkout: CheckoutId,
    about: Uuid,
    number: i64,
    calls: Vec<Call>,
}

impl Attempt {
    /// The `number`th at a purchase.
    pub fn at_checkout(checkout: CheckoutId, number: i64, calls: Vec<Call>) -> Self {
        Self {
            checkout,
            about: checkout.into(),
            number,
            calls,
        }
    }

    /// The `number`th at a refund of a purchase.
    pub fn at_refund(
        checkout: CheckoutId,
        refund: RefundId,
        number: i64,
        calls: Vec<Call>,
    ) -> Self {
        Self {
            about: refund.into(),
            ..Self::at_checkout(checkout, number, calls)
        }
    }
}

macro_rules! insert {
    ($($row:literal),+) => {
        concat!(
            "insert into provider_calls (checkout_id, about, attempt, place, operation, ended, requests, ended_at) values ",
            $($row,)+
            " on conflict do nothing"
        )
    };
}

const ONE: &str = insert!("($1, $2, $3, $4, $5, $6, $7, $8)");
const TWO: &str = insert!(
    "($1, $2, $3, $4, $5, $6, $7, $8), ",
    "($1, $2, $3, $9, $10, $11, $12, $13)"
);
const THREE: &str = insert!(
    "($1, $2, $3, $4, $5, $6, $7, $8), ",
    "($1, $2, $3, $9, $10, $11, $12, $13), ",
    "($1, $2, $3, $14, $15, $16, $17, $18)"
);

/// Writes the calls of an attempt down, as a part of the transaction that says what came of it; whether that `is_the_end`
/// decides for those of late attempts.
pub async fn write(tx: &mut Tx, attempt: &Attempt, is_the_end: bool) -> sqlx::Result<()> {
    if attempt.number > ATTEMPTS_MAX && !is_the_end {
        return Ok(());
    }
    let mut place: i64 = 0;
    for calls in attempt.calls.chunks(ROWS) {
        let sql = match calls.len() {
            1 => ONE,
            2 => TWO,
            _ => THREE,
        };
        let mut query = tx.query(sql);
        query = query.bind(attempt.checkout).bind(attempt.about);
        query = query.bind(attempt.number);
        for call in calls {
            place += 1;
            query = query.bind(place).bind(call.operation);
            query = query.bind(call.ended.as_str());
            query = query.bind(call.requests).bind(call.ended_at);
        }
        query.execute().await?;
    }
    Ok(())
}

/// A call as it is kept.
#[derive(Debug, sqlx::FromRow)]
pub struct Kept {
    /// The how-manieth time that somebody was at work on the purchase, or the refund.
    pub attempt: i64,
    /// What was called.
    pub operation: String,
    /// How it ended.
    pub ended: String,
    /// How many requests it took.
    pub requests: i64,
    /// When it ended.
    pub ended_at: DateTime<Utc>,
}

/// All calls for a purchase and its refunds, in their order.
pub async fn of_checkout(tx: &mut Tx, id: CheckoutId) -> sqlx::Result<Vec<Kept>> {
    tx.query(
        "select attempt, operation, ended, requests, ended_at from provider_calls
         where checkout_id = $1 order by ended_at, attempt, place",
    )
    .bind(id)
    .fetch_all()
    .await
}
