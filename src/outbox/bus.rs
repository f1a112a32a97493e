//! The bus: what carries a message from the relay to its consumers, at least once.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::TimeDelta;

use super::{
    Message,
    inbox::{CONSUMERS, ConsumeError, Consumer, consume_all},
};
use crate::{
    batches::Batches,
    clock::Clock,
    db::Db,
    probe::{Boundary, Failure, report},
};

/// How long a bus may keep a message, and consumers may be away. What tells a repetition from news is kept for longer.
pub const KEPT: TimeDelta = TimeDelta::days(14);

/// Carries messages, each at least once.
#[async_trait]
pub trait Bus: Debug + Send + Sync {
    /// Whether it is worth trying. While it is not, the relay leaves the rows to others and to later.
    fn is_there(&self) -> bool {
        true
    }

    /// Takes a message over. After `Ok` it reaches every consumer, whatever happens to this process: the relay forgets
    /// about it. After an error, and when there was no answer, it may have reached some.
    ///
    /// It comes again when nobody knows whether it was taken. `returns` says how often it has come back although it was
    /// ([`comeback`](super::comeback)); so often a bus which remembers what it took has to take it anew.
    async fn publish(&self, message: &Message, returns: i64) -> Result<(), PublishError>;
}

/// Why a message was not taken over.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Nothing is wrong with the message; later it will go.
    #[error("{0}")]
    Unavailable(String),
    /// This message will go no better later, unless somebody mends something.
    #[error("{0}")]
    Refused(String),
}

/// The bus within the process: it keeps nothing, so it hands the message to every consumer at once, and has taken it
/// over when all of them have committed what they made of it. Until then the row in the outbox stays unpublished and
/// comes again, which is the redelivery; those who had consumed it find it in their inbox.
///
/// Messages that are published while a consumer is at work reach it together, in one transaction.
#[derive(Debug)]
pub struct InProcess {
    db: Db,
    clock: Clock,
    queues: [Queue; CONSUMERS.len()],
}

/// What waits for a consumer.
#[derive(Debug)]
struct Queue {
    consumer: Consumer,
    batches: Batches<Message, ConsumeError>,
}

#[async_trait]
impl Bus for InProcess {
    async fn publish(&self, message: &Message, _returns: i64) -> Result<(), PublishError> {
        let mut outcome = Ok(());
        for queue in &self.queues {
            // One that fails does not keep the message from the others.
            let heard = self.hand_over(queue, message).await;
            outcome = outcome.and(heard);
        }
        outcome
    }
}

impl InProcess {
    /// To consumers that have their inboxes in the shop's database.
    pub fn new(db: Db, clock: Clock) -> Self {
        let queues = CONSUMERS.map(|consumer| Queue {
            consumer,
            batches: Batches::default(),
        });
        Self { db, clock, queues }
    }

    /// `Ok` is the consumer's acknowledgement.
    async fn hand_over(&self, queue: &Queue, message: &Message) -> Result<(), PublishError> {
        let name = queue.consumer.name();
        let consume = |mut messages: Vec<Message>| async move {
            messages.sort_by_key(|message| message.aggregate_id);
            consume_all(&self.db, queue.consumer, &messages, self.clock.now()).await
        };
        let consumed = queue.batches.go(message.clone(), consume).await;
        consumed.map_err(|error| because(name, &error))?;
        report(self.db.probe(), Boundary::BeforeAcknowledge(name)).await?;
        report(self.db.probe(), Boundary::AfterAcknowledge(name)).await?;
        Ok(())
    }
}

impl From<Failure> for PublishError {
    fn from(_: Failure) -> Self {
        Self::Unavailable("the connection broke".to_owned())
    }
}

fn because(consumer: &str, error: &ConsumeError) -> PublishError {
    let text = format!("{consumer}: {error}");
    if error.is_the_messages_fault() {
        PublishError::Refused(text)
    } else {
        PublishError::Unavailable(text)
    }
}
