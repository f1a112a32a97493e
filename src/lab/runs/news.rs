//! What the provider tells in a scene. The shop's own webhook is known to it, and is told everything by itself; to the naive
//! twin the scene hands it, signed in the same way.

use std::sync::Arc;

use chrono::Utc;
use serde_json::Value;

use super::{scene::Scene, tally};
use crate::lab::{
    flow::{Failed, Request},
    naive,
};

impl Scene<'_> {
    /// The events of this scene that the naive twin was not told yet, the oldest first.
    pub(super) async fn news(&self) -> Result<Vec<Arc<Value>>, Failed> {
        let carts: Vec<String> = self.customers.iter().map(|it| it.id.to_string()).collect();
        let mut news = self
            .events("/data/object/metadata/naive_cart", &carts)
            .await?;
        news.retain(|event| !self.told.contains(id_of(event)));
        Ok(news)
    }

    /// All events about objects that have one of these values at `pointer`, the oldest first.
    async fn events(&self, pointer: &str, values: &[String]) -> Result<Vec<Arc<Value>>, Failed> {
        let since =
            self.lab.simulator()?.clock().now - (Utc::now() - self.began_at).num_seconds() - 1;
        let mut page = self.app.till.provider.events_since(since, &[]).await?;
        let mut events = Vec::new();
        loop {
            let newest = page.newest().map(str::to_owned);
            events.extend(page.events);
            match newest {
                Some(newest) if page.has_more => {
                    let next = self.app.till.provider.events_after(&newest, &[]).await?;
                    page = next.ok_or("the provider does not know its own event")?;
                }
                _ => break,
            }
        }
        let is_ours = |event: &Value| {
            let value = event.pointer(pointer).and_then(Value::as_str);
            value.is_some_and(|value| values.iter().any(|it| it == value))
        };
        Ok(events.into_iter().filter(is_ours).map(Arc::new).collect())
    }

    /// The newest event of a type about this scene's payments.
    pub(super) async fn event(&self, kind: &str) -> Result<Arc<Value>, Failed> {
        let events = if self.is_safe() {
            let checkouts = tally::checkouts(self).await?;
            let ids: Vec<String> = checkouts.iter().map(ToString::to_string).collect();
            self.events("/data/object/metadata/checkout_id", &ids)
                .await?
        } else {
            self.news().await?
        };
        let is_it = |event: &Arc<Value>| event.get("type").and_then(Value::as_str) == Some(kind);
        let event = events.into_iter().rev().find(is_it);
        event.ok_or_else(|| format!("the provider has not made {kind}").into())
    }

    /// An event is delivered from now on by the scene, and not once more at its end.
    pub(super) fn is_told(&mut self, event: &Value) {
        self.told.insert(id_of(event).to_owned());
    }

    /// The provider delivers to the naive twin what is new, of the types that it has asked for.
    pub(super) async fn hear(&mut self) -> Result<(), Failed> {
        if self.is_safe() {
            return Ok(());
        }
        for event in self.news().await? {
            self.is_told(&event);
            let kind = event.get("type").and_then(Value::as_str);
            if !kind.is_some_and(|kind| naive::LISTENS_TO.contains(&kind)) {
                continue;
            }
            let _ = self.ask("the provider", Request::Deliver(event)).await?;
        }
        Ok(())
    }
}

fn id_of(event: &Value) -> &str {
    event.get("id").and_then(Value::as_str).unwrap_or_default()
}
