//! The inbox: a consumer acts on a message once, however often it comes.
//!
//! One row for each consumer and message, in the transaction of the effect. Mark first, and a crash in between loses
//! the effect; act first, and a crash in between repeats it. It is acknowledged after the commit and never before.
//!
//! The row is not kept for ever. A message that comes after its row was [pruned](crate::pruner) is acted on again, and
//! each effect has a row of its own, kept for ever and unique: the order's shipment, its mail, the payment's refund.

use std::slice;

use chrono::{DateTime, Utc};

use super::{Message, Unreadable};
use crate::{
    db::{Db, Transient, Tx, retrying},
    fulfilment, mail, refunds,
};

/// Who hears of what happened. Each has an inbox of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// Sends the goods.
    Fulfilment,
    /// Tells the buyer.
    Mailer,
    /// Gives back what came too late.
    Refunds,
}

/// All of them.
pub const CONSUMERS: [Consumer; 3] = [Consumer::Fulfilment, Consumer::Mailer, Consumer::Refunds];

impl Consumer {
    /// The name of its inbox.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fulfilment => "fulfilment",
            Self::Mailer => "mailer",
            Self::Refunds => "refunds",
        }
    }

    async fn act(self, tx: &mut Tx, message: &Message, now: DateTime<Utc>) -> ConsumeResult {
        match self {
            Self::Fulfilment => fulfilment::hear(tx, message, now).await,
            Self::Mailer => mail::hear(tx, message, now).await,
            Self::Refunds => refunds::hear(tx, message, now).await,
        }
    }
}

type ConsumeResult = Result<(), ConsumeError>;

/// Lets `consumer` act on `message`, unless it has already. `Ok` is the acknowledgement.
pub async fn consume(
    db: &Db,
    consumer: Consumer,
    message: &Message,
    now: DateTime<Utc>,
) -> ConsumeResult {
    consume_all(db, consumer, slice::from_ref(message), now).await
}

/// The same for several messages in one transaction: an error is that of any, and none was acted on. They are in the order of
/// their purchases, so that two processes which have the same ones wait for each other in that order.
pub async fn consume_all(
    db: &Db,
    consumer: Consumer,
    messages: &[Message],
    now: DateTime<Utc>,
) -> ConsumeResult {
    retrying(|| consume_once(db, consumer, messages, now)).await
}

async fn consume_once(
    db: &Db,
    consumer: Consumer,
    messages: &[Message],
    now: DateTime<Utc>,
) -> ConsumeResult {
    let mut tx = db.begin().await?;
    let new = act_on_new_ones(&mut tx, consumer, messages, now).await;
    if matches!(new, Ok(0)) {
        return Ok(tx.rollback().await?);
    }
    tx.end(new).await?;
    for message in messages {
        let (id, kind) = (message.aggregate_id, &message.event_type);
        tracing::debug!(checkout.id = %id, consumer = consumer.name(), kind, "message consumed");
    }
    Ok(())
}

/// Says how many were new.
async fn act_on_new_ones(
    tx: &mut Tx,
    consumer: Consumer,
    messages: &[Message],
    now: DateTime<Utc>,
) -> Result<usize, ConsumeError> {
    let mut new = 0;
    for message in messages {
        if is_new(tx, consumer, message, now).await? {
            consumer.act(tx, message, now).await?;
            new += 1;
        }
    }
    Ok(new)
}

/// Inserts the message's id. Of two deliveries at once one inserts; the other waits for its commit, and then finds it
/// there.
async fn is_new(
    tx: &mut Tx,
    consumer: Consumer,
    message: &Message,
    now: DateTime<Utc>,
) -> sqlx::Result<bool> {
    let inserted = tx
        .query(
            "insert into inbox (consumer, message, aggregate_id, consumed_at)
             values ($1, $2, $3, $4)
             on conflict do nothing",
        )
        .bind(consumer.name())
        .bind(message.id())
        .bind(message.aggregate_id)
        .bind(now)
        .execute()
        .await?;
    Ok(inserted == 1)
}

/// Why a consumer did not act.
#[derive(Debug, thiserror::Error)]
pub enum ConsumeError {
    /// What it says makes no sense.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The database did not do its part, or does not allow what the message asks for.
    #[error("the database failed: {0}")]
    Db(#[from] sqlx::Error),
}

impl ConsumeError {
    /// Whether the next delivery will end the same: the message cannot be read, or it contradicts what the database knows,
    /// such as one about an order that does not exist.
    pub fn is_the_messages_fault(&self) -> bool {
        match self {
            Self::Unreadable(_) => true,
            Self::Db(sqlx::Error::Database(error)) => {
                error.is_foreign_key_violation() || error.is_check_violation()
            }
            Self::Db(_) => false,
        }
    }
}

impl Transient for ConsumeError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Unreadable(_) => false,
            Self::Db(error) => error.is_transient(),
        }
    }
}
