//! Consuming: what the server delivers to a durable consumer is acted on, and acknowledged after the commit.
//!
//! Any number of processes pull from the same consumer, and each message goes to one of them. One that fails is
//! delivered again, to any of them, after a wait that grows; the others go on. One that a consumer can never act on goes
//! back into the outbox and is parked there ([`comeback`]), so `boring-checkout outbox list` and `retry` are the means
//! for this bus as for the other.
//!
//! The messages of one order come in their order here too: one waits while an earlier one of the outbox is not consumed.
//! Move the acknowledgement before [`consume`], and `cargo test died_before_the_commit` fails.

use std::time::Duration;

use async_nats::jetstream::{AckKind, Message as Delivery, consumer::PullConsumer};
use chrono::TimeDelta;
use futures_util::StreamExt as _;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Nats, publish::returns};
use crate::{
    clock::Clock,
    db::Db,
    outbox::{
        Message,
        comeback::{self, Published},
        inbox::{ConsumeError, Consumer, consume},
    },
    probe::{Boundary, report},
    workers::backoff,
};

/// How many messages a process has in its hands at a time, of each consumer.
const BATCH: usize = 16;

/// How long a request for messages stays open while there are few. Stopping waits for its end: what the server has sent by
/// then, and nobody takes, is nobody else's until it has waited for an acknowledgement in vain.
const PULL: Duration = Duration::from_secs(1);

/// How much longer than [`PULL`] the server may be silent. It is for good when the consumer has been deleted at a moment when
/// no request was open: later ones are answered by nobody.
const SILENCE: Duration = Duration::from_secs(2);

/// After this time in our hands a message is not begun any more. With [`PATIENCE`] it is less than the server waits for an
/// acknowledgement.
const IN_HAND: Duration = Duration::from_secs(15);

/// How long one consumption may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A message at fault is parked after so many deliveries, a quarter of a minute after the first.
const DELIVERIES_MAX: i64 = 5;

/// A message waits no longer for an earlier one of its order, an hour and a half or so after the first delivery. That
/// the earlier comes first is a courtesy to those who read the mails: no effect depends on it.
const TURNS_MAX: i64 = 100;

/// The longest wait before a message is delivered again.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(1);

/// The longest wait before the server is asked again after an error.
const LONGEST_PAUSE: TimeDelta = TimeDelta::seconds(5);

/// How often is looked for messages that the server lost without losing the connection.
const LOOK: TimeDelta = TimeDelta::hours(1);

/// How long the last acknowledgements may take to leave.
const FLUSH: Duration = Duration::from_secs(2);

/// Lets one consumer consume in this process.
#[derive(Clone, Debug)]
pub struct Consuming {
    /// The bus.
    pub nats: Nats,
    /// Which of them.
    pub consumer: Consumer,
    /// The shop's database.
    pub db: Db,
    /// The time.
    pub clock: Clock,
}

impl Consuming {
    /// Goes on until `stopping`, whatever becomes of the server, and finishes what it is at.
    pub async fn run(self, stopping: CancellationToken) {
        let mut failures = 0;
        let mut is_up = self.nats.is_up.clone();
        while !stopping.is_cancelled() {
            tokio::select! {
                () = stopping.cancelled() => break,
                _ = is_up.wait_for(|is_up| *is_up) => {}
            }
            match self.listen(&stopping).await {
                Ok(()) => failures = 0,
                Err(error) => {
                    failures += 1;
                    // The server's own goodbye is one, and no news: the connection says it.
                    let consumer = self.consumer.name();
                    if failures > 1 {
                        tracing::warn!(consumer, %error, "cannot consume; it is tried again");
                    }
                    let pause = backoff(failures, LONGEST_PAUSE).to_std().unwrap_or(PULL);
                    let _ = timeout(pause, stopping.cancelled()).await;
                }
            }
        }
        let _ = timeout(FLUSH, self.nats.jetstream.client().flush()).await;
    }

    /// Consumes until the connection breaks, the server is silent, or it is time to look for what was lost.
    async fn listen(&self, stopping: &CancellationToken) -> Result<(), async_nats::Error> {
        let mut is_up = self.nats.is_up.clone();
        is_up.mark_unchanged();
        let opened = self.nats.connected(self.nats.open(self.consumer)).await;
        let Some(mut queue) = opened.transpose()? else {
            return Ok(());
        };
        let until = self.clock.now() + LOOK;
        self.bring_back_what_was_lost(&mut queue).await?;
        while !stopping.is_cancelled()
            && !is_up.has_changed().unwrap_or(true)
            && self.clock.now() < until
        {
            if !self.pull(&queue, stopping, is_up.clone()).await? {
                break;
            }
        }
        Ok(())
    }

    /// Rows that the consumer has not consumed, although the server has nothing for it, are published again. They are
    /// read first: what was published after that may be on its way.
    async fn bring_back_what_was_lost(
        &self,
        queue: &mut PullConsumer,
    ) -> Result<(), async_nats::Error> {
        let rows = comeback::unconsumed(&self.db, self.consumer).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let info = queue.info().await?;
        if info.num_pending == 0 && info.num_ack_pending == 0 {
            let consumer = self.consumer;
            let messages = comeback::give_back(&self.db, consumer, &rows).await?;
            let consumer = consumer.name();
            tracing::warn!(
                consumer,
                messages,
                "the bus lost messages; they are published again"
            );
        }
        Ok(())
    }

