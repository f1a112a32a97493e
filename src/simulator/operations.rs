//! The API's operations: which request is which, what runs, and what it answers with.
//!
//! Adding one is adding a line to the table.

use axum::http::Method;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{
    call::Call, charges, error::ApiError, events, params::Params, payment_intents,
    webhook_endpoints,
};

/// One line of the table.
#[derive(Debug)]
pub(super) struct Operation {
    /// What faults and the journal call it.
    pub(super) name: &'static str,
    method: Method,
    /// Below `/v1/`. `{id}` stands for one segment, whatever it is.
    path: &'static str,
    /// For `expand[]`.
    pub(super) answers_with: Shape,
    run: Run,
}

/// What is in a successful answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// One object of this kind.
    One(&'static str),
    /// A list of objects of this kind.
    List(&'static str),
}

/// The second argument is the id in the path, empty when there is none.
type Run = for<'r> fn(&'r mut Call<'_>, &'r str, Params) -> BoxFuture<'r, Result<Value, ApiError>>;

/// A function of the API as the table wants it: `run!(list)`, or `run!(retrieve, id)` for a path with an id.
macro_rules! run {
    ($function:path) => {
        |call, _, params| Box::pin($function(call, params))
    };
    ($function:path, id) => {
        |call, id, params| Box::pin($function(call, id, params))
    };
}

use Shape::{List, One};

/// Of two patterns that fit the same path the first one counts.
#[rustfmt::skip]
static OPERATIONS: &[Operation] = &[
    post("payment_intents.create", "payment_intents", One("payment_intent"), run!(payment_intents::create)),
    get("payment_intents.list", "payment_intents", List("payment_intent"), run!(payment_intents::list)),
    get("payment_intents.retrieve", "payment_intents/{id}", One("payment_intent"), run!(payment_intents::retrieve, id)),
    post("payment_intents.confirm", "payment_intents/{id}/confirm", One("payment_intent"), run!(payment_intents::confirm, id)),
    post("payment_intents.cancel", "payment_intents/{id}/cancel", One("payment_intent"), run!(payment_intents::cancel, id)),
    get("charges.list", "charges", List("charge"), run!(charges::list)),
    get("charges.retrieve", "charges/{id}", One("charge"), run!(charges::retrieve, id)),
    get("events.list", "events", List("event"), run!(events::list)),
    get("events.retrieve", "events/{id}", One("event"), run!(events::retrieve, id)),
    post("events.retry", "events/{id}/retry", One("event"), run!(events::retry, id)),
    post("webhook_endpoints.create", "webhook_endpoints", One("webhook_endpoint"), run!(webhook_endpoints::create)),
    get("webhook_endpoints.list", "webhook_endpoints", List("webhook_endpoint"), run!(webhook_endpoints::list)),
    get("webhook_endpoints.retrieve", "webhook_endpoints/{id}", One("webhook_endpoint"), run!(webhook_endpoints::retrieve, id)),
    post("webhook_endpoints.update", "webhook_endpoints/{id}", One("webhook_endpoint"), run!(webhook_endpoints::update, id)),
    delete("webhook_endpoints.delete", "webhook_endpoints/{id}", One("webhook_endpoint"), run!(webhook_endpoints::delete, id)),
];

const fn get(name: &'static str, path: &'static str, answers_with: Shape, run: Run) -> Operation {
    line(Method::GET, name, path, answers_with, run)
}

const fn post(name: &'static str, path: &'static str, answers_with: Shape, run: Run) -> Operation {
    line(Method::POST, name, path, answers_with, run)
}

const fn delete(
    name: &'static str,
    path: &'static str,
    answers_with: Shape,
    run: Run,
) -> Operation {
    line(Method::DELETE, name, path, answers_with, run)
}

const fn line(
    method: Method,
    name: &'static str,
    path: &'static str,
    answers_with: Shape,
    run: Run,
) -> Operation {
    Operation {
        name,
        method,
        path,
        answers_with,
        run,
    }
}

impl Operation {
    /// What a request asks for, and the id in its path. `None`: nothing has this URL.
    pub(super) fn find<'p>(method: &Method, path: &'p str) -> Option<(&'static Self, &'p str)> {
        let path = path.strip_prefix("/v1/")?;
        OPERATIONS
            .iter()
            .filter(|operation| operation.method == *method)
            .find_map(|operation| Some((operation, fits(operation.path, path)?)))
    }

    /// Whether a fault can wait for it by this name.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        OPERATIONS.iter().map(|operation| operation.name)
    }

    /// `false`: it only reads, and any number may run at a time.
    pub(super) fn writes(&self) -> bool {
        self.method != Method::GET
    }

    /// Runs it. `id` is what was found in the path.
    pub(super) async fn run(
        &self,
        call: &mut Call<'_>,
        id: &str,
        params: Params,
    ) -> Result<Value, ApiError> {
        (self.run)(call, id, params).await
    }
}

/// The segment of `path` where `pattern` has `{id}`, or an empty one when it has none; `None` when it does not fit.
fn fits<'p>(pattern: &str, path: &'p str) -> Option<&'p str> {
    let mut id = "";
    let mut segments = path.split('/');
    for expected in pattern.split('/') {
        let segment = segments.next()?;
        if expected == "{id}" && !segment.is_empty() {
            id = segment;
        } else if segment != expected {
            return None;
        }
    }
    segments.next().is_none().then_some(id)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use axum::http::Method;

    use super::Operation;

    #[test]
    fn the_path_says_what_is_asked_for_and_of_what() {
        let found =
            |path| Operation::find(&Method::POST, path).map(|(operation, id)| (operation.name, id));
        assert_eq!(
            found("/v1/payment_intents"),
            Some(("payment_intents.create", ""))
        );
        assert_eq!(
            found("/v1/payment_intents/pi_1/confirm"),
            Some(("payment_intents.confirm", "pi_1"))
        );
    }

    #[test]
    fn what_is_not_listed_does_not_exist() {
        for path in [
            "/v1",
            "/v1/",
            "/v1/payment_intents/",
            "/v1/payment_intents//confirm",
            "/v1//x",
            "/v2/payment_intents",
            "/v1/unknown",
            "/v1/payment_intents/pi_1/confirm/again",
        ] {
            assert!(Operation::find(&Method::GET, path).is_none(), "{path}");
            assert!(Operation::find(&Method::POST, path).is_none(), "{path}");
        }
        assert!(Operation::find(&Method::DELETE, "/v1/payment_intents/pi_1").is_none());
    }

    #[test]
    fn no_two_operations_share_a_name() {
        let mut seen = HashSet::new();
        assert!(Operation::names().all(|name| seen.insert(name)));
    }
}
