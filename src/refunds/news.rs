//! The news that money was given back, written to the outbox in the transaction that makes it true.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::model::{Kind, Refund};
use crate::{
    db::Tx,
    ids::{CheckoutId, RefundId},
    money::Money,
    orders::OrderNumber,
    outbox::{self, Message, Unreadable},
};

/// A payment that had come too late was given back: there is no order, and never will be one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PaymentRefunded {
    /// Of these fields. It goes up when one of them changes its meaning; a reader refuses what it does not know.
    format: u32,
    /// What it was paid for.
    pub checkout_id: CheckoutId,
    /// The refund.
    pub refund_id: RefundId,
    /// Minor units.
    pub amount_minor: i64,
    /// Three letters, lower case.
    pub currency: String,
}

/// A part of what was paid for an order, or all of it, was given back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OrderRefunded {
    /// Of these fields, as above.
    format: u32,
    /// The purchase.
    pub checkout_id: CheckoutId,
    /// The order that it became.
    pub order_number: OrderNumber,
    /// The refund.
    pub refund_id: RefundId,
    /// Minor units of this refund.
    pub amount_minor: i64,
    /// Minor units that were given back with it and all before it.
    pub refunded_minor: i64,
    /// Three letters, lower case.
    pub currency: String,
}

impl PaymentRefunded {
    /// What the outbox calls it.
    pub const EVENT_TYPE: &str = "payment.refunded";

    /// `None` when the message is of another kind.
    pub fn read(message: &Message) -> Result<Option<Self>, Unreadable> {
        message.read(Self::EVENT_TYPE)
    }
}

impl OrderRefunded {
    /// What the outbox calls it.
    pub const EVENT_TYPE: &str = "order.refunded";

    /// `None` when the message is of another kind.
    pub fn read(message: &Message) -> Result<Option<Self>, Unreadable> {
        message.read(Self::EVENT_TYPE)
    }
}

/// Tells that `refund` has succeeded, once: its ordinal is the version of the message, which is unique.
pub(super) async fn announce(tx: &mut Tx, refund: &Refund, now: DateTime<Utc>) -> sqlx::Result<()> {
    let (checkout, version) = (refund.checkout_id, refund.ordinal.unwrap_or(1));
    let Money { minor, currency } = refund.amount();
    match refund.kind {
        Kind::LatePayment => {
            let news = PaymentRefunded {
                format: 1,
                checkout_id: checkout,
                refund_id: refund.id,
                amount_minor: minor,
                currency: currency.code().to_owned(),
            };
            outbox::write(
                tx,
                checkout,
                PaymentRefunded::EVENT_TYPE,
                version,
                news,
                now,
            )
            .await
        }
        Kind::Order => {
            let (order_number, refunded_minor) = so_far(tx, checkout).await?;
            let news = OrderRefunded {
                format: 1,
                checkout_id: checkout,
                order_number,
                refund_id: refund.id,
                amount_minor: minor,
                refunded_minor,
                currency: currency.code().to_owned(),
            };
            outbox::write(tx, checkout, OrderRefunded::EVENT_TYPE, version, news, now).await
        }
    }
}

/// The order of a purchase, and how much of it was given back.
async fn so_far(tx: &mut Tx, checkout: CheckoutId) -> sqlx::Result<(OrderNumber, i64)> {
    tx.query(
        "select o.number,
                (select cast(coalesce(sum(r.amount_minor), 0) as bigint) from refunds r
                 where r.checkout_id = o.checkout_id and r.kind = 'order' and r.status = 'succeeded')
         from orders o where o.checkout_id = $1",
    )
    .bind(checkout)
    .fetch_one()
    .await
}
