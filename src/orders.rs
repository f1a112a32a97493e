//! Orders: what a paid checkout became. An [`operator`] can list them.

pub mod operator;

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::{
    checkout::Checkout,
    customers,
    db::{Db, Tx, retrying},
    ids::{CheckoutId, VisitorId},
    money::{Currency, Money},
    outbox::{self, Message, Unreadable},
};

/// One order.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Order {
    /// What the customer calls it by.
    pub number: OrderNumber,
    /// The purchase it came from.
    pub checkout_id: CheckoutId,
    amount_minor: i64,
    currency: Currency,
    /// When it was paid.
    pub created_at: DateTime<Utc>,
}

impl Order {
    /// What was paid for it.
    pub fn amount(&self) -> Money {
        Money::new(self.amount_minor, self.currency)
    }
}

/// A checkout, and what became of it.
#[derive(Debug, sqlx::FromRow)]
pub struct Bought {
    /// The attempt to buy.
    #[sqlx(flatten)]
    pub checkout: Checkout,
    order_number: Option<OrderNumber>,
    ordered_at: Option<DateTime<Utc>>,
}

impl Bought {
    /// `None` unless it was paid.
    pub fn order(&self) -> Option<Order> {
        let Money { minor, currency } = self.checkout.amount();
        Some(Order {
            number: self.order_number.clone()?,
            checkout_id: self.checkout.id,
            amount_minor: minor,
            currency,
            created_at: self.ordered_at?,
        })
    }
}

/// Places the order of a checkout that was just paid, and writes the news of it to the outbox, as a part of the
/// transaction that recorded the payment.
pub async fn place(tx: &mut Tx, checkout: &Checkout, now: DateTime<Utc>) -> sqlx::Result<()> {
    let number = OrderNumber::fresh();
    let customer = customers::note(tx, &checkout.buyer, now).await?;
    let Money { minor, currency } = checkout.amount();
    tx.query(
        "insert into orders (number, checkout_id, customer_id, amount_minor, currency, created_at)
         values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(&number)
    .bind(checkout.id)
    .bind(customer)
    .bind(minor)
    .bind(currency)
    .bind(now)
    .execute()
    .await?;
    let news = OrderPlaced {
        format: 1,
        checkout_id: checkout.id,
        order_number: number,
    };
    outbox::write(tx, checkout.id, OrderPlaced::EVENT_TYPE, 1, news, now).await
}

/// The news that an order was placed, as it stands in the outbox.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OrderPlaced {
    /// Of these fields. It goes up when one of them changes its meaning; a reader refuses what it does not know.
    #[serde(default = "first_format")]
    format: u32,
    /// The purchase.
    pub checkout_id: CheckoutId,
    /// The order that it became.
    pub order_number: OrderNumber,
}

/// Of rows that were written before the payload said its format.
fn first_format() -> u32 {
    1
}

impl OrderPlaced {
    /// What the outbox calls it.
    pub const EVENT_TYPE: &str = "order.placed";

    /// `None` when the message is of another kind.
    pub fn read(message: &Message) -> Result<Option<Self>, Unreadable> {
        message.read(Self::EVENT_TYPE)
    }
}

/// The checkout named `id`, with the order that it became.
pub async fn with_checkout(db: &Db, id: CheckoutId) -> sqlx::Result<Option<Bought>> {
    retrying(|| {
        db.query(
            "select c.*, o.number as order_number, o.created_at as ordered_at
             from checkouts c left join orders o on o.checkout_id = c.id
             where c.id = $1",
        )
        .bind(id)
        .fetch_optional()
    })
    .await
}

/// The order `number`, whoever asks.
pub async fn find(db: &Db, number: &OrderNumber) -> sqlx::Result<Option<Order>> {
    retrying(|| {
        db.query("select * from orders where number = $1")
            .bind(number)
            .fetch_optional()
    })
    .await
}

/// The order `number`, if it belongs to `visitor`. A stranger's is as good as none, and takes as long.
pub async fn of_visitor(
    db: &Db,
    number: &OrderNumber,
    visitor: VisitorId,
) -> sqlx::Result<Option<Order>> {
    retrying(|| {
        db.query(
            "select o.* from orders o join checkouts c on c.id = o.checkout_id
         where o.number = $1 and c.visitor_id = $2",
        )
        .bind(number)
        .bind(visitor)
        .fetch_optional()
    })
    .await
}

/// An order's number, such as `7K3M-9QXT-2P`: drawn at random, so that nobody can count up to another's, from
/// an alphabet without the letters that are read as digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(try_from = "String")]
#[sqlx(transparent)]
pub struct OrderNumber(String);

/// Crockford's base 32: fifty bits in ten of them.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Letters of a number; with the dashes between them there are twelve.
const LETTERS: usize = 10;

impl OrderNumber {
    fn fresh() -> Self {
        let mut rng = rand::rng();
        let drawn = (0..LETTERS).filter_map(|_| ALPHABET.get(rng.random_range(0..ALPHABET.len())));
        Self::of_letters(drawn.copied())
    }

    fn of_letters(letters: impl Iterator<Item = u8>) -> Self {
        let mut number = String::with_capacity(LETTERS + 2);
        for (place, letter) in letters.enumerate() {
            if place == 4 || place == 8 {
                number.push('-');
            }
            number.push(char::from(letter));
        }
        Self(number)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// With the dashes, or without them, and in small letters as well: it is read out on the telephone, and typed by hand.
impl FromStr for OrderNumber {
    type Err = NotANumber;
    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let letters = text.bytes().filter(|&letter| letter != b'-');
        let letters: Vec<u8> = letters.map(|letter| letter.to_ascii_uppercase()).collect();
        let is_number = letters.len() == LETTERS && letters.iter().all(|it| ALPHABET.contains(it));
        if is_number {
            Ok(Self::of_letters(letters.into_iter()))
        } else {
            Err(NotANumber)
        }
    }
}

impl TryFrom<String> for OrderNumber {
    type Error = NotANumber;
    fn try_from(text: String) -> Result<Self, NotANumber> {
        text.parse()
    }
}

impl fmt::Display for OrderNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text cannot be an order's number.
#[derive(Debug, thiserror::Error)]
#[error("not an order number")]
pub struct NotANumber;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_number_reads_back_and_no_two_are_alike() {
        let one = OrderNumber::fresh();
        assert_eq!(
            one.as_str().parse::<OrderNumber>().expect("reads back"),
            one
        );
        assert_ne!(one, OrderNumber::fresh());
        assert_eq!(one.as_str().len(), 12);
    }

    #[test]
    fn a_number_is_read_however_it_is_written() {
        for text in ["7K3M-9QXT-2P", "7K3M9QXT2P", "7k3m-9qxt-2p", "7K3M9-QXT2P"] {
            let number: OrderNumber = text.parse().expect(text);
            assert_eq!(number.as_str(), "7K3M-9QXT-2P");
        }
        for text in [
            "",
            "7K3M-9QXT-2",
            "7K3M-9QXT-2PP",
            "7K3M-9QXT-2L",
            "7K3M 9QXT 2P",
        ] {
            assert!(text.parse::<OrderNumber>().is_err(), "{text:?}");
        }
    }
}