    /// Asks for a batch, and takes one message after the other, each as soon as it is there. When the connection breaks,
    /// those that are there are consumed still: the server hears of it once it is back. `false` when the server has not even
    /// said that there are no more.
    async fn pull(
        &self,
        queue: &PullConsumer,
        stopping: &CancellationToken,
        mut is_up: watch::Receiver<bool>,
    ) -> Result<bool, async_nats::Error> {
        let asked = Instant::now();
        let batch = queue.batch().max_messages(BATCH).expires(PULL);
        let mut batch = batch.messages().await?;
        loop {
            let delivery = tokio::select! {
                biased;
                delivery = batch.next() => delivery,
                _ = is_up.changed() => None,
                () = sleep_until(asked + PULL + SILENCE) => return Ok(false),
            };
            let Some(delivery) = delivery.transpose()? else {
                return Ok(true);
            };
            let answer = if asked.elapsed() < IN_HAND && !stopping.is_cancelled() {
                self.answer(&delivery).await?
            } else {
                // Somebody else gets it, once this request of ours is over.
                AckKind::Nak(Some(PULL))
            };
            // An answer that gets lost is followed by another delivery.
            let name = self.consumer.name();
            let probe = self.db.probe();
            report(probe, Boundary::BeforeAcknowledge(name)).await?;
            delivery.ack_with(answer).await?;
            report(probe, Boundary::AfterAcknowledge(name)).await?;
        }
    }

    /// Acts on a message, and says what the server is to make of it. When there is something to acknowledge, it is
    /// committed.
    async fn answer(&self, delivery: &Delivery) -> Result<AckKind, async_nats::Error> {
        let info = delivery.info()?;
        let consumer = self.consumer.name();
        let Some(message) = read(&delivery.payload) else {
            // Nor has it a row in the outbox. It stays in the stream, and waits for nobody.
            let sequence = info.stream_sequence;
            tracing::error!(
                consumer,
                sequence,
                "somebody else's message, which nobody can read"
            );
            return Ok(AckKind::Term);
        };
        let attempt = info.delivered;
        let later = AckKind::Nak(backoff(attempt, LONGEST_WAIT).to_std().ok());
        let id = message.id();
        let error = match timeout(PATIENCE, self.act(&message, attempt)).await {
            Ok(Ok(true)) => return Ok(AckKind::Ack),
            Ok(Ok(false)) => {
                tracing::debug!(consumer, message = %id, attempt, "waits for earlier news");
                return Ok(later);
            }
            Ok(Err(error)) => error,
            Err(_) => ConsumeError::Db(sqlx::Error::PoolTimedOut),
        };
        if !error.is_the_messages_fault() || attempt < DELIVERIES_MAX {
            tracing::warn!(consumer, message = %id, attempt, %error, "message not consumed");
            return Ok(later);
        }
        let text = format!("{consumer}: {error}");
        let returns = returns(delivery.headers.as_ref());
        let published = Published { message, returns };
        let parked = comeback::park(&self.db, &published, attempt, &text, self.clock.now());
        Ok(match parked.await {
            Ok(true) => {
                tracing::error!(consumer, message = %id, attempt, %error, "message parked");
                AckKind::Term
            }
            Ok(false) => later,
            Err(error) => {
                tracing::warn!(consumer, message = %id, attempt, %error, "message not parked");
                later
            }
        })
    }

    /// `false` when it is not this message's turn.
    async fn act(&self, message: &Message, attempt: i64) -> Result<bool, ConsumeError> {
        if attempt < TURNS_MAX && waits(&self.db, self.consumer, message).await? {
            return Ok(false);
        }
        consume(&self.db, self.consumer, message, self.clock.now()).await?;
        Ok(true)
    }
}

/// `None` for what no outbox of ours can have written. PostgreSQL stores no NUL, so it could not even be parked.
fn read(payload: &[u8]) -> Option<Message> {
    let message: Message = serde_json::from_slice(payload).ok()?;
    let is_type = |c: char| c.is_ascii_lowercase() || matches!(c, '.' | '_');
    let is_ours = message.event_type.chars().all(is_type)
        && message.version > 0
        && !message.payload.to_string().contains("\\u0000");
    is_ours.then_some(message)
}

/// Whether an earlier message of the same order is not consumed yet.
async fn waits(db: &Db, consumer: Consumer, message: &Message) -> sqlx::Result<bool> {
    let earlier: i64 = db
        .query(
            "select count(*) from outbox_messages e
             where e.aggregate_id = $1
               and e.id < (select id from outbox where aggregate_id = $1 and event_type = $2 and version = $3)
               and not exists (select 1 from inbox i where i.consumer = $4 and i.message = e.message)",
        )
        .bind(message.aggregate_id)
        .bind(&message.event_type)
        .bind(message.version)
        .bind(consumer.name())
        .fetch_scalar()
        .await?;
    Ok(earlier > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ids::CheckoutId;

    #[test]
    fn what_no_outbox_can_have_written_is_not_read() {
        let message = |event_type: &str, version: i64, payload: serde_json::Value| {
            let id = CheckoutId::new();
            json!({"aggregate_id": id, "event_type": event_type, "version": version, "payload": payload})
                .to_string()
        };
        assert!(read(message("order.placed", 1, json!({"a": "\n"})).as_bytes()).is_some());
        for foreign in [
            message("a\0b", 1, json!({})),
            message("order.placed", 1, json!({"a": "\0"})),
            message("order.placed", 0, json!({})),
            message("<b>", 1, json!({})),
            "hello".to_owned(),
        ] {
            assert!(read(foreign.as_bytes()).is_none(), "{foreign}");
        }
    }
}
