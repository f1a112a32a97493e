//! Fulfilment: each order is shipped, once.

use chrono::{DateTime, Utc};

use crate::{
    db::Tx,
    orders::{OrderNumber, OrderPlaced},
    outbox::{Message, inbox::ConsumeError},
};

/// Acts on a message, as a part of the transaction that notes that it was consumed.
pub async fn hear(tx: &mut Tx, message: &Message, now: DateTime<Utc>) -> Result<(), ConsumeError> {
    if let Some(placed) = OrderPlaced::read(message)? {
        ship(tx, &placed.order_number, now).await?;
    }
    Ok(())
}

/// Creates the shipment of an order. It has one at most, whoever asks, and however often.
async fn ship(tx: &mut Tx, order: &OrderNumber, now: DateTime<Utc>) -> sqlx::Result<()> {
    tx.query(
        "insert into shipments (order_number, created_at) values ($1, $2)
         on conflict do nothing",
    )
    .bind(order)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}
