//! What must hold of the mails that buyers are owed.
//!
//! That there is not more than one of a kind is the table's business. One that was given up is told to the operator, by the
//! log and by `mail list`: a customer's mistyped address breaks no promise of the shop's. News that is not in the outbox any
//! more was published long ago, or was lost.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Invariant,
    shop::{DELIVERY, violated},
};
use crate::{db::Tx, ids::RefundId, orders::OrderNumber};

/// How long a mail may wait for a mail server. Longer than the postman tries.
const MAILING: TimeDelta = TimeDelta::hours(72);

pub(super) async fn invariants(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Vec<Invariant>> {
    Ok(vec![
        each_order_is_confirmed(tx, now).await?,
        each_refund_is_told(tx, now).await?,
        no_mail_waits_for_ever(tx, now).await?,
    ])
}

async fn each_order_is_confirmed(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Invariant> {
    let orders: Vec<(OrderNumber,)> = tx
        .query(
            "select o.number from orders o
             left join outbox m on m.aggregate_id = o.checkout_id and m.event_type = 'order.placed'
             left join emails e on e.about = o.checkout_id and e.kind = 'order_confirmation'
             where (m.id is null or m.published_at < $1) and e.about is null",
        )
        .bind(now - DELIVERY)
        .fetch_all()
        .await?;
    Ok(violated("each_order_is_confirmed", "order", &orders))
}

/// Each refund that has succeeded, to who got it; and nobody hears of one that never did.
async fn each_refund_is_told(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Invariant> {
    let refunds: Vec<(RefundId,)> = tx
        .query(
            "select r.id from refunds r
             left join outbox m on m.aggregate_id = r.checkout_id and m.version = r.ordinal
                and m.event_type = case r.kind when 'order' then 'order.refunded' else 'payment.refunded' end
             left join emails e
                on (r.kind = 'order' and e.about = r.id and e.kind = 'refund_notice')
                or (r.kind <> 'order' and e.about = r.checkout_id and e.kind = 'not_fulfilled')
             where r.ordinal is not null and (m.id is null or m.published_at < $1) and e.about is null
             union all
             select e.about from emails e
             left join refunds r on r.ordinal is not null
                and ((r.kind = 'order' and r.id = e.about) or (r.kind <> 'order' and r.checkout_id = e.about))
             where e.kind in ('refund_notice', 'not_fulfilled') and r.id is null",
        )
        .bind(now - DELIVERY)
        .fetch_all()
        .await?;
    Ok(violated("each_refund_is_told", "refund", &refunds))
}

async fn no_mail_waits_for_ever(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Invariant> {
    let mails: Vec<(uuid::Uuid,)> = tx
        .query(
            "select about from emails
             where created_at < $1 and sent_at is null and given_up_at is null",
        )
        .bind(now - MAILING)
        .fetch_all()
        .await?;
    Ok(violated("no_mail_waits_for_ever", "the mail about", &mails))
}
