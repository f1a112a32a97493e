//! Checkouts can be listed and found, by whatever somebody has in hand.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::model::Status;
use crate::{
    ids::CheckoutId,
    money::{Currency, Money},
    orders::OrderNumber,
    paging::{Keyed, Turns, turns},
    search::{self, Searchable, Term, Way},
};

/// A checkout in a list.
#[derive(Debug, sqlx::FromRow)]
pub struct Listed {
    /// Its id.
    pub id: CheckoutId,
    /// Where it stands.
    pub status: Status,
    amount_minor: i64,
    currency: Currency,
    /// Whose it is.
    pub email: String,
    /// What they are called.
    pub name: String,
    /// When it was submitted.
    pub created_at: DateTime<Utc>,
    /// What it became.
    pub order_number: Option<OrderNumber>,
}

impl Listed {
    /// What is charged for it.
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
                "select c.id, c.status, c.amount_minor, c.currency, c.email, c.name, c.created_at,
                        o.number as order_number
                 from checkouts c left join orders o on o.checkout_id = c.id
                 where ",
                $condition
            ),
            limit "$2",
            "c.id" = "$1"
        )
    };
}

impl Searchable for Listed {
    const ALL: Turns = listed!("true");
    const WAYS: &'static [Way] = &[
        Way {
            form: |text| Status::named(text).map(|status| Term::Shared(status.to_string())),
            turns: listed!("c.status = $3"),
        },
        Way {
            form: search::id,
            turns: OF_ID,
        },
        Way {
            form: search::order_number,
            turns: listed!("c.id = (select checkout_id from orders where number = $3)"),
        },
        Way {
            form: search::email,
            turns: listed!("c.email_folded = $3"),
        },
        Way {
            form: search::object,
            turns: OF_PROVIDER,
        },
        Way {
            form: search::event,
            turns: OF_PROVIDER,
        },
    ];
}

/// Those that have to do with an id of ours: a checkout's, its key, its cart, its visitor or one of its refunds.
const OF_ID: Turns = listed!(
    "c.id in (select id from checkouts where id = $3
              union select id from checkouts where idempotency_key = $3
              union select id from checkouts where cart_id = $3
              union select id from checkouts where visitor_id = $3
              union select checkout_id from refunds where id = $3)"
);

/// Those that have to do with an id of the provider's: of a payment, a refund, or an event about one of these.
const OF_PROVIDER: Turns = listed!(
    "c.id in (select id from checkouts where payment_intent_id = $3
              union select checkout_id from refunds where payment_intent_id = $3
              union select checkout_id from refunds where provider_id = $3
              union select checkout_id from discrepancies where object_id = $3
              union select c.id from processed_events e join checkouts c on c.payment_intent_id = e.object_id
                    where e.event_id = $3
              union select r.checkout_id from processed_events e join refunds r on r.provider_id = e.object_id
                    where e.event_id = $3)"
);
