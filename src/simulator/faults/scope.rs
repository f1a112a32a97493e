//! What a fault waits for: requests of an operation, with a key, at a path; or webhooks of a type, to a URL.
//!
//! All that is given must match. What can match no request at all is refused, with a sentence that says why.

use serde::{Deserialize, Serialize};

use crate::simulator::{
    event_types, form::shortened, idempotency::MAX_KEY_LENGTH, operations::Operation,
    refused::Refused, webhook_endpoints,
};

/// `"on"` of a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct On {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) operation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) webhook: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
}

/// An API request, as far as faults look at it.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct MetRequest<'r> {
    pub(in crate::simulator) operation: &'r str,
    /// `Idempotency-Key`; `None` unless it is a POST, since it has no effect on others.
    pub(in crate::simulator) key: Option<&'r str>,
    pub(in crate::simulator) path: &'r str,
}

impl On {
    /// On requests, as opposed to webhooks.
    pub(super) fn is_on_requests(&self) -> bool {
        self.operation.is_some() || self.key.is_some() || self.path.is_some()
    }

    pub(super) fn is_on_webhooks(&self) -> bool {
        self.webhook.is_some() || self.url.is_some()
    }

    pub(super) fn meets_request(&self, request: MetRequest<'_>) -> bool {
        let key = self.key.as_deref();
        let path = self.path.as_deref().map(Path::parse);
        self.is_on_operation(request.operation)
            && key.is_none_or(|on| Some(on) == request.key)
            && path.is_none_or(|on| on.meets(request.path))
    }

    pub(super) fn meets_webhook(&self, event_type: &str, url: &str) -> bool {
        let (on_type, on_url) = (self.webhook.as_deref(), self.url.as_deref());
        on_type.is_none_or(|on| on == "*" || on == event_type) && on_url.is_none_or(|on| on == url)
    }

    fn is_on_operation(&self, name: &str) -> bool {
        let operation = self.operation.as_deref();
        operation.is_none_or(|on| on == "*" || on == name)
    }

    /// Refuses what no request can match: each by itself, and then all together.
    pub(super) fn check_requests(&self) -> Result<(), Refused> {
        if let Some(operation) = &self.operation
            && !Operation::all().any(|it| self.is_on_operation(it.name))
        {
            let names: Vec<&str> = Operation::all().map(|it| it.name).collect();
            let (operation, names) = (shortened(operation), names.join(", "));
            let sentence = format!("There is no operation {operation}. It is * or one of {names}.");
            return Err(Refused::new(sentence).param("on[operation]"));
        }
        if let Some(key) = &self.key {
            check_key(key)?;
        }
        let mut possible: Vec<&Operation> = Operation::all().collect();
        if let Some(text) = &self.path {
            let path = Path::parse(text);
            path.check()?;
            possible.retain(|it| it.may_have_path(path.beginning, path.is_open));
            if possible.is_empty() {
                let sentence = format!("There is no operation with the path {}.", shortened(text));
                return Err(Refused::new(sentence).param("on[path]"));
            }
        }
        let of_the_path: Vec<&str> = possible.iter().map(|it| it.name).collect();
        possible.retain(|it| self.is_on_operation(it.name));
        if possible.is_empty() {
            let sentence = format!(
                "Requests at this path are {}, and none is {}.",
                of_the_path.join(" or "),
                self.operation.as_deref().unwrap_or_default()
            );
            return Err(Refused::new(sentence).param("on[operation]"));
        }
        if self.key.is_some() && !possible.iter().any(|it| it.takes_key()) {
            let sentence =
                "These are GET or DELETE requests, on which an Idempotency-Key has no effect.";
            return Err(Refused::new(sentence).param("on[key]"));
        }
        Ok(())
    }

    /// Refuses what no delivery can match. The endpoint need not be there yet.
    pub(super) fn check_webhooks(&self) -> Result<(), Refused> {
        if let Some(kind) = &self.webhook
            && kind != "*"
            && !event_types::MADE.contains(&kind.as_str())
        {
            let (kind, types) = (shortened(kind), event_types::MADE.join(", "));
            let sentence =
                format!("There is no event of the type {kind}. It is * or one of {types}.");
            return Err(Refused::new(sentence).param("on[webhook]"));
        }
        if let Some(url) = &self.url {
            webhook_endpoints::check_url(url).map_err(|reason| {
                let sentence =
                    format!("No endpoint can have the URL {}: {reason}.", shortened(url));
                Refused::new(sentence).param("on[url]")
            })?;
        }
        Ok(())
    }
}

/// A request with any other key is refused before faults are looked at.
fn check_key(key: &str) -> Result<(), Refused> {
    let is_text = key.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if key.is_empty() || key.len() > MAX_KEY_LENGTH || !is_text || key.trim() != key {
        let sentence = format!(
            "No request can have this key: it is between 1 and {MAX_KEY_LENGTH} ASCII characters, and has no \
             space around it."
        );
        return Err(Refused::new(sentence).param("on[key]"));
    }
    Ok(())
}

/// A whole path, or with `*` behind it the beginning of one.
#[derive(Clone, Copy)]
struct Path<'p> {
    beginning: &'p str,
    is_open: bool,
}

impl<'p> Path<'p> {
    fn parse(text: &'p str) -> Self {
        match text.strip_suffix('*') {
            Some(beginning) => Self {
                beginning,
                is_open: true,
            },
            None => Self {
                beginning: text,
                is_open: false,
            },
        }
    }

    fn meets(self, path: &str) -> bool {
        if self.is_open {
            path.starts_with(self.beginning)
        } else {
            path == self.beginning
        }
    }

    fn check(self) -> Result<(), Refused> {
        let is_of_the_api = self.beginning.starts_with("/v1/")
            || (self.is_open && "/v1/".starts_with(self.beginning));
        let sentence = if self.beginning.contains('*') {
            "A path may end in *, and has no other *."
        } else if self.beginning.contains(['?', '#']) {
            "A path ends before the question mark."
        } else if is_of_the_api {
            return Ok(());
        } else {
            "Faults strike requests to the API, whose paths begin with /v1/."
        };
        Err(Refused::new(sentence).param("on[path]"))
    }
}
