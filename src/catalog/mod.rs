//! What is for sale.

pub mod demo;
pub mod import;

use std::{fmt, str::FromStr};

use crate::{
    db::{Db, retrying},
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

/// Everything that is shown, in the order it was first put on the shelf.
pub async fn list(db: &Db) -> sqlx::Result<Vec<Product>> {
    retrying(|| {
        db.query("select * from products where listed order by created_at, sku")
            .fetch_all()
    })
    .await
}

/// One product, if we have it, shown or not.
pub async fn find(db: &Db, sku: &Sku) -> sqlx::Result<Option<Product>> {
    retrying(|| {
        db.query("select * from products where sku = $1")
            .bind(sku)
            .fetch_optional()
    })
    .await
}

/// A currency of the catalog that is not `currency`, when there is one.
pub async fn other_currency(db: &Db, currency: Currency) -> sqlx::Result<Option<Currency>> {
    let other: Option<(Currency,)> = retrying(|| {
        db.query("select currency from products where listed and currency <> $1 limit 1")
            .bind(currency)
            .fetch_optional()
    })
    .await?;
    Ok(other.map(|(currency,)| currency))
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
