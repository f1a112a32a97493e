//! Test payment methods: a name decides what becomes of the payment.
//!
//! `pm_card_visa` and its like are aliases. Each use makes a fresh payment method with an id of its own
//! (`pm_1…`), which remembers the alias and so behaves the same when it is used again. A name that is not in
//! `table` is unknown: the simulator never invents a success.

mod bank_accounts;
mod instrument;
mod table;

use serde_json::{Value, json};

use self::{bank_accounts::TEST_ACCOUNTS, table::TEST_CARDS};
pub(super) use self::{
    bank_accounts::{Debit, Failure},
    table::{AUTHENTICATION_NOT_HANDLED, AUTHENTICATION_REQUIRED, Behaviour, Decline, TestMethod},
};
use super::{call::Call, error::ApiError, ids, objects};

/// A payment method that exists, and how it behaves.
#[derive(Debug)]
pub(super) struct PaymentMethod {
    pub(super) id: String,
    pub(super) object: Value,
    pub(super) test: &'static TestMethod,
}

/// The payment method a request names: a fresh one for an alias, or one made earlier.
pub(super) async fn resolve(call: &mut Call<'_>, name: &str) -> Result<PaymentMethod, ApiError> {
    if let Some(test) = find_test(name) {
        return create(call, test).await;
    }
    let unknown = || ApiError::missing("PaymentMethod", name, "payment_method");
    let test = test_behind(call, name).await?.ok_or_else(unknown)?;
    let object = objects::find(call.tx, "payment_method", name)
        .await?
        .ok_or_else(unknown)?;
    Ok(PaymentMethod {
        id: name.to_owned(),
        object,
        test,
    })
}

async fn create(call: &mut Call<'_>, test: &'static TestMethod) -> Result<PaymentMethod, ApiError> {
    let id = ids::payment_method_id();
    let kind = test.instrument.kind();
    let mut object = json!({
        "id": id,
        "object": "payment_method",
        "allow_redisplay": "unspecified",
        "billing_details": billing_details(),
        "created": call.now,
        "customer": null,
        "customer_account": null,
        "livemode": false,
        "metadata": {},
        "type": kind
    });
    objects::set(&mut object, kind, test.instrument.show());
    objects::insert_with_alias(call.tx, &object, Some(test.alias)).await?;
    Ok(PaymentMethod { id, object, test })
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
    .fetch_optional(&mut *call.tx)
    .await?;
    Ok(alias.as_deref().and_then(find_test))
}

fn find_test(alias: &str) -> Option<&'static TestMethod> {
    let mut all = TEST_CARDS.iter().chain(TEST_ACCOUNTS);
    all.find(|test| test.alias == alias)
}

impl TestMethod {
    /// Whether the money is there without a wait, as it is with ACH in test mode.
    pub(super) fn is_available_at_once(&self) -> bool {
        self.alias == "pm_card_bypassPending" || self.instrument.kind() == "us_bank_account"
    }
}

impl PaymentMethod {
    /// Its type: `card`, `us_bank_account`, …
    pub(super) fn kind(&self) -> &'static str {
        self.test.instrument.kind()
    }
}

/// Nobody is asked for an address, so nothing is known.
pub(super) fn billing_details() -> Value {
    json!({
        "address": { "city": null, "country": null, "line1": null, "line2": null, "postal_code": null, "state": null },
        "email": null,
        "name": null,
        "phone": null,
        "tax_id": null
    })
}
