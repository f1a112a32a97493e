//! The goods of the demonstration: an empty shop is filled with them.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::{
    db::{Db, Tx, retrying},
    money::{Currency, Money},
};

struct Goods {
    sku: &'static str,
    name: &'static str,
    /// Of a euro.
    price_cents: i64,
    stock: i64,
    description: &'static str,
}

const GOODS: [Goods; 8] = [
    Goods {
        sku: "TEA-01",
        name: "Plain black tea",
        price_cents: 490,
        stock: 200,
        description: "Twenty bags. Tastes of tea.",
    },
    Goods {
        sku: "MUG-01",
        name: "Grey mug",
        price_cents: 950,
        stock: 80,
        description: "Holds a third of a litre. Does not change colour when hot.",
    },
    Goods {
        sku: "PEN-01",
        name: "Ballpoint pen",
        price_cents: 120,
        stock: 500,
        description: "Blue ink. Writes until it stops, then does not.",
    },
    Goods {
        sku: "BOX-01",
        name: "Cardboard box",
        price_cents: 240,
        stock: 150,
        description: "Delivered flat, inside a slightly larger one.",
    },
    Goods {
        sku: "SOC-01",
        name: "Grey socks",
        price_cents: 690,
        stock: 120,
        description: "One pair, delivered exactly once, one for each foot.",
    },
    Goods {
        sku: "NTB-01",
        name: "Lined notebook",
        price_cents: 560,
        stock: 90,
        description: "Ninety-six pages with the lines filled in. The words are left to you.",
    },
    Goods {
        sku: "CLP-01",
        name: "Paper clips",
        price_cents: 210,
        stock: 300,
        description: "A box of one hundred. We counted them twice, you pay for them once.",
    },
    Goods {
        sku: "LMP-01",
        name: "Desk lamp",
        price_cents: 2490,
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
pub async fn seed_when_empty(db: &Db, currency: Currency, now: DateTime<Utc>) -> sqlx::Result<()> {
    retrying(|| seed_once(db, currency, now)).await
}

async fn seed_once(db: &Db, currency: Currency, now: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    let products: i64 = tx
        .query("select count(*) from products")
        .fetch_scalar()
        .await?;
    if products > 0 {
        return tx.rollback().await;
    }
    for (place, goods) in (0_u64..).zip(&GOODS) {
        // A microsecond apart, which makes the order of the shelf.
        put_on_shelf(&mut tx, goods, currency, now + Duration::from_micros(place)).await?;
    }
    tx.commit().await
}

async fn put_on_shelf(
    tx: &mut Tx,
    goods: &Goods,
    currency: Currency,
    now: DateTime<Utc>,
) -> sqlx::Result<u64> {
    let price = price_in(currency, goods.price_cents);
    tx.query(
        "insert into products (sku, name, description, price_minor, currency, stock, stocked, delivered,
             created_at)
         values ($1, $2, $3, $4, $5, $6, $6, $6, $7)
         on conflict do nothing",
    )
    .bind(goods.sku)
    .bind(goods.name)
    .bind(goods.description)
    .bind(price.minor)
    .bind(price.currency)
    .bind(goods.stock)
    .bind(now)
    .execute()
    .await
}

/// What would be a price of about so many euro cents. The provider's minimum is worth about 50 of them wherever it has
/// one, which is a rate of exchange good enough for a demonstration.
pub fn price_in(currency: Currency, cents: i64) -> Money {
    let minor = match (currency.minimum(), currency.exponent()) {
        (minimum @ 30.., _) if currency.step() == 1 => cents * minimum / 50,
        (_, 2) => cents * currency.step(),
        (_, _) => cents * 10,
    };
    // A price that ends in 0, which also is a whole step.
    let end = 10 * currency.step();
    Money::new((minor + end - 1) / end * end, currency)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goods_can_be_bought_one_by_one_in_every_currency() {
        for currency in Currency::ALL {
            for goods in &GOODS {
                let price = price_in(*currency, goods.price_cents);
                assert_eq!(price.check_chargeable(), Ok(()), "{}", goods.sku);
            }
        }
    }

    #[test]
    fn a_price_is_about_the_same_everywhere() {
        let tea = |currency| price_in(currency, 490).to_string().replace('\u{a0}', " ");
        assert_eq!(tea(Currency::Eur), "€4.90");
        assert_eq!(tea(Currency::Gbp), "£3.00");
        assert_eq!(tea(Currency::Jpy), "¥490");
        assert_eq!(tea(Currency::Huf), "HUF 1715.00");
        assert_eq!(tea(Currency::Kwd), "KWD 4.900");
        assert_eq!(tea(Currency::Isk), "ISK 490");
        assert_eq!(tea(Currency::Vnd), "₫4900");
    }
}
