//! The goods of the demonstration: an empty shop is filled with them.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::{
    db::{Db, Tx, retrying},
    money::Currency,
};

struct Goods {
    sku: &'static str,
    name: &'static str,
    /// Euro cents.
    price_minor: i64,
    stock: i64,
    description: &'static str,
}

const GOODS: [Goods; 8] = [
    Goods {
        sku: "TEA-01",
        name: "Plain black tea",
        price_minor: 490,
        stock: 200,
        description: "Twenty bags. Tastes of tea.",
    },
    Goods {
        sku: "MUG-01",
        name: "Grey mug",
        price_minor: 950,
        stock: 80,
        description: "Holds a third of a litre. Does not change colour when hot.",
    },
    Goods {
        sku: "PEN-01",
        name: "Ballpoint pen",
        price_minor: 120,
        stock: 500,
        description: "Blue ink. Writes until it stops, then does not.",
    },
    Goods {
        sku: "BOX-01",
        name: "Cardboard box",
        price_minor: 240,
        stock: 150,
        description: "Delivered flat, inside a slightly larger one.",
    },
    Goods {
        sku: "SOC-01",
        name: "Grey socks",
        price_minor: 690,
        stock: 120,
        description: "One pair, delivered exactly once, one for each foot.",
    },
    Goods {
        sku: "NTB-01",
        name: "Lined notebook",
        price_minor: 560,
        stock: 90,
        description: "Ninety-six pages with the lines filled in. The words are left to you.",
    },
    Goods {
        sku: "CLP-01",
        name: "Paper clips",
        price_minor: 210,
        stock: 300,
        description: "A box of one hundred. We counted them twice, you pay for them once.",
    },
    Goods {
        sku: "LMP-01",
        name: "Desk lamp",
        price_minor: 2490,
        stock: 12,
        description: "Two states, on and off. No app can put it into a third.",
    },
];

/// What they are called, each of which has a picture.
#[cfg(test)]
pub fn skus() -> impl Iterator<Item = &'static str> {
    GOODS.iter().map(|goods| goods.sku)
}

/// Fills an empty catalog. Several processes may do so at once; one of them wins.
pub async fn seed_when_empty(db: &Db, now: DateTime<Utc>) -> sqlx::Result<()> {
    retrying(|| seed_once(db, now)).await
}

async fn seed_once(db: &Db, now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    let products: i64 = tx
        .query("select count(*) from products")
        .fetch_scalar()
        .await?;
    if products > 0 {
        return Ok(());
    }
    for (place, goods) in (0_u64..).zip(&GOODS) {
        // A microsecond apart, which makes the order of the shelf.
        put_on_shelf(&mut tx, goods, now + Duration::from_micros(place)).await?;
    }
    tx.commit().await
}

async fn put_on_shelf(tx: &mut Tx, goods: &Goods, now: DateTime<Utc>) -> sqlx::Result<u64> {
    tx.query(
        "insert into products (sku, name, description, price_minor, currency, stock, stocked, created_at)
         values ($1, $2, $3, $4, $5, $6, $6, $7)
         on conflict do nothing",
    )
    .bind(goods.sku)
    .bind(goods.name)
    .bind(goods.description)
    .bind(goods.price_minor)
    .bind(Currency::Eur)
    .bind(goods.stock)
    .bind(now)
    .execute()
    .await
}
