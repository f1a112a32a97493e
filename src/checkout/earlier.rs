//! The purchases a customer is reminded of before paying for another cart.
//!
//! Somebody who saw an error may fill a new cart with the same goods and pay again. That cart and its key are
//! new, so nothing in the database can tell a second wish from a second try; only the customer can. What is
//! undecided is always shown, what was paid a while ago only for the same goods.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::model::Status;
use crate::{
    cart::Line,
    catalog::Sku,
    db::Tx,
    ids::{CartId, CheckoutId, VisitorId},
    money::{Currency, Money},
};

/// For how long a paid purchase of the same goods is worth a question.
const RECENTLY: TimeDelta = TimeDelta::hours(1);

/// A purchase that may be the one the customer is about to repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Its checkout.
    pub id: CheckoutId,
    /// Pending or paid.
    pub status: Status,
    /// What it costs.
    pub amount: Money,
    /// When it was submitted.
    pub created_at: DateTime<Utc>,
    /// What was bought, and how many of each.
    pub goods: Vec<(String, i64)>,
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
            "select c.id, c.status, c.amount_minor, c.currency, c.created_at, l.sku, l.name, l.quantity
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
    let mut found: Vec<(Earlier, BTreeMap<Sku, i64>)> = Vec::new();
    for row in rows {
        if found.last().is_none_or(|(earlier, _)| earlier.id != row.id) {
            found.push((row.head(), BTreeMap::new()));
        }
        if let Some((earlier, goods)) = found.last_mut() {
            earlier.goods.push((row.name, row.quantity));
            goods.insert(row.sku, row.quantity);
        }
    }
    let wanted: BTreeMap<Sku, i64> = lines
        .iter()
        .map(|line| (line.sku.clone(), line.quantity))
        .collect();
    Ok(found
        .into_iter()
        .filter(|(earlier, goods)| earlier.status == Status::Pending || *goods == wanted)
        .map(|(earlier, _)| earlier)
        .collect())
}

#[derive(sqlx::FromRow)]
struct Row {
    id: CheckoutId,
    status: Status,
    amount_minor: i64,
    currency: Currency,
    created_at: DateTime<Utc>,
    sku: Sku,
    name: String,
    quantity: i64,
}

impl Row {
    fn head(&self) -> Earlier {
        Earlier {
            id: self.id,
            status: self.status,
            amount: Money::new(self.amount_minor, self.currency),
            created_at: self.created_at,
            goods: Vec::new(),
        }
    }
}
