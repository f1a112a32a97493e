//! What is for sale.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};

use crate::{
    db::{Db, Tx, retrying},
    money::{Currency, Money},
};

/// A product as a customer sees it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Product {
    /// Its natural key.
    pub sku: Sku,
    /// Its name.
    pub name: String,
    /// A sentence or two.
    pub description: String,
    price_minor: i64,
    currency: Currency,
    /// Units a new checkout can take.
    pub stock: i64,
}

impl Product {
    /// The price of one.
    pub fn price(&self) -> Money {
        Money::new(self.price_minor, self.currency)
    }
}

/// Everything, in the order it was first put on the shelf.
pub async fn list(db: &Db) -> sqlx::Result<Vec<Product>> {
    db.query("select * from products order by created_at, sku")
        .fetch_all()
        .await
}

/// One product, if we have it.
pub async fn find(db: &Db, sku: &Sku) -> sqlx::Result<Option<Product>> {
    db.query("select * from products where sku = $1")
        .bind(sku)
        .fetch_optional()
        .await
}

/// A stock keeping unit: capital letters, digits and dashes, 32 at most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Sku(String);

impl Sku {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Sku {
    type Err = NotASku;
    fn from_str(text: &str) -> Result<Self, NotASku> {
        let allowed = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'-';
        if (1..=32).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotASku)
        }
    }
}

impl fmt::Display for Sku {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text cannot name a product.
#[derive(Debug, thiserror::Error)]
#[error("a SKU has capital letters, digits and dashes, 32 at most")]
pub struct NotASku;

/// The goods of the demonstration: SKU, name, price in euro cents, stock, description.
const DEMO_GOODS: [(&str, &str, i64, i64, &str); 8] = [
    ("TEA-01", "Plain black tea", 490, 100, "Tea. Black. It does what tea does."),
    ("MUG-01", "Grey mug", 890, 60, "Holds a drink. Has one handle, on whichever side you prefer."),
    ("PEN-01", "Ballpoint pen", 190, 250, "Blue ink. Will be borrowed and not returned."),
    ("BOX-01", "Cardboard box", 350, 80, "Empty, so that you can decide."),
    ("SOC-01", "Grey socks", 690, 40, "A pair. Both are the same length and the same grey."),
    ("NTB-01", "Lined notebook", 540, 75, "96 pages with lines. The words are up to you."),
    ("CLP-01", "Paper clips", 120, 500, "A box of 100. Nobody has ever counted."),
    ("LMP-01", "Desk lamp", 3990, 12, "On or off. There is no third mode."),
];

/// Fills an empty catalog with the demo goods. Several processes may do so at once; one of them wins.
pub async fn seed_when_empty(db: &Db, now: DateTime<Utc>) -> sqlx::Result<()> {
    retrying(|| seed_once(db, now)).await
}

async fn seed_once(db: &Db, now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    let products: i64 = tx.query("select count(*) from products").fetch_scalar().await?;
    if products > 0 {
        return Ok(());
    }
    for (place, goods) in (0_u64..).zip(DEMO_GOODS) {
        // One microsecond apart: that is the order of the shelf.
        put_on_shelf(&mut tx, goods, now + std::time::Duration::from_micros(place)).await?;
    }
    tx.commit().await
}

async fn put_on_shelf(
    tx: &mut Tx,
    (sku, name, price_minor, stock, description): (&str, &str, i64, i64, &str),
    now: DateTime<Utc>,
) -> sqlx::Result<u64> {
    tx.query(
        "insert into products (sku, name, description, price_minor, currency, stock, stocked, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict do nothing",
    )
    .bind(sku)
    .bind(name)
    .bind(description)
    .bind(price_minor)
    .bind(Currency::Eur)
    .bind(stock)
    .bind(stock)
    .bind(now)
    .execute()
    .await
}
