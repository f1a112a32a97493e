//! What the provider says after the form was answered: asked for by the page that the customer's bank leads back to, and
//! told by the webhook.

use serde::Deserialize;
use uuid::Uuid;

use super::{
    Naive, ORDER, Order, Status, find,
    mails::{self, Kind},
    put_back, set_status,
};
use crate::provider::{Outcome, wire::PaymentIntent};

/// The events that its webhook is for.
pub const LISTENS_TO: [&str; 3] = [
    "payment_intent.succeeded",
    "payment_intent.payment_failed",
    "payment_intent.canceled",
];

/// The order, for its page. Who comes there from their bank may have paid.
pub async fn look(shop: &Naive, id: Uuid) -> sqlx::Result<Option<Order>> {
    let Some(order) = find(shop, id).await? else {
        return Ok(None);
    };
    if let (Status::Pending, Some(intent)) = (order.status, &order.payment_intent_id) {
        match shop.provider.retrieve(intent).await {
            Outcome::Paid(_) => fulfil(shop, id).await?,
            Outcome::Declined { .. } | Outcome::Canceled(_) => fail(shop, id).await?,
            Outcome::NeedsAuthentication { .. }
            | Outcome::Processing(_)
            | Outcome::NeverCharged
            | Outcome::Unknown(_) => {}
        }
    }
    find(shop, id).await
}

/// Takes an event. It may come twice, so it is noted; and before anything else, lest it is worked on twice.
pub async fn receive(shop: &Naive, event: &Event) -> sqlx::Result<()> {
    if is_known(shop, &event.id).await? {
        tracing::debug!(event.kind, "event is known");
        return Ok(());
    }
    note(shop, &event.id).await?;
    let Some(order) = event.order() else {
        return Ok(());
    };
    tracing::debug!(event.kind, "event is new");
    match event.kind.as_str() {
        "payment_intent.succeeded" => fulfil(shop, order).await,
        "payment_intent.payment_failed" | "payment_intent.canceled" => fail(shop, order).await,
        _ => Ok(()),
    }
}

/// The money is there.
async fn fulfil(shop: &Naive, id: Uuid) -> sqlx::Result<()> {
    // The page and the webhook may both have come as far as this.
    let Some(order) = find(shop, id).await?.filter(|it| it.status != Status::Paid) else {
        tracing::debug!("no order is open");
        return Ok(());
    };
    let mut tx = shop.db.begin().await?;
    set_status(&mut tx, id, Status::Paid).await?;
    tx.commit().await?;
    mails::send(shop, id, Kind::OrderConfirmation, &order.email).await;
    Ok(())
}

/// The money will not come: the goods go back on the shelf.
async fn fail(shop: &Naive, id: Uuid) -> sqlx::Result<()> {
    let order = find(shop, id).await?;
    if order.is_none_or(|order| order.status != Status::Pending) {
        return Ok(());
    }
    let mut tx = shop.db.begin().await?;
    set_status(&mut tx, id, Status::Failed).await?;
    put_back(&mut tx, id).await?;
    tx.commit().await
}

/// An event of the provider's.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "each name says it")]
pub struct Event {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    data: EventData,
}

#[derive(Clone, Debug, Deserialize)]
struct EventData {
    object: serde_json::Value,
}

impl Event {
    /// Reads an event that the provider has shown us.
    pub fn read(event: &serde_json::Value) -> serde_json::Result<Self> {
        Self::deserialize(event)
    }

    /// The order that it is about; `None` for all but a payment of ours.
    pub fn order(&self) -> Option<Uuid> {
        let intent = PaymentIntent::deserialize(&self.data.object).ok()?;
        intent.metadata.get(ORDER)?.parse().ok()
    }
}

async fn is_known(shop: &Naive, event: &str) -> sqlx::Result<bool> {
    let query = shop
        .db
        .query("select count(*) from naive_events where event_id = $1");
    let known: i64 = query.bind(event).fetch_scalar().await?;
    Ok(known > 0)
}

async fn note(shop: &Naive, event: &str) -> sqlx::Result<()> {
    let mut tx = shop.db.begin().await?;
    tx.query("insert into naive_events (id, event_id, received_at) values ($1, $2, $3)")
        .bind(Uuid::now_v7())
        .bind(event)
        .bind(shop.clock.now())
        .execute()
        .await?;
    tx.commit().await
}
