//! The purchases a customer is reminded of before paying for another cart.
//!
//! Somebody who saw an error may fill a new cart with the same goods and pay again. That cart and its key are
//! new, so nothing in the database can tell a second wish from a second try; only the customer can. What is
//! undecided is always shown, what was paid a while ago only for the same goods.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::model::{CheckoutLine, Status};
use crate::{
    cart::Line,
    db::{Db, Tx},
    ids::{CartId, CheckoutId, VisitorId},
    money::{Currency, Money},
};

/// For how long a paid purchase of the same goods is worth a question.
const RECENTLY: TimeDelta = TimeDelta::hours(1);

/// A purchase that may be the one the customer is about to repeat.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Its checkout.
    pub id: CheckoutId,
    /// Pending or paid.
    pub status: Status,
    /// What it costs.
    pub amount: Money,
    /// When it was submitted.
    pub created_at: DateTime<Utc>,
    /// What was bought.
    pub lines: Vec<CheckoutLine>,
}

/// [`purchases`], for a page.
pub async fn read(
    db: &Db,
    visitor: VisitorId,
    cart: CartId,
    lines: &[Line],
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Earlier>> {
    let mut tx = db.read().await?;
    purchases(&mut tx, visitor, cart, lines, now).await
}

/// The visitor's other purchases that are undecided, or were paid recently for the same goods as `lines`.
pub async fn purchases(
    tx: &mut Tx,
    visitor: VisitorId,
    cart: CartId,
    lines: &[Line],
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Earlier>> {
    let rows: Vec<Row> = tx
        .query(
            "select c.id, c.status, c.amount_minor as total_minor, c.currency, c.created_at, l.*
             from checkouts c join checkout_lines l on l.checkout_id = c.id
             where c.visitor_id = $1 and c.cart_id <> $2
               and (c.status = 'pending' or (c.status = 'paid' and c.concluded_at > $3))
             order by c.created_at desc, c.id, l.sku",
        )
        .bind(visitor)
        .bind(cart)
        .bind(now - RECENTLY)
        .fetch_all()
        .await?;
    let mut found: Vec<Earlier> = Vec::new();
    for row in rows {
        match found.last_mut().filter(|earlier| earlier.id == row.id) {
            Some(earlier) => earlier.lines.push(row.line),
            None => found.push(row.first_of()),
        }
    }
    found.retain(|earlier| earlier.status == Status::Pending || is_same(&earlier.lines, lines));
    Ok(found)
}

/// Whether the same goods are wanted as were bought, at whatever price.
fn is_same(bought: &[CheckoutLine], wanted: &[Line]) -> bool {
    let bought = bought.iter().map(|line| (&line.sku, line.quantity));
    let wanted = wanted.iter().map(|line| (&line.sku, line.quantity));
    bought.collect::<BTreeMap<_, _>>() == wanted.collect()
}

#[derive(sqlx::FromRow)]
struct Row {
    id: CheckoutId,
    status: Status,
    total_minor: i64,
    currency: Currency,
    created_at: DateTime<Utc>,
    #[sqlx(flatten)]
    line: CheckoutLine,
}

impl Row {
    fn first_of(self) -> Earlier {
        Earlier {
            id: self.id,
            status: self.status,
            amount: Money::new(self.total_minor, self.currency),
            created_at: self.created_at,
            lines: vec![self.line],
        }
    }
}
