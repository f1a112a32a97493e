//! The cart: a list of wishes that can be changed until it is being paid.
//!
//! A cart with a checkout that is pending or paid is closed: what is added afterwards goes into the cart that
//! follows it. After a decline it is open again. Edits and purchases of one cart lock its row first, so that an edit is
//! either part of the purchase or finds the cart closed, and is never lost in between.

mod edit;
mod fill;

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest as _, Sha256};

pub use self::{
    edit::{CartError, add, set_quantity},
    fill::{Item, fill},
};
use crate::{
    catalog::Sku,
    db::{Db, Tx, retrying},
    ids::{CartId, CheckoutId},
    money::{Currency, Money},
};

/// The most units of one product in a cart; the database has the same bound.
pub const QUANTITY_MAX: i64 = 99;

/// The most different products in a cart: it bounds the statements of one purchase.
pub const LINES_MAX: i64 = 50;

/// A visitor who stays away this long is a new one, and what was in their cart nobody can see any more.
pub const FORGOTTEN_AFTER: TimeDelta = TimeDelta::days(30);

/// One product in a cart, at today's price.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Line {
    /// The product.
    pub sku: Sku,
    /// Its name.
    pub name: String,
    /// How many are wanted.
    pub quantity: i64,
    price_minor: i64,
    currency: Currency,
    /// How many could be had now.
    pub stock: i64,
}

impl Line {
    /// The price of one.
    pub fn unit(&self) -> Money {
        Money::new(self.price_minor, self.currency)
    }

    /// The price of all of them.
    pub fn amount(&self) -> Money {
        // The schema bounds both, so nothing is ever cut off.
        let minor = self.price_minor.saturating_mul(self.quantity);
        Money::new(minor, self.currency)
    }
}

/// A cart and what it stands for.
#[derive(Clone, Debug)]
pub struct Cart {
    /// Its id.
    pub id: CartId,
    /// In the order of their SKUs.
    pub lines: Vec<Line>,
    /// The checkout that closed it, pending or paid.
    pub closed_by: Option<ClosedBy>,
}

/// The checkout that closed a cart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// It is being paid.
    Pending(CheckoutId),
    /// It was bought.
    Paid(CheckoutId),
}

impl ClosedBy {
    /// Which checkout it is.
    pub fn checkout(self) -> CheckoutId {
        match self {
            Self::Pending(id) | Self::Paid(id) => id,
        }
    }
}

impl Cart {
    /// What all lines cost: see [`total`].
    pub fn total(&self) -> Option<Money> {
        total(&self.lines)
    }

    /// A digest of the goods and their prices, for the form to carry: see [`digest`].
    pub fn digest(&self) -> String {
        digest(self.id, &self.lines)
    }
}

/// What the lines cost together; `None` when there are none, or when they are priced in two currencies.
pub fn total(lines: &[Line]) -> Option<Money> {
    let (first, rest) = lines.split_first()?;
    rest.iter()
        .try_fold(first.amount(), |sum, line| sum.plus(line.amount()))
}

/// Names exactly these goods at these prices in this cart. A form that was rendered for other goods of the
/// same total is found out by it.
pub fn digest(cart: CartId, lines: &[Line]) -> String {
    let mut hash = Sha256::new();
    hash.update(cart.to_string());
    for line in lines {
        let (sku, quantity, unit) = (&line.sku, line.quantity, line.unit());
        hash.update(format!(
            "\n{sku} {quantity} {} {}",
            unit.minor,
            unit.currency.code()
        ));
    }
    hex::encode(hash.finalize())
}

/// The cart named `id`, for a page. `None` when there is no such cart.
pub async fn find(db: &Db, id: CartId) -> sqlx::Result<Option<Cart>> {
    retrying(|| find_once(db, id)).await
}

async fn find_once(db: &Db, id: CartId) -> sqlx::Result<Option<Cart>> {
    let mut tx = db.read().await?;
    let known: Option<(CartId,)> = tx
        .query("select id from carts where id = $1")
        .bind(id)
        .fetch_optional()
        .await?;
    if known.is_none() {
        return Ok(None);
    }
    Ok(Some(Cart {
        id,
        lines: lines(&mut tx, id).await?,
        closed_by: closed_by(&mut tx, id).await?,
    }))
}

