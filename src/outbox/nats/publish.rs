//! Publishing: a message is on the bus once the stream says that it has stored it.

use async_nats::{
    HeaderMap,
    header::NATS_MESSAGE_ID,
    jetstream::{self, ErrorCode, context::PublishErrorKind, message::PublishMessage},
};
use async_trait::async_trait;

use super::{Nats, STREAM, SUBJECT};
use crate::outbox::{
    Message,
    bus::{Bus, PublishError},
};

/// Between the id of a message and how often it has come back.
const RETURNED: char = '#';

#[async_trait]
impl Bus for Nats {
    fn is_there(&self) -> bool {
        *self.is_up.borrow()
    }

    async fn publish(&self, message: &Message, returns: i64) -> Result<(), PublishError> {
        let payload = serde_json::to_vec(message)
            .map_err(|error| PublishError::Refused(error.to_string()))?;
        let publish = PublishMessage::build()
            .payload(payload.into())
            .message_id(message_id(message, returns))
            // Another stream that hears the same subjects has none of our consumers.
            .expected_stream(STREAM);
        let subject = format!("{SUBJECT}.{}", message.event_type);
        let stored = self.connected(async {
            let receipt = self.jetstream.send_publish(subject, publish).await?;
            receipt.await
        });
        match stored.await {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) if is_too_large(&error) => {
                Err(PublishError::Refused(error.to_string()))
            }
            Some(Err(error)) => Err(PublishError::Unavailable(error.to_string())),
            None => Err(PublishError::Unavailable("no connection".to_owned())),
        }
    }
}

/// For the server's limit, or one that an operator gave the stream.
fn is_too_large(error: &jetstream::context::PublishError) -> bool {
    let source = std::error::Error::source(error);
    error.kind() == PublishErrorKind::MaxPayloadExceeded
        || source
            .and_then(|source| source.downcast_ref::<jetstream::Error>())
            .is_some_and(|error| error.error_code() == ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM)
}

/// By which the stream recognises a message that it has stored already. One that has come back is another one to it.
fn message_id(message: &Message, returns: i64) -> String {
    let id = message.id();
    if returns == 0 {
        id.to_string()
    } else {
        format!("{id}{RETURNED}{returns}")
    }
}

/// How often a message that was delivered with these headers had come back before.
pub(super) fn returns(headers: Option<&HeaderMap>) -> i64 {
    let id = headers.and_then(|headers| headers.get(NATS_MESSAGE_ID));
    let count = id.and_then(|id| id.as_str().rsplit_once(RETURNED));
    count.and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ids::CheckoutId;

    #[test]
    fn the_id_says_how_often_it_has_come_back() {
        let message = Message {
            aggregate_id: CheckoutId::new(),
            event_type: "order.placed".to_owned(),
            version: 1,
            payload: json!({}),
        };
        for count in [0, 1, 12] {
            let mut headers = HeaderMap::new();
            headers.insert(NATS_MESSAGE_ID, message_id(&message, count));
            assert_eq!(returns(Some(&headers)), count);
        }
        assert_eq!(message_id(&message, 0), message.id().to_string());
        assert_eq!(returns(None), 0);
    }
}
