//! The provider's list of what happened. It shows the last thirty days: <https://docs.stripe.com/api/events>

use serde_json::Value;
use url::form_urlencoded;

use super::{
    Doubt, PAGE, PAGES_MAX, Provider, READ_PATIENCE, percent_encode,
    transport::Answer,
    wire::{ErrorBody, List},
};

/// Some events in the order in which they happened, as the provider tells them.
#[derive(Debug)]
pub struct Events {
    /// The oldest first.
    pub events: Vec<Value>,
    /// Whether newer ones follow.
    pub has_more: bool,
}

impl Provider {
    /// The event named `id`. `None` when the provider does not know it.
    pub async fn event(&self, id: &str) -> Result<Option<Value>, Doubt> {
        let path = format!("/v1/events/{}", percent_encode(id));
        let answer = self.transport.get("events.retrieve", &path, READ_PATIENCE);
        let answer = answer.await?;
        if_known(&answer)?.map(|()| answer.parse()).transpose()
    }

    /// The events of `kinds` that follow the one named `last`; of all kinds, when none is named, and of at most twenty.
    /// `None` when the provider does not know that one any more.
    pub async fn events_after(&self, last: &str, kinds: &[&str]) -> Result<Option<Events>, Doubt> {
        let path = path(kinds, &[("ending_before", last)]);
        let answer = self.transport.get("events.list", &path, READ_PATIENCE);
        let answer = answer.await?;
        let page = if_known(&answer)?.map(|()| answer.parse()).transpose()?;
        Ok(page.map(Events::oldest_first))
    }

    /// The first events of `kinds` since an instant (Unix seconds, by the provider's clock); of all kinds, when none is named.
    /// The list begins with the newest, so it is walked to its end.
    pub async fn events_since(&self, since: i64, kinds: &[&str]) -> Result<Events, Doubt> {
        let since = since.to_string();
        let mut after: Option<String> = None;
        for page in 0..PAGES_MAX {
            let mut query = vec![("created[gte]", since.as_str())];
            query.extend(after.as_deref().map(|after| ("starting_after", after)));
            let path = path(kinds, &query);
            let answer = self.transport.get("events.list", &path, READ_PATIENCE);
            let answer = answer.await?;
            let list: List<Value> = answer.parse()?;
            if !list.has_more {
                return Ok(Events {
                    has_more: page > 0,
                    ..Events::oldest_first(list)
                });
            }
            after = list.data.last().and_then(id_of).map(str::to_owned);
        }
        Err(Doubt::Unexpected)
    }
}

impl Events {
    fn oldest_first(mut list: List<Value>) -> Self {
        list.data.reverse();
        Self {
            events: list.data,
            has_more: list.has_more,
        }
    }

    /// The id of the newest.
    pub fn newest(&self) -> Option<&str> {
        self.events.last().and_then(id_of)
    }
}

/// `None` when the provider says that what was named is not there.
fn if_known(answer: &Answer) -> Result<Option<()>, Doubt> {
    if !matches!(answer.status, 400 | 404) {
        return Ok(Some(()));
    }
    let ErrorBody { error } = answer.parse()?;
    match error.code.as_deref() {
        Some("resource_missing") => Ok(None),
        _ => Err(Doubt::Unexpected),
    }
}

fn id_of(event: &Value) -> Option<&str> {
    event.get("id").and_then(Value::as_str)
}

fn path(kinds: &[&str], narrowed: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("limit", PAGE)
        .extend_pairs(kinds.iter().map(|kind| ("types[]", kind)))
        .extend_pairs(narrowed)
        .finish();
    format!("/v1/events?{query}")
}
