//! The whole story of one checkout: all that the database knows of it, in the order of time.
//!
//! Calls of the provider are kept with what came of their attempt. An attempt whose process was killed left nothing but its
//! number; so the count of attempts may be higher than what is told.
//!
//! Here is what is read; `moments` tells what the rows that are read already say.

mod moments;

use chrono::{DateTime, Utc};

pub use self::moments::{About, Moment};

use crate::{
    catalog::Sku,
    checkout::{Checkout, CheckoutLine, model},
    db::{Db, Tx, retrying},
    discrepancies,
    ids::CheckoutId,
    mail,
    orders::Order,
    outbox::operator::OutboxRow,
    provider_calls::{self, Kept},
    refunds::Refund,
};

/// A checkout and all that came of it.
#[derive(Debug)]
pub struct Story {
    /// The checkout.
    pub checkout: Checkout,
    /// What was agreed.
    pub lines: Vec<CheckoutLine>,
    /// What became of the stock.
    pub stock: Vec<Reservation>,
    /// What it became.
    pub order: Option<Order>,
    /// What was given back, or is to be.
    pub refunds: Vec<Refund>,
    /// What its buyer is told.
    pub mails: Vec<mail::operator::Listed>,
    /// Where the provider and we disagree about it.
    pub discrepancies: Vec<discrepancies::operator::Listed>,
    /// What happened, and when.
    pub moments: Vec<Moment>,
}

/// Units that were taken off the shelf.
#[derive(Debug, sqlx::FromRow)]
pub struct Reservation {
    /// The product.
    pub sku: Sku,
    /// How many.
    pub quantity: i64,
    /// `held`, `sold` or `released`.
    pub state: String,
}

/// The story of the checkout `id`, from one snapshot.
pub async fn of(db: &Db, id: CheckoutId) -> sqlx::Result<Option<Story>> {
    retrying(|| read(db, id)).await
}

async fn read(db: &Db, id: CheckoutId) -> sqlx::Result<Option<Story>> {
    let mut tx = db.read().await?;
    let Some(checkout) = model::get(&mut tx, id).await? else {
        return Ok(None);
    };
    let mut story = Story {
        lines: rows(
            &mut tx,
            "select * from checkout_lines where checkout_id = $1 order by sku",
            id,
        )
        .await?,
        stock: rows(
            &mut tx,
            "select * from stock_reservations where checkout_id = $1 order by sku",
            id,
        )
        .await?,
        order: rows(&mut tx, "select * from orders where checkout_id = $1", id)
            .await?
            .pop(),
        refunds: rows(
            &mut tx,
            "select * from refunds where checkout_id = $1 order by created_at, id",
            id,
        )
        .await?,
        mails: mail::operator::of_checkout(&mut tx, id).await?,
        discrepancies: discrepancies::operator::of_checkout(&mut tx, id).await?,
        moments: Vec::new(),
        checkout,
    };
    let mut moments = story.of_rows();
    moments.extend(calls(&mut tx, id).await?);
    moments.extend(events(&mut tx, id).await?);
    moments.extend(messages(&mut tx, id).await?);
    moments.extend(shipments(&mut tx, id).await?);
    moments.sort_by_key(|moment| moment.at);
    story.moments = moments;
    Ok(Some(story))
}

async fn rows<R: crate::db::Row>(
    tx: &mut Tx,
    sql: &'static str,
    id: CheckoutId,
) -> sqlx::Result<Vec<R>> {
    tx.query(sql).bind(id).fetch_all().await
}

/// What the provider was asked, and how it answered.
async fn calls(tx: &mut Tx, id: CheckoutId) -> sqlx::Result<Vec<Moment>> {
    let calls = provider_calls::of_checkout(tx, id).await?;
    let moment = |call: Kept| {
        let requests = match call.requests {
            1 => String::new(),
            many => format!(" after {many} requests"),
        };
        let detail = format!("{}{requests}, attempt {}", call.ended, call.attempt);
        Moment::new(
            call.ended_at,
            About::Provider,
            format!("Call {}", call.operation),
            detail,
        )
    };
    Ok(calls.into_iter().map(moment).collect())
}

/// Those about its payment and about its refunds, as long as they are kept.
async fn events(tx: &mut Tx, id: CheckoutId) -> sqlx::Result<Vec<Moment>> {
    let sql = "select event_id, type, verdict, received_at from processed_events
         where object_id in (select payment_intent_id from checkouts where id = $1
                             union select provider_id from refunds where checkout_id = $1
                             union select object_id from discrepancies where checkout_id = $1)
         order by received_at";
    let events: Vec<(String, String, String, DateTime<Utc>)> = rows(tx, sql, id).await?;
    let moment = |(event, kind, verdict, at): (String, String, String, _)| {
        Moment::new(
            at,
            About::Event,
            format!("Event {kind}"),
            format!("{event}, {verdict}"),
        )
    };
    Ok(events.into_iter().map(moment).collect())
}

/// The news of it, and who has heard them, as long as they are kept.
async fn messages(tx: &mut Tx, id: CheckoutId) -> sqlx::Result<Vec<Moment>> {
    let messages: Vec<OutboxRow> = rows(
        tx,
        "select * from outbox where aggregate_id = $1 order by id",
        id,
    )
    .await?;
    let mut moments = Vec::new();
    for row in messages {
        let name = format!("{} (row {})", row.message.event_type, row.id);
        moments.push(Moment::new(
            row.created_at,
            About::Message,
            "Message written",
            &name,
        ));
        let (state, at) = row.state();
        let what = match state {
            "published" => "Message published",
            "parked since" => "Message parked",
            _ => continue,
        };
        let error = row.last_error.map(|error| format!(": {error}"));
        let detail = name + &error.unwrap_or_default();
        moments.push(Moment::new(at, About::Message, what, detail));
    }
    let sql = "select i.consumer, i.message, i.consumed_at from outbox_messages m
         join inbox i on i.consumer in ('fulfilment', 'mailer', 'refunds') and i.message = m.message
         where m.aggregate_id = $1 order by i.consumed_at";
    let consumed: Vec<(String, String, DateTime<Utc>)> = rows(tx, sql, id).await?;
    moments.extend(consumed.into_iter().map(|(consumer, message, at)| {
        let message = message.split_once('/').map_or("", |(_, kind)| kind);
        Moment::new(at, About::Message, format!("Heard by {consumer}"), message)
    }));
    Ok(moments)
}

async fn shipments(tx: &mut Tx, id: CheckoutId) -> sqlx::Result<Vec<Moment>> {
    let sql = "select s.created_at from shipments s join orders o on o.number = s.order_number
         where o.checkout_id = $1";
    let shipments: Vec<(DateTime<Utc>,)> = rows(tx, sql, id).await?;
    let moment = |(at,)| Moment::new(at, About::Shipment, "Shipped", "");
    Ok(shipments.into_iter().map(moment).collect())
}
