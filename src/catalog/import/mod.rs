//! The catalog from a file: products are inserted or updated on their SKU, all of them or none.
//!
//! The file says what *is*, never what to change, so it can be imported twice. That holds for stock too, which customers
//! change meanwhile: the file counts what was ever delivered, like a meter. What it counts more than the last one did is
//! put on the shelf.
//!
//! ```text
//! file: 100    delivered 100    stock 100
//!              30 are sold      stock  70
//! file: 100    delivered 100    stock  70     the same file again: nothing
//! file: 150    delivered 150    stock 120     fifty more came
//! ```
//!
//! Had it said how many are on the shelf, the second import would have put thirty there that were never delivered.

mod file;
mod problems;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use chrono::{DateTime, Utc};
use serde::Serialize;

pub use self::{
    file::{Entry, Unreadable, read},
    problems::Problems,
};
use super::Sku;
use crate::{
    db::{Db, Transient, Tx, retrying},
    money::Currency,
};

/// Rows of one statement. More gain nothing, and each has to be in memory once more.
const BATCH: usize = 1_000;

/// What an import came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Products that were not there.
    pub new: usize,
    /// Products of which anything is different now.
    pub changed: usize,
    /// The others.
    pub unchanged: usize,
}

/// As an operator reads it: `12 products: 2 new, 1 changed, 9 as they were`.
impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            new,
            changed,
            unchanged,
        } = self;
        let all = new + changed + unchanged;
        let products = if all == 1 { "product" } else { "products" };
        write!(
            f,
            "{all} {products}: {new} new, {changed} changed, {unchanged} as they were"
        )
    }
}

/// Imports `entries`, priced in `currency`, in one transaction. `progress` hears how many are done.
pub async fn import(
    db: &Db,
    entries: &[Entry],
    currency: Currency,
    now: DateTime<Utc>,
    progress: impl Fn(usize),
) -> Result<Imported, ImportError> {
    retrying(|| import_once(db, entries, currency, now, &progress)).await
}

async fn import_once(
    db: &Db,
    entries: &[Entry],
    currency: Currency,
    now: DateTime<Utc>,
    progress: &impl Fn(usize),
) -> Result<Imported, ImportError> {
    let mut tx = db.begin_alone().await?;
    let mut imported = Imported::default();
    let mut problems = Problems::default();
    for (place, batch) in entries.chunks(BATCH).enumerate() {
        progress(place * BATCH);
        let known = lock(&mut tx, batch).await?;
        let mut different = Vec::new();
        for entry in batch {
            match known.get(&entry.sku) {
                None => imported.new += 1,
                Some(product) if product.is(entry, currency) => {
                    imported.unchanged += 1;
                    continue;
                }
                Some(product) => {
                    product.check_stock(entry, &mut problems);
                    imported.changed += 1;
                }
            }
            different.push(entry);
        }
        if problems.is_empty() {
            write(&mut tx, &different, currency, now).await?;
        }
    }
    problems.or(()).map_err(ImportError::Refused)?;
    all_are_priced_in(&mut tx, currency).await?;
    tx.commit().await?;
    Ok(imported)
}

/// A product as it is, which nobody else changes until we are done.
#[derive(sqlx::FromRow)]
struct Known {
    sku: Sku,
    name: String,
    description: String,
    price_minor: i64,
    currency: Currency,
    stock: i64,
    delivered: i64,
}

impl Known {
    fn is(&self, entry: &Entry, currency: Currency) -> bool {
        self.name == entry.name
            && self.description == entry.description
            && (self.price_minor, self.currency) == (entry.price.minor, currency)
            && self.delivered == entry.stock
    }

    /// Fewer cannot have been delivered than are sold already, or held for somebody.
    fn check_stock(&self, entry: &Entry, problems: &mut Problems) {
        let least = self.delivered - self.stock;
        if entry.stock < least {
            let what =
                format!("{least} of them are sold or held already, so it is {least} at least");
            problems.add(entry.line, "stock", what);
        }
    }
}

