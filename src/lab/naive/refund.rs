//! Giving money back.

use std::time::Duration;

use uuid::Uuid;

use super::{
    Failed, Naive, Order, Status, find,
    mails::{self, Kind},
    put_back,
};
use crate::{
    db::Tx,
    ids::RefundId,
    provider::{RefundOutcome, RefundWish, wire},
    refunds,
};

/// Gives some of an order's money back, and puts its goods on the shelf again if they came back.
pub async fn refund(shop: &Naive, id: Uuid, amount: i64, restock: bool) -> Result<(), Failed> {
    let order = find(shop, id).await?.ok_or(Failed::NothingToRefund)?;
    let intent = order.payment_intent_id.as_deref();
    let intent = intent.ok_or(Failed::NothingToRefund)?;
    // Who refunds at the same time sees the same left.
    let left = order.amount_minor - refunded(shop, id).await?;
    if order.status != Status::Paid || amount < 1 || amount > left {
        return Err(Failed::NothingToRefund);
    }
    let refund = RefundId::new();
    let wish = RefundWish {
        intent,
        amount_minor: amount,
        refund_id: &refund.to_string(),
    };
    let key = Uuid::new_v4().to_string();
    tracing::debug!("give back, with a fresh key");
    let RefundOutcome::Made(made) = shop.provider.refund(wish, &key, Duration::ZERO).await else {
        return Err(Failed::NotRefunded);
    };
    let mut tx = shop.db.begin().await?;
    insert(&mut tx, shop, refund, &order, &made, restock).await?;
    if restock {
        put_back(&mut tx, id).await?;
    }
    tx.commit().await?;
    mails::send(shop, refund.into(), Kind::RefundNotice, &order.email).await;
    Ok(())
}

async fn refunded(shop: &Naive, order: Uuid) -> sqlx::Result<i64> {
    let query = shop.db.query(
        "select cast(coalesce(sum(amount_minor), 0) as bigint) from naive_refunds
         where order_id = $1 and status <> 'failed'",
    );
    query.bind(order).fetch_scalar().await
}

async fn insert(
    tx: &mut Tx,
    shop: &Naive,
    id: RefundId,
    order: &Order,
    made: &wire::Refund,
    restock: bool,
) -> sqlx::Result<u64> {
    tx.query(
        "insert into naive_refunds (id, order_id, payment_intent_id, amount_minor, currency, status, provider_id,
             restock, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(id)
    .bind(order.id)
    .bind(&order.payment_intent_id)
    .bind(made.amount)
    .bind(&made.currency)
    .bind(refunds::Status::of(&made.status))
    .bind(&made.id)
    .bind(restock)
    .bind(shop.clock.now())
    .execute()
    .await
}
