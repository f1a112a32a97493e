//! Orders can be listed, and found.

use chrono::{DateTime, Utc};

use super::OrderNumber;
use crate::{
    ids::CheckoutId,
    money::{Currency, Money},
    paging::{At, Keyed, Turns, turns},
    search::{self, Searchable, Way},
};

/// An order in a list.
#[derive(Debug, sqlx::FromRow)]
pub struct Listed {
    /// What the customer calls it by.
    pub number: OrderNumber,
    /// The purchase it came from.
    pub checkout_id: CheckoutId,
    amount_minor: i64,
    refunded_minor: i64,
    currency: Currency,
    /// Whose it is.
    pub email: String,
    /// When it was paid.
    pub created_at: DateTime<Utc>,
}

impl Listed {
    /// What was paid for it.
    pub fn amount(&self) -> Money {
        Money::new(self.amount_minor, self.currency)
    }

    /// What of it is given back or on its way.
    pub fn refunded(&self) -> Money {
        Money::new(self.refunded_minor, self.currency)
    }
}

impl Keyed for Listed {
    type Key = At;
    fn key(&self) -> At {
        At {
            time: self.created_at,
            id: self.number.to_string(),
        }
    }
}

macro_rules! listed {
    ($condition:literal) => {
        turns!(
            concat!(
                "select o.number, o.checkout_id, o.amount_minor, o.currency, o.created_at, c.email, p.refunded_minor
                 from orders o
                 join checkouts c on c.id = o.checkout_id
                 join payments p on p.checkout_id = o.checkout_id
                 where ",
                $condition
            ),
            limit "$3",
            "o.created_at" = "$1",
            "o.number" = "$2"
        )
    };
}

impl Searchable for Listed {
    const ALL: Turns = listed!("true");
    const WAYS: &'static [Way] = &[
        Way {
            form: search::order_number,
            turns: listed!("o.number = $4"),
        },
        Way {
            form: search::email,
            turns: listed!("o.customer_id = (select id from customers where email_folded = $4)"),
        },
    ];
}
