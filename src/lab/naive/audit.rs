//! The shop's invariants, under the same names, over the naive tables and the provider's ledger.
//!
//! The shop's schema makes some mistakes impossible, and its audit need not look for them: two mails of a kind, stock below
//! nothing, an event without its effect. Here they are invariants of their own. What the shop calls a checkout is here the
//! purchase of one cart.

mod books;
mod ledger;
mod mails;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Order;
use crate::{
    audit::{
        AuditError, Counts, Report,
        refunds::{Booked, each_booked_refund_was_made, each_refund_is_booked, succeeded},
    },
    db::{Db, Tx},
    mail::post::Tray,
    provider::Provider,
};

/// Looks at everything. The provider's ledger is read first, as by the shop's audit.
pub async fn audit(
    db: &Db,
    provider: &Provider,
    tray: &Tray,
    now: DateTime<Utc>,
) -> Result<Report, AuditError> {
    // All of it: a provider in the lab has seen little.
    let intents = provider.list(0).await?;
    let made = provider.refunds_since(0).await?;
    let events = ledger::events(provider).await?;
    let charges = ledger::charges(&intents);
    let mut tx = db.read().await?;
    let orders = orders(&mut tx).await?;
    let booked = refunds(&mut tx).await?;
    let paid_with = orders.values();
    let paid_with = paid_with.filter_map(|order| order.payment_intent_id.as_deref());
    let mut invariants = ledger::invariants(&charges, &events, &orders);
    invariants.extend(books::invariants(&mut tx, now).await?);
    let posted = tray.mails();
    invariants.extend(mails::invariants(&posted, &orders, &booked));
    invariants.push(each_booked_refund_was_made(&made, &booked, now));
    invariants.push(each_refund_is_booked(
        &made,
        &booked,
        &paid_with.collect(),
        now,
    ));
    let counts = Counts {
        provider_succeeded: i64::try_from(charges.len()).unwrap_or(i64::MAX),
        refunds: succeeded(&booked),
        emails: i64::try_from(posted.len()).unwrap_or(i64::MAX),
        ..counts(&mut tx).await?
    };
    Ok(Report::new(invariants, counts, now))
}

async fn orders(tx: &mut Tx) -> sqlx::Result<HashMap<Uuid, Order>> {
    let orders: Vec<Order> = tx.query("select * from naive_orders").fetch_all().await?;
    Ok(orders.into_iter().map(|order| (order.id, order)).collect())
}

async fn refunds(tx: &mut Tx) -> sqlx::Result<Vec<Booked>> {
    tx.query(
        "select id, 'order' as kind, payment_intent_id, amount_minor, currency, status, provider_id,
             created_at as concluded_at
         from naive_refunds",
    )
    .fetch_all()
    .await
}

async fn counts(tx: &mut Tx) -> sqlx::Result<Counts> {
    let (checkouts, paid, processed_events) = tx
        .query(
            "select (select count(*) from naive_orders),
                    (select count(*) from naive_orders where status = 'paid'),
                    (select count(distinct event_id) from naive_events)",
        )
        .fetch_one()
        .await?;
    Ok(Counts {
        checkouts,
        paid,
        orders: paid,
        payments: paid,
        processed_events,
        ..Counts::default()
    })
}
