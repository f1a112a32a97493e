//! What the provider tells in a world. Nothing is delivered by itself: a story says when, and how often.

use std::sync::Arc;

use serde_json::Value;

use super::World;
use crate::lab::flow::{Answer, Failed, NoAnswer, Request};

/// The provider's events, which are asked for when there may be more.
#[derive(Default)]
pub(super) struct Told {
    pub(super) events: Vec<Arc<Value>>,
    /// How many boundaries had been passed when they were asked for; `None` when something else has changed since.
    pub(super) after: Option<usize>,
    /// A process has died. What it had sent may arrive at any time.
    pub(super) is_uncertain: bool,
}

impl World<'_> {
    /// The events that the provider has made and the shop has not taken, the oldest first.
    pub async fn news(&mut self) -> Result<Vec<Arc<Value>>, Failed> {
        let mut events = self.everything_told().await?;
        events.retain(|event| !self.taken.contains(&id_of(event)));
        Ok(events)
    }

    /// All events that the provider has made, the oldest first.
    pub async fn everything_told(&mut self) -> Result<Vec<Arc<Value>>, Failed> {
        let is_known = |after| !self.watch.has_sent_since(after);
        if self.told.is_uncertain || !self.told.after.is_some_and(is_known) {
            self.told.after = Some(self.watch.count());
            self.told.events = self.ground.events().await?;
        }
        Ok(self.told.events.clone())
    }

    /// The provider delivers an event. It is not news any more once it is taken.
    pub async fn deliver(&mut self, event: Arc<Value>) -> Result<Result<Answer, NoAnswer>, Failed> {
        self.ask(Request::Deliver(event)).await
    }

    /// The provider delivers each of the news once.
    pub async fn deliver_news(&mut self) -> Result<(), Failed> {
        for event in self.news().await? {
            let _ = self.deliver(event).await?;
        }
        Ok(())
    }
}

pub(super) fn id_of(event: &Value) -> String {
    let id = event.get("id").and_then(Value::as_str);
    id.unwrap_or_default().to_owned()
}