/// Locks the products that are there, in the order of their SKUs, in which purchases take them too. On SQLite the
/// transaction itself is that lock. Carts may go on referring to them.
async fn lock(tx: &mut Tx, batch: &[Entry]) -> sqlx::Result<HashMap<Sku, Known>> {
    let lines = batch.iter().map(|entry| (entry.sku.as_str(), entry.line));
    let lines: BTreeMap<&str, u64> = lines.collect();
    let known: Vec<Known> = tx
        .query(
            "select sku, name, description, price_minor, currency, stock, delivered from products
             where sku in (select key from json_each($1 /*pg ::json */))
             order by sku /*pg collate \"C\" for no key update */",
        )
        .bind(json(&lines)?)
        .fetch_all()
        .await?;
    Ok(known
        .into_iter()
        .map(|product| (product.sku.clone(), product))
        .collect())
}

/// What a row of a statement says, under its SKU.
#[derive(Serialize)]
struct Said<'a> {
    name: &'a str,
    description: &'a str,
    price_minor: i64,
    stock: i64,
}

impl<'a> Said<'a> {
    fn of(entry: &'a Entry) -> Self {
        Self {
            name: &entry.name,
            description: &entry.description,
            price_minor: entry.price.minor,
            stock: entry.stock,
        }
    }
}

/// Writes a batch with one statement: an object of JSON is a table to both engines.
async fn write(
    tx: &mut Tx,
    batch: &[&Entry],
    currency: Currency,
    now: DateTime<Utc>,
) -> sqlx::Result<u64> {
    let rows: BTreeMap<&str, Said<'_>> = batch
        .iter()
        .map(|entry| (entry.sku.as_str(), Said::of(entry)))
        .collect();
    tx.query(
        "insert into products (sku, name, description, price_minor, currency, stock, stocked, delivered, created_at)
         select key, value ->> 'name', value ->> 'description', cast(value ->> 'price_minor' as bigint), $2,
                cast(value ->> 'stock' as bigint), cast(value ->> 'stock' as bigint),
                cast(value ->> 'stock' as bigint), $3
         from json_each($1 /*pg ::json */) where true
         on conflict (sku) do update
         set name = excluded.name, description = excluded.description,
             price_minor = excluded.price_minor, currency = excluded.currency,
             stock = products.stock + excluded.delivered - products.delivered,
             stocked = products.stocked + excluded.delivered - products.delivered,
             delivered = excluded.delivered",
    )
    .bind(json(&rows)?)
    .bind(currency)
    .bind(now)
    .execute()
    .await
}

fn json(rows: &impl Serialize) -> sqlx::Result<String> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(Box::new(error)))
}

/// A catalog has one currency: a cart has one total.
async fn all_are_priced_in(tx: &mut Tx, currency: Currency) -> Result<(), ImportError> {
    let others: Vec<(Currency, i64)> = tx
        .query("select currency, count(*) from products where listed and currency <> $1 group by currency")
        .bind(currency)
        .fetch_all()
        .await?;
    match others.first() {
        None => Ok(()),
        Some(&(other, number)) => Err(ImportError::OtherCurrency {
            number,
            other,
            currency,
        }),
    }
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Rows of it contradict what was sold.
    #[error("rows of it are wrong")]
    Refused(Problems),
    /// Products that it does not name are priced in another currency.
    #[error(
        "{number} products that are not in it are priced in {other}, and it is in {currency}: a catalog has one currency"
    )]
    OtherCurrency {
        /// How many.
        number: i64,
        /// Their currency.
        other: Currency,
        /// The file's.
        currency: Currency,
    },
    /// The database did not do its part.
    #[error("the database failed: {0}")]
    Db(#[from] sqlx::Error),
}

impl Transient for ImportError {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Db(error) if error.is_transient())
    }
}
