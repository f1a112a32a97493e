//! The naive twin: the checkout as most people write it. The sweep has to find its faults, or the sweep proves nothing.
//!
//! It is no caricature. Each line stands in shops and in tutorials; it looks for the order, the stock and the event before it
//! acts; and without a fault all is well, as a test shows. What it lacks is what the shop is made of: it looks and *then*
//! acts, so that others come between; it charges under a new key each time; and it takes silence for a "no".
//!
//! ```text
//! form     look at order, cart, stock ── begin ── insert ── CHARGE ── paid ── commit ── mail ── 303
//! page     ask the provider ── look at the order ── paid ── mail
//! webhook  look for the event ── note it ── look at the order ── paid ── mail ── 200, whatever happened
//! refund   look at what is left ── GIVE BACK ── insert ── mail
//! ```
//!
//! 1. [`buy`](mod@buy): from the form to the order.
//! 2. [`hear`]: what the provider says later, asked by the page or told by the webhook.
//! 3. [`refund`](mod@refund): giving money back.
//! 4. `mails`: sent where they fall due.
//! 5. [`tables`]: of its own, beside the shop's.
//! 6. [`http`]: its pages.
//! 7. `shopfront`: what of it can be asked.
//! 8. [`flow`]: all of it as a flow, for the sweep.
//! 9. [`audit`](mod@audit): the shop's invariants, over these tables.
//!
//! Its payments carry names of their own in the provider's metadata, so that the shop takes them for somebody else's, and it the
//! shop's. Nothing but the lab may use it.

pub mod audit;
pub mod buy;
pub mod flow;
pub mod hear;
pub mod http;
mod mails;
pub mod refund;
mod shopfront;
pub mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use lettre::message::Mailbox;
use uuid::Uuid;

pub(super) use self::shopfront::Shopfront;
pub use self::{
    audit::audit,
    buy::{Buyer, buy},
    flow::open,
    hear::{Event, LISTENS_TO, look, receive},
    http::router,
    refund::refund,
    tables::{create_tables, fill_shelves, put_in_cart},
};
use crate::{
    catalog::Sku,
    clock::Clock,
    db::{Db, Tx},
    mail::post::Post,
    money::Currency,
    provider::Provider,
    secret::Secret,
};

/// Under which our ids stand in the provider's metadata.
const ORDER: &str = "naive_order";
const CART: &str = "naive_cart";

/// What it works with: the same as the shop.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each name says it")]
pub struct Naive {
    pub db: Db,
    pub provider: Provider,
    pub post: Arc<Post>,
    pub mail_from: Mailbox,
    pub clock: Clock,
    pub webhook_secrets: Arc<[Secret]>,
    pub public_url: String,
}

/// What was bought. There is none before it is paid, or on its way.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "each name says it")]
pub struct Order {
    pub id: Uuid,
    pub cart_id: Uuid,
    pub status: Status,
    amount_minor: i64,
    currency: Currency,
    pub email: String,
    pub payment_intent_id: Option<String>,
    /// The page of the customer's bank.
    pub next_action_url: Option<String>,
    pub created_at: DateTime<Utc>,
}

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[expect(missing_docs, reason = "each name says it")]
pub enum Status {
    Pending,
    Paid,
    Failed,
}

impl Status {
    /// What it is called in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Paid => "paid",
            Self::Failed => "failed",
        }
    }
}

async fn find(shop: &Naive, id: Uuid) -> sqlx::Result<Option<Order>> {
    let query = shop.db.query("select * from naive_orders where id = $1");
    query.bind(id).fetch_optional().await
}

async fn set_status(tx: &mut Tx, id: Uuid, status: Status) -> sqlx::Result<u64> {
    let query = tx.query("update naive_orders set status = $2 where id = $1");
    query.bind(id).bind(status).execute().await
}

/// An order's goods go back on the shelf.
async fn put_back(tx: &mut Tx, order: Uuid) -> sqlx::Result<()> {
    let lines: Vec<(Sku, i64)> = tx
        .query("select sku, quantity from naive_order_lines where order_id = $1 order by sku")
        .bind(order)
        .fetch_all()
        .await?;
    for (sku, quantity) in lines {
        tx.query("update naive_products set stock = stock + $2 where sku = $1")
            .bind(sku)
            .bind(quantity)
            .execute()
            .await?;
    }
    Ok(())
}

/// Why there is no order, or no refund, as the customer is told.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each sentence says it")]
pub enum Failed {
    #[error("Your cart is empty.")]
    NothingToBuy,
    #[error("Sorry, {0} is sold out.")]
    SoldOut(String),
    #[error("The total has changed.")]
    TotalChanged,
    #[error("Your card was declined.")]
    Declined,
    #[error("Payment failed. Please try again.")]
    NotPaid,
    #[error("There is not so much left to refund.")]
    NothingToRefund,
    #[error("The refund failed. Please try again.")]
    NotRefunded,
    #[error("Something went wrong. Please try again.")]
    Db(#[from] sqlx::Error),
}