/// How many units are in an open cart: the number beside the cart's link on every page.
pub async fn units(db: &Db, id: CartId) -> sqlx::Result<i64> {
    retrying(|| {
        db.query(
            "select cast(coalesce(sum(quantity), 0) as bigint) from cart_items
         where cart_id = $1 and not exists (
             select 1 from checkouts where cart_id = $1 and status in ('pending', 'paid'))",
        )
        .bind(id)
        .fetch_scalar()
    })
    .await
}

/// The lines of a cart in the order of their SKUs, which is the order in which stock is taken.
pub async fn lines(tx: &mut Tx, id: CartId) -> sqlx::Result<Vec<Line>> {
    let mut lines: Vec<Line> = tx
        .query(
            "select p.sku, p.name, p.price_minor, p.currency, p.stock, i.quantity
             from cart_items i join products p on p.sku = i.sku
             where i.cart_id = $1",
        )
        .bind(id)
        .fetch_all()
        .await?;
    // Sorted here, since the engines do not agree on the order of letters.
    lines.sort_by(|a, b| a.sku.cmp(&b.sku));
    Ok(lines)
}

/// Takes the lock under which a cart is changed or bought, to change it: the time after which it is pruned begins anew,
/// unless it is kept for its checkout. On SQLite the transaction itself is that lock.
async fn lock_to_change(tx: &mut Tx, id: CartId, now: DateTime<Utc>) -> sqlx::Result<u64> {
    tx.query(
        "update carts set idle_since = case when idle_since is null then null else $2 end
         where id = $1",
    )
    .bind(id)
    .bind(now)
    .execute()
    .await
}

/// Takes the same lock to buy the cart, which will be kept then as long as its checkout.
pub async fn lock_to_buy(tx: &mut Tx, id: CartId) -> sqlx::Result<u64> {
    tx.query("update carts set idle_since = null where id = $1")
        .bind(id)
        .execute()
        .await
}

async fn closed_by(tx: &mut Tx, id: CartId) -> sqlx::Result<Option<ClosedBy>> {
    let live: Option<(CheckoutId, String)> = tx
        .query(
            "select id, status from checkouts where cart_id = $1 and status in ('pending', 'paid')",
        )
        .bind(id)
        .fetch_optional()
        .await?;
    Ok(live.map(|(id, status)| match status.as_str() {
        "paid" => ClosedBy::Paid(id),
        _ => ClosedBy::Pending(id),
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        pricing::{Pricing, TaxRates},
        provider,
    };

    fn line(place: usize, price_minor: i64, quantity: i64) -> Line {
        Line {
            sku: format!("A-{place}").parse().expect("a SKU"),
            name: "Anything".to_owned(),
            quantity,
            price_minor,
            currency: Currency::Eur,
            stock: quantity,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        /// What the lines cost and the shipping is what is shown, charged and taxed.
        #[test]
        fn the_figures_of_any_cart_agree(
            wanted in prop::collection::vec((1..=99_999_999_i64, 1..=QUANTITY_MAX), 1..=50),
            shipping in 0..=100_000_i64,
            country in prop::sample::select(vec!["DE", "CH", "US"]),
        ) {
            let places = wanted.iter().enumerate();
            let lines: Vec<Line> = places.map(|(n, (price, quantity))| line(n, *price, *quantity)).collect();
            let goods: i64 = wanted.iter().map(|(price, quantity)| price * quantity).sum();
            let pricing = Pricing {
                currency: Currency::Eur,
                shipping: Money::new(shipping, Currency::Eur),
                tax_rates: TaxRates::STANDARD.parse().expect("rates"),
            };

            let amount = total(&lines).and_then(|goods| pricing.total(goods)).expect("one currency");

            prop_assert_eq!(amount.minor, goods + shipping);
            let charge = provider::Charge { amount, payment_method: "", checkout_id: "", return_url: "" };
            let asked = provider::payment_intent_request(&charge);
            let expected = format!("amount={}&currency=eur&", goods + shipping);
            prop_assert!(asked.starts_with(&expected), "{}", asked);
            let tax = pricing.tax(amount, country).map_or(0, |tax| tax.amount.minor);
            prop_assert!((0..=amount.minor).contains(&tax));
            prop_assert!(country != "US" || tax == 0);
        }
    }
}
