//! The API's operations: which request is which, what runs, and what it answers with.
//!
//! Adding one is adding a line to the table.

use axum::http::Method;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{
    balance, balance_transactions, call::Call, charges, customers, disputes, error::ApiError,
    events, mandates, params::Params, payment_intents, payment_methods, refunds, webhook_endpoints,
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
    /// `false`: it only reads, and any number may run at a time.
    pub(super) writes: bool,
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
    get("payment_intents.search", "payment_intents/search", List("payment_intent"), run!(payment_intents::search)),
    get("payment_intents.retrieve", "payment_intents/{id}", One("payment_intent"), run!(payment_intents::retrieve, id)),
    post("payment_intents.update", "payment_intents/{id}", One("payment_intent"), run!(payment_intents::update, id)),
    post("payment_intents.capture", "payment_intents/{id}/capture", One("payment_intent"), run!(payment_intents::capture, id)),
    post("payment_intents.confirm", "payment_intents/{id}/confirm", One("payment_intent"), run!(payment_intents::confirm, id)),
    post("payment_intents.cancel", "payment_intents/{id}/cancel", One("payment_intent"), run!(payment_intents::cancel, id)),
    get("charges.list", "charges", List("charge"), run!(charges::list)),
    get("charges.retrieve", "charges/{id}", One("charge"), run!(charges::retrieve, id)),
    get("charges.list_refunds", "charges/{id}/refunds", List("refund"), run!(refunds::list_of_charge, id)),
    post("refunds.create", "refunds", One("refund"), run!(refunds::create)),
    get("refunds.list", "refunds", List("refund"), run!(refunds::list)),
    get("refunds.retrieve", "refunds/{id}", One("refund"), run!(refunds::retrieve, id)),
    post("refunds.update", "refunds/{id}", One("refund"), run!(refunds::update, id)),
    post("refunds.cancel", "refunds/{id}/cancel", One("refund"), run!(refunds::cancel, id)),
    get("disputes.list", "disputes", List("dispute"), run!(disputes::list)),
    get("disputes.retrieve", "disputes/{id}", One("dispute"), run!(disputes::retrieve, id)),
    post("disputes.update", "disputes/{id}", One("dispute"), run!(disputes::update, id)),
    post("disputes.close", "disputes/{id}/close", One("dispute"), run!(disputes::close, id)),
    post("customers.create", "customers", One("customer"), run!(customers::create)),
    get("customers.list", "customers", List("customer"), run!(customers::list)),
    get("customers.search", "customers/search", List("customer"), run!(customers::search)),
    get("customers.retrieve", "customers/{id}", One("customer"), run!(customers::retrieve, id)),
    post("customers.update", "customers/{id}", One("customer"), run!(customers::update, id)),
    delete("customers.delete", "customers/{id}", One("customer"), run!(customers::delete, id)),
    get("customers.list_payment_methods", "customers/{id}/payment_methods", List("payment_method"), run!(customers::list_payment_methods, id)),
    post("payment_methods.create", "payment_methods", One("payment_method"), run!(payment_methods::create)),
    get("payment_methods.list", "payment_methods", List("payment_method"), run!(payment_methods::list)),
    get("payment_methods.retrieve", "payment_methods/{id}", One("payment_method"), run!(payment_methods::retrieve, id)).that_writes(),
    post("payment_methods.update", "payment_methods/{id}", One("payment_method"), run!(payment_methods::update, id)),
    post("payment_methods.attach", "payment_methods/{id}/attach", One("payment_method"), run!(payment_methods::attach, id)),
    post("payment_methods.detach", "payment_methods/{id}/detach", One("payment_method"), run!(payment_methods::detach, id)),
    get("balance.retrieve", "balance", One("balance"), run!(balance::retrieve)),
    get("mandates.retrieve", "mandates/{id}", One("mandate"), run!(mandates::retrieve, id)),
    get("balance_transactions.list", "balance_transactions", List("balance_transaction"), run!(balance_transactions::list)),
    get("balance_transactions.retrieve", "balance_transactions/{id}", One("balance_transaction"), run!(balance_transactions::retrieve, id)),
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
    line(Method::POST, name, path, answers_with, run).that_writes()
}

const fn delete(
    name: &'static str,
    path: &'static str,
    answers_with: Shape,
    run: Run,
) -> Operation {
    line(Method::DELETE, name, path, answers_with, run).that_writes()
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
        writes: false,
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

    /// All of them, for faults that wait for some.
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        OPERATIONS.iter()
    }

    /// Whether requests of this operation may have this path; with `is_open`, one that begins like this.
    pub(super) fn may_have_path(&self, path: &str, is_open: bool) -> bool {
        if !is_open {
            // Not what the pattern fits, but what is found: another operation's may fit as well, and come first.
            return Self::find(&self.method, path)
                .is_some_and(|(found, _)| found.name == self.name);
        }
        let Some(path) = path.strip_prefix("/v1/") else {
            return "/v1/".starts_with(path);
        };
        let mut pattern = self.path.split('/');
        let (whole, last) = path.rsplit_once('/').unwrap_or(("", path));
        let is_whole = |segment: &str, expected: &str| expected == "{id}" || expected == segment;
        let whole_fit = whole.is_empty()
            || whole
                .split('/')
                .all(|segment| pattern.next().is_some_and(|it| is_whole(segment, it)));
        let last_fits = |expected: &str| expected == "{id}" || expected.starts_with(last);
        whole_fit && pattern.next().is_some_and(last_fits)
    }

    /// Whether an `Idempotency-Key` has an effect.
    pub(super) fn takes_key(&self) -> bool {
        self.method == Method::POST
    }

    const fn that_writes(mut self) -> Self {
        self.writes = true;
        self
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
    fn every_operation_is_in_the_documentation() {
        let documentation = include_str!("../../docs/simulator.md");
        for Operation {
            name, method, path, ..
        } in Operation::all()
        {
            let row = format!("| `{name}` | `{method} /v1/{path}` |");
            assert!(
                documentation.contains(&row),
                "docs/simulator.md lacks {row}"
            );
        }
    }

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
    fn a_path_or_its_beginning_says_what_may_be_asked_for() {
        let may_be = |path, is_open| -> Vec<&str> {
            let all = Operation::all().filter(|it| it.may_have_path(path, is_open));
            all.map(|it| it.name).collect()
        };
        assert_eq!(
            may_be("/v1/balance_transactions", false),
            ["balance_transactions.list"]
        );
        assert_eq!(
            may_be("/v1/balance_transactions", true),
            ["balance_transactions.list", "balance_transactions.retrieve"]
        );
        assert_eq!(
            may_be("/v1/balance_transactions/", true),
            ["balance_transactions.retrieve"]
        );
        assert_eq!(
            may_be("/v1/payment_intents/pi_1/conf", true),
            ["payment_intents.confirm"]
        );
        assert_eq!(may_be("/v1/payment_intents/pi_1/conf", false), [""; 0]);
        assert_eq!(may_be("/v1/payment_intents/pi_1/confirm/", true), [""; 0]);
        assert_eq!(may_be("", true).len(), Operation::all().count());
        assert!(!may_be("/v1/customers/search", false).contains(&"customers.retrieve"));
        assert_eq!(may_be("/v2/", true), [""; 0]);
    }

    #[test]
    fn no_two_operations_share_a_name() {
        let mut seen = HashSet::new();
        assert!(Operation::all().all(|it| seen.insert(it.name)));
    }
}
