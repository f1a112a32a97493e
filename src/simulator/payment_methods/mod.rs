//! Payment methods: a name decides what becomes of the payment.
//!
//! `pm_card_visa` and its like are aliases. Each use makes a fresh payment method with an id of its own
//! (`pm_1…`), which remembers the alias and so behaves the same when it is used again. A name that is not in
//! `table` is unknown: the simulator never invents a success.
//!
//! ```text
//! fresh ── attach, or a payment with setup_future_usage ──► attached: pays for its customer, any number of times
//!   └── a payment without ──► spent ◄── detach ───┘         spent: neither pays nor is attached again
//! ```
//!
//! Whoever deletes a customer detaches all that they kept.
//!
//! A declined payment spends nothing. Where Stripe's codes for using a payment method in the wrong state are not
//! on record, they are `payment_method_unexpected_state` here.

mod attach;
mod bank_accounts;
mod create;
mod declines;
mod instrument;
mod table;
mod usage;

use serde_json::Value;

pub(super) use self::{
    attach::{attach, attach_to, check_can_attach, detach, detach_all},
    bank_accounts::{Debit, Failure},
    create::{create, fresh},
    declines::{AUTHENTICATION_NOT_HANDLED, AUTHENTICATION_REQUIRED, Decline},
    table::{Behaviour, Complaint, Quirk, TestMethod},
    usage::{check_usable, use_up},
};
use self::{
    bank_accounts::TEST_ACCOUNTS,
    table::{OffSession, TEST_CARDS},
};
use super::{
    addresses,
    call::Call,
    changes::Changes,
    error::ApiError,
    events,
    lists::{Filter, Page},
    objects,
    params::{Change, Params},
};

const REDISPLAY: [&str; 3] = ["always", "limited", "unspecified"];

/// A payment method that exists, and how it behaves.
#[derive(Clone, Debug)]
pub(super) struct PaymentMethod {
    pub(super) id: String,
    pub(super) object: Value,
    pub(super) test: &'static TestMethod,
    is_spent: bool,
    /// Its customer agreed to payments without them.
    is_set_up: bool,
}

/// `GET /v1/payment_methods/{id}`. Of an alias it shows a fresh one, which exists from now on.
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    Ok(in_path(call, id).await?.object)
}

/// `GET /v1/payment_methods`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let filters = Filter::parse(&mut params, &["customer", "type"])?;
    params.finish()?;
    page.fetch(
        call.conn().await?,
        "payment_method",
        "/v1/payment_methods",
        &filters,
    )
    .await
}

/// `POST /v1/payment_methods/{id}`: only one that a customer keeps can be changed.
pub(super) async fn update(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let changes = parse_changes(&mut params)?;
    params.finish()?;
    let PaymentMethod { object: before, .. } = in_path(call, id).await?;
    if customer_of(&before).is_none() {
        let message = "Only a payment method that is attached to a customer can be updated.";
        return Err(ApiError::invalid(message).executed());
    }
    let mut method = before.clone();
    changes.apply(&mut method)?;
    objects::update(call.tx, id, &method)?;
    events::record_change(call, "payment_method.updated", &before, &method)?;
    Ok(method)
}

/// What can be said of a payment method when it is made, and changed later.
struct MethodChanges {
    own: Changes,
    billing_details: Changes,
}

fn parse_changes(params: &mut Params) -> Result<MethodChanges, ApiError> {
    let mut own = Changes::parse(params, &[])?;
    if let Some(redisplay) = params.one_of("allow_redisplay", &REDISPLAY)? {
        own.field("allow_redisplay", Change::Set(redisplay));
    }
    let mut billing_details = Changes::default();
    if let Change::Set(mut given) = params.hash_change("billing_details")? {
        billing_details.texts(&mut given, &["email", "name", "phone", "tax_id"])?;
        billing_details.field("address", addresses::parse(&mut given, "address")?);
        given.finish()?;
    }
    Ok(MethodChanges {
        own,
        billing_details,
    })
}

impl MethodChanges {
    fn apply(self, method: &mut Value) -> Result<(), ApiError> {
        self.own.apply(method)?;
        let billing_details = method.get_mut("billing_details");
        billing_details.map_or(Ok(()), |details| self.billing_details.apply(details))
    }
}

