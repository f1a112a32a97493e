//! The checkout's row and its states.

use std::fmt;

use chrono::{DateTime, Utc};

use super::purchase::{Buyer, IdempotencyKey};
use crate::{
    catalog::Sku,
    db::{Db, Tx, retrying},
    ids::{CartId, CheckoutId, VisitorId},
    money::{Currency, IncludedTax, Money, TaxRate},
};

/// Where a checkout stands. Each arrow is one guarded update in [`record`](mod@super::record); there are no
/// others.
///
/// ```text
///            ┌──> paid       the money arrived: there is an order
/// pending ───┼──> declined   the provider said no, and nothing was charged
///            └──> canceled   it was given up at the provider, or never got there
/// ```
///
/// `pending` is everything in between: in flight, an answer lost, waiting for the customer's authentication,
/// a slow payment method. Unknown is not failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Status {
    /// Undecided.
    Pending,
    /// Bought.
    Paid,
    /// Refused by the card's bank; the cart can be paid with another method.
    Declined,
    /// Ended without a charge for any other reason.
    Canceled,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Paid, Self::Declined, Self::Canceled];

    /// The one of this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|status| status.name().eq_ignore_ascii_case(name))
    }

    /// What it is called in the database, the API and the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Paid => "paid",
            Self::Declined => "declined",
            Self::Canceled => "canceled",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One attempt to buy one cart.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Checkout {
    /// Its id, also in the provider's metadata.
    pub id: CheckoutId,
    /// The key of its form, and of the call that charges it.
    pub idempotency_key: IdempotencyKey,
    /// What was bought.
    pub cart_id: CartId,
    /// Whose it is.
    pub visitor_id: VisitorId,
    /// See [`Purchase::fingerprint`](super::Purchase::fingerprint).
    pub fingerprint: String,
    /// Where it stands.
    pub status: Status,
    amount_minor: i64,
    shipping_minor: i64,
    tax_minor: i64,
    tax_rate: TaxRate,
    currency: Currency,
    /// Who buys.
    #[sqlx(flatten)]
    pub buyer: Buyer,
    /// The provider's id of the method.
    pub payment_method: String,
    /// The body of the call, byte for byte the same each time.
    pub provider_request: String,
    /// The provider's payment intent, once we know it.
    pub payment_intent_id: Option<String>,
    /// Where the customer has to go to authenticate the payment.
    pub next_action_url: Option<String>,
    /// When they were first asked to.
    pub asked_at: Option<DateTime<Utc>>,
    /// Why it ended without a charge: the provider's code.
    pub failure_code: Option<String>,
    /// How often it was driven.
    pub attempts: i64,
    /// How often in a row that taught us nothing.
    pub failures: i64,
    /// Nobody else drives it before this moment.
    pub lease_until: Option<DateTime<Utc>>,
    /// Since when the payment is looked up, and its key no longer sent.
    pub look_up_since: Option<DateTime<Utc>>,
    /// When it was submitted.
    pub created_at: DateTime<Utc>,
    /// When it ended.
    pub concluded_at: Option<DateTime<Utc>>,
}

impl Checkout {
    /// What is charged for it.
    pub fn amount(&self) -> Money {
        Money::new(self.amount_minor, self.currency)
    }

    /// What of that is for shipping.
    pub fn shipping(&self) -> Money {
        Money::new(self.shipping_minor, self.currency)
    }

    /// What of it is tax, at the rate of the day; `None` when there is none.
    pub fn tax(&self) -> Option<IncludedTax> {
        (self.tax_rate != TaxRate::NONE).then(|| IncludedTax {
            rate: self.tax_rate,
            amount: Money::new(self.tax_minor, self.currency),
        })
    }

    /// The tax in what was given back of it so far.
    pub fn tax_refunded(&self, refunded: Money) -> Option<IncludedTax> {
        let tax = self.tax()?;
        let left = self.amount().minus(refunded)?;
        Some(IncludedTax {
            amount: tax.rate.included_in_refund(self.amount(), left),
            ..tax
        })
    }
}

/// One product of a checkout, at the price that was agreed.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct CheckoutLine {
    /// The product.
    pub sku: Sku,
    /// Its name at the time.
    pub name: String,
    /// How many.
    pub quantity: i64,
    /// Minor units of the checkout's currency, for one.
    pub unit_minor: i64,
    /// Minor units of the checkout's currency, for all.
    pub amount_minor: i64,
}

/// The checkout named `id`, for reading.
pub async fn find(db: &Db, id: CheckoutId) -> sqlx::Result<Option<Checkout>> {
    retrying(|| {
        db.query("select * from checkouts where id = $1")
            .bind(id)
            .fetch_optional()
    })
    .await
}

/// The checkout named `id`, inside a phase.
pub async fn get(tx: &mut Tx, id: CheckoutId) -> sqlx::Result<Option<Checkout>> {
    tx.query("select * from checkouts where id = $1")
        .bind(id)
        .fetch_optional()
        .await
}

/// What was agreed, in the order of the SKUs.
pub async fn lines(db: &Db, id: CheckoutId) -> sqlx::Result<Vec<CheckoutLine>> {
    retrying(|| {
        db.query("select * from checkout_lines where checkout_id = $1 order by sku")
            .bind(id)
            .fetch_all()
    })
    .await
}

/// The last attempt on a cart that ended without a charge: its form is filled in with what was typed then.
pub async fn last_failed(db: &Db, cart: CartId) -> sqlx::Result<Option<Checkout>> {
    retrying(|| {
        db.query(
            "select * from checkouts where cart_id = $1 and status in ('declined', 'canceled')
         order by concluded_at desc limit 1",
        )
        .bind(cart)
        .fetch_optional()
    })
    .await
}
