//! Refunds can be listed, and found.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::model::{Kind, Status};
use crate::{
    ids::{CheckoutId, RefundId},
    money::{Currency, Money},
    orders::OrderNumber,
    paging::{Keyed, Turns, turns},
    search::{self, Searchable, Way},
};

/// A refund in a list.
#[derive(Debug, sqlx::FromRow)]
pub struct Listed {
    /// Its id.
    pub id: RefundId,
    /// What is given back.
    pub kind: Kind,
    /// The purchase that was paid.
    pub checkout_id: CheckoutId,
    /// The order that it had become.
    pub order_number: Option<OrderNumber>,
    amount_minor: i64,
    currency: Currency,
    /// Where it stands.
    pub status: Status,
    /// The provider's refund, once we know it.
    pub provider_id: Option<String>,
    /// Why it was refused: the provider's code.
    pub failure_code: Option<String>,
    /// How often the provider was asked.
    pub attempts: i64,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
}

impl Listed {
    /// How much.
    pub fn amount(&self) -> Money {
        Money::new(self.amount_minor, self.currency)
    }
}

impl Keyed for Listed {
    type Key = Uuid;
    fn key(&self) -> Uuid {
        self.id.into()
    }
}

macro_rules! listed {
    ($condition:literal) => {
        turns!(
            concat!(
                "select r.id, r.kind, r.checkout_id, r.amount_minor, r.currency, r.status, r.provider_id, r.failure_code,
                        r.attempts, r.created_at, o.number as order_number
                 from refunds r left join orders o on o.checkout_id = r.checkout_id
                 where ",
                $condition
            ),
            limit "$2",
            "r.id" = "$1"
        )
    };
}

impl Searchable for Listed {
    const ALL: Turns = listed!("true");
    const WAYS: &'static [Way] = &[
        Way {
            form: search::id,
            turns: listed!(
                "r.id in (select id from refunds where id = $3
                          union select id from refunds where checkout_id = $3)"
            ),
        },
        Way {
            form: search::order_number,
            turns: listed!("r.checkout_id = (select checkout_id from orders where number = $3)"),
        },
        Way {
            form: search::object,
            turns: listed!(
                "r.id in (select id from refunds where provider_id = $3
                          union select id from refunds where payment_intent_id = $3)"
            ),
        },
    ];
}
