//! A refund's row and its states.

use chrono::{DateTime, Utc};

use super::wish::Reason;
use crate::{
    db::{Db, retrying},
    ids::{CheckoutId, RefundId, VisitorId},
    money::{Currency, Money},
    orders::OrderNumber,
};

/// What is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum Kind {
    /// All of a payment that came when its checkout had ended otherwise.
    LatePayment,
    /// What was paid for an order, or a part of it.
    Order,
}

/// Where a refund stands. Each arrow is one guarded update in [`apply`](mod@super::apply); there are no others.
///
/// ```text
///            ┌──> succeeded    the customer's bank has it
/// pending ───┤        │
///            └────────┴─────> failed    refused; or sent back by the bank, which may happen days later
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Status {
    /// On its way. Its amount is reserved.
    Pending,
    /// Given back.
    Succeeded,
    /// The money is with us.
    Failed,
}

impl Status {
    /// What it is called in the database, the API and the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// What one of the provider's states comes to. `None` for one that we do not know.
    pub fn of(provider: &str) -> Option<Self> {
        match provider {
            "pending" | "requires_action" => Some(Self::Pending),
            "succeeded" => Some(Self::Succeeded),
            "failed" | "canceled" => Some(Self::Failed),
            _ => None,
        }
    }
}

/// Money on its way back.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Refund {
    /// Its id, also in the provider's metadata when we made it.
    pub id: RefundId,
    /// What is given back.
    pub kind: Kind,
    /// The purchase that was paid.
    pub checkout_id: CheckoutId,
    /// The provider's payment intent.
    pub payment_intent_id: String,
    amount_minor: i64,
    currency: Currency,
    /// Where it stands.
    pub status: Status,
    /// The provider's refund, once we know it.
    pub provider_id: Option<String>,
    /// Set once it has succeeded: the how-manieth of its payment that did.
    pub ordinal: Option<i64>,
    /// Why the provider would not make it: its code.
    pub failure_code: Option<String>,
    /// Who asked for it, when somebody did: see [`Requester`](super::Requester).
    pub requester: Option<String>,
    /// See [`Wish::fingerprint`](super::Wish::fingerprint).
    pub(super) fingerprint: Option<String>,
    /// Whether the goods go back on the shelf when it has succeeded.
    pub restock: bool,
    /// Why it was asked for.
    pub reason: Option<Reason>,
    /// Nobody else drives it before this moment.
    pub(super) lease_until: Option<DateTime<Utc>>,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
    /// When we learned how it ended.
    pub concluded_at: Option<DateTime<Utc>>,
}

impl Refund {
    /// How much.
    pub fn amount(&self) -> Money {
        Money::new(self.amount_minor, self.currency)
    }

    /// Whether it has put the goods of its order back on the shelf. They stay there, should its money come back later.
    pub fn has_restocked(&self) -> bool {
        self.restock && self.ordinal.is_some()
    }
}

/// What has become of the money that was paid for an order.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// It is with the customer's bank.
    pub given_back: Money,
    /// It may still come back.
    pub on_its_way: Money,
    /// Neither of the two.
    pub left: Money,
}

impl Totals {
    /// Of what was `paid`, by its `refunds`.
    pub fn of(paid: Money, refunds: &[Refund]) -> Self {
        let given_back = sum(refunds, Status::Succeeded, paid.currency);
        let on_its_way = sum(refunds, Status::Pending, paid.currency);
        let left = paid.minor - given_back.minor - on_its_way.minor;
        Self {
            given_back,
            on_its_way,
            left: Money::new(left, paid.currency),
        }
    }
}

/// The sum of those among `refunds` that stand so, in `currency`, which is that of their order.
pub fn sum(refunds: &[Refund], status: Status, currency: Currency) -> Money {
    let refunds = refunds.iter().filter(|refund| refund.status == status);
    Money::new(refunds.map(|refund| refund.amount_minor).sum(), currency)
}

/// The refund named `id`.
pub async fn find(db: &Db, id: RefundId) -> sqlx::Result<Option<Refund>> {
    retrying(|| {
        db.query("select * from refunds where id = $1")
            .bind(id)
            .fetch_optional()
    })
    .await
}

/// The refund named `id` and its order, if they belong to `visitor`. A stranger's are as good as none, and take as long.
pub async fn of_visitor(
    db: &Db,
    id: RefundId,
    visitor: VisitorId,
) -> sqlx::Result<Option<OfOrder>> {
    retrying(|| {
        db.query(
            "select r.*, o.number from refunds r
             join orders o on o.checkout_id = r.checkout_id
             join checkouts c on c.id = r.checkout_id
             where r.id = $1 and c.visitor_id = $2",
        )
        .bind(id)
        .bind(visitor)
        .fetch_optional()
    })
    .await
}

/// A refund of an order.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct OfOrder {
    /// The refund.
    #[sqlx(flatten)]
    pub refund: Refund,
    /// The order's number.
    pub number: OrderNumber,
}

/// All refunds of what was paid for a purchase, oldest first.
pub async fn of_checkout(db: &Db, id: CheckoutId) -> sqlx::Result<Vec<Refund>> {
    retrying(|| {
        db.query("select * from refunds where checkout_id = $1 order by created_at, id")
            .bind(id)
            .fetch_all()
    })
    .await
}