/// The payment method a request names in `payment_method`: a fresh one for an alias, or one made earlier.
pub(super) async fn resolve(call: &mut Call<'_>, name: &str) -> Result<PaymentMethod, ApiError> {
    if let Some(test) = find_test(name) {
        return fresh(call, test);
    }
    let row: Option<(String, String, bool, bool)> = sqlx::query_as(
        "select body, alias, spent, set_up from objects
         where id = $1 and kind = 'payment_method' and alias is not null",
    )
    .bind(name)
    .fetch_optional(call.conn().await?)
    .await?;
    let unknown = || ApiError::missing("PaymentMethod", name, "payment_method");
    let (body, alias, is_spent, is_set_up) = row.ok_or_else(unknown)?;
    Ok(PaymentMethod {
        id: name.to_owned(),
        object: serde_json::from_str(&body)?,
        test: find_test(&alias).ok_or_else(unknown)?,
        is_spent,
        is_set_up,
    })
}

/// The same for the id in a path: 404 when it is unknown.
async fn in_path(call: &mut Call<'_>, id: &str) -> Result<PaymentMethod, ApiError> {
    resolve(call, id).await.map_err(ApiError::not_found)
}

/// What the payment method with this id was made from.
pub(super) async fn test_behind(
    call: &mut Call<'_>,
    id: &str,
) -> Result<Option<&'static TestMethod>, ApiError> {
    let alias: Option<String> = sqlx::query_scalar(
        "select alias from objects where id = $1 and kind = 'payment_method' and alias is not null",
    )
    .bind(id)
    .fetch_optional(call.conn().await?)
    .await?;
    Ok(alias.as_deref().and_then(find_test))
}

/// What is special about it.
pub(super) async fn quirk(call: &mut Call<'_>, id: &str) -> Result<Quirk, ApiError> {
    let test = test_behind(call, id).await?;
    Ok(test.map_or(Quirk::None, |test| test.quirk))
}

fn find_test(alias: &str) -> Option<&'static TestMethod> {
    let mut all = TEST_CARDS.iter().chain(TEST_ACCOUNTS);
    all.find(|test| test.alias == alias)
}

pub(super) fn customer_of(method: &Value) -> Option<&str> {
    method.get("customer").and_then(Value::as_str)
}

impl TestMethod {
    /// Whether the money is there without a wait, as it is with ACH in test mode.
    pub(super) fn is_available_at_once(&self) -> bool {
        self.quirk == Quirk::BypassesPending || self.instrument.kind() == "us_bank_account"
    }
}

impl PaymentMethod {
    /// Its type: `card`, `us_bank_account`, …
    pub(super) fn kind(&self) -> &'static str {
        self.test.instrument.kind()
    }

    /// Whose it is.
    pub(super) fn customer(&self) -> Option<&str> {
        customer_of(&self.object)
    }

    /// Whether its bank lets a payment pass that is made while the customer is not there.
    pub(super) fn passes_off_session(&self) -> bool {
        match self.test.behaviour {
            Behaviour::Authenticates { off_session, .. } => match off_session {
                OffSession::Declines => false,
                OffSession::PassesOnceSetUp => self.is_set_up,
                OffSession::Passes => true,
            },
            Behaviour::Pays | Behaviour::Declines(_) | Behaviour::Debits(_) => true,
        }
    }

    /// The refusal of what its state does not allow.
    fn unexpected_state(message: impl Into<String>) -> ApiError {
        ApiError::invalid(message)
            .code("payment_method_unexpected_state")
            .param("payment_method")
            .executed()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{TEST_ACCOUNTS, TEST_CARDS};

    #[test]
    fn the_documentation_has_every_test_method() {
        let documentation = include_str!("../../../docs/simulator.md");
        let documented: BTreeSet<String> = documentation
            .lines()
            .filter_map(|line| line.strip_prefix("| `pm_")?.split('`').next())
            .flat_map(|name| spellings(&format!("pm_{name}")))
            .collect();
        let known = TEST_CARDS
            .iter()
            .chain(TEST_ACCOUNTS)
            .map(|test| test.alias.to_owned())
            .collect();
        assert_eq!(documented, known);
    }

    /// `pm_{a,b}` stands for `pm_a` and `pm_b`.
    fn spellings(name: &str) -> Vec<String> {
        match name.split_once('{') {
            None => vec![name.to_owned()],
            Some((before, endings)) => endings
                .trim_end_matches('}')
                .split(',')
                .map(|ending| format!("{before}{ending}"))
                .collect(),
        }
    }
}
