//! Checkouts can be listed and found, by whatever somebody has in hand.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::model::Status;
use crate::{
    db::Db,
    ids::CheckoutId,
    money::{Currency, Money},
    orders::OrderNumber,
    paging::{self, Keyed, Page, Turn, Turns, turns},
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

/// Which checkouts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// All of them.
    All,
    /// Those that stand so.
    Status(Status),
    /// Those of an e-mail address, in any case.
    Email(String),
    /// The one that became this order.
    Order(OrderNumber),
    /// Those that have to do with an id of ours: a checkout's, its key, its cart, its visitor or one of its refunds.
    Id(Uuid),
    /// Those that have to do with an id of the provider's: of a payment intent, a refund, or an event about one of these.
    Provider(String),
}

impl Search {
    /// What somebody means who types `text`. `None` for what nothing can be found by.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Some(Self::All);
        }
        if let Some(status) = Status::named(text) {
            return Some(Self::Status(status));
        }
        if let Ok(id) = Uuid::try_parse(text) {
            return Some(Self::Id(id));
        }
        if let Ok(number) = text.to_ascii_uppercase().parse() {
            return Some(Self::Order(number));
        }
        let is_sane = !text.contains(char::is_control);
        if is_sane && text.contains('@') {
            return Some(Self::Email(text.to_owned()));
        }
        let is_provider_id = ["pi_", "re_", "evt_"].iter().any(|it| text.starts_with(it));
        (is_sane && is_provider_id).then(|| Self::Provider(text.to_owned()))
    }

    /// Whether it names one thing.
    pub fn is_id(&self) -> bool {
        matches!(self, Self::Order(_) | Self::Id(_) | Self::Provider(_))
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

const ALL: Turns = listed!("true");
const OF_STATUS: Turns = listed!("c.status = $3");
// SQLite knows the cases of no letters but ASCII's.
const OF_EMAIL: Turns = listed!("lower(c.email) = lower($3)");
const OF_ORDER: Turns = listed!("c.id in (select checkout_id from orders where number = $3)");
const OF_ID: Turns = listed!(
    "c.id in (select id from checkouts where id = $3
              union select id from checkouts where idempotency_key = $3
              union select id from checkouts where cart_id = $3
              union select id from checkouts where visitor_id = $3
              union select checkout_id from refunds where id = $3)"
);
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

/// A page of those that are searched for, newest first.
pub async fn list(db: &Db, search: &Search, turn: &Turn<Uuid>) -> sqlx::Result<Page<Listed>> {
    match search {
        Search::All => paging::page(db, &ALL, turn, |query| query).await,
        Search::Status(status) => {
            paging::page(db, &OF_STATUS, turn, |query| query.bind(*status)).await
        }
        Search::Email(email) => {
            paging::page(db, &OF_EMAIL, turn, |query| query.bind(email.as_str())).await
        }
        Search::Order(number) => {
            paging::page(db, &OF_ORDER, turn, |query| query.bind(number.as_str())).await
        }
        Search::Id(id) => paging::page(db, &OF_ID, turn, |query| query.bind(*id)).await,
        Search::Provider(id) => {
            paging::page(db, &OF_PROVIDER, turn, |query| query.bind(id.as_str())).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_recognized_by_its_form() {
        let id = Uuid::now_v7();
        let number: OrderNumber = "7K3M-9QXT-2P".parse().expect("a number");
        for (typed, meant) in [
            ("", Some(Search::All)),
            (" Paid ", Some(Search::Status(Status::Paid))),
            (
                "Ada@Example.ORG",
                Some(Search::Email("Ada@Example.ORG".to_owned())),
            ),
            ("7k3m-9qxt-2p", Some(Search::Order(number))),
            (&id.to_string(), Some(Search::Id(id))),
            ("pi_1", Some(Search::Provider("pi_1".to_owned()))),
            ("Ada", None),
            ("a@b\0", None),
            ("pi_\0", None),
        ] {
            assert_eq!(Search::of(typed), meant, "{typed:?}");
        }
    }
}
