//! Test payment methods: a name decides what becomes of the payment.
//!
//! `pm_card_visa` and its like are aliases. Each use makes a fresh payment method with an id of its own
//! (`pm_1…`), which remembers the alias and so behaves the same when it is used again. A name that is not in
//! `table` is unknown: the simulator never invents a success.

mod table;

use serde_json::{Value, json};

use self::table::TEST_METHODS;
pub(super) use self::table::{
    AUTHENTICATION_NOT_HANDLED, AUTHENTICATION_REQUIRED, Behaviour, Card, Decline, Quirk,
    TestMethod,
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
    if let Some(test) = TEST_METHODS.iter().find(|test| test.alias == name) {
        return create(call, test).await;
    }
    let unknown = || ApiError::missing("PaymentMethod", name, "payment_method");
    let alias: Option<String> = sqlx::query_scalar(
        "select alias from objects where id = $1 and kind = 'payment_method' and alias is not null",
    )
    .bind(name)
    .fetch_optional(&mut *call.tx)
    .await?;
    let test = TEST_METHODS
        .iter()
        .find(|test| Some(test.alias) == alias.as_deref())
        .ok_or_else(unknown)?;
    let object = objects::find(call.tx, "payment_method", name)
        .await?
        .ok_or_else(unknown)?;
    Ok(PaymentMethod {
        id: name.to_owned(),
        object,
        test,
    })
}

/// What is special about a payment method that exists.
pub(super) async fn quirk(call: &mut Call<'_>, id: &str) -> Result<Quirk, ApiError> {
    Ok(resolve(call, id).await?.test.quirk)
}

async fn create(call: &mut Call<'_>, test: &'static TestMethod) -> Result<PaymentMethod, ApiError> {
    let id = ids::payment_method_id();
    let object = json!({
        "id": id,
        "object": "payment_method",
        "allow_redisplay": "unspecified",
        "billing_details": billing_details(),
        "card": {
            "brand": test.card.brand,
            "checks": { "address_line1_check": null, "address_postal_code_check": null, "cvc_check": null },
            "country": "US",
            "display_brand": test.card.brand,
            "exp_month": EXP_MONTH,
            "exp_year": EXP_YEAR,
            "fingerprint": test.card.fingerprint(),
            "funding": test.card.funding,
            "generated_from": null,
            "last4": test.card.last4,
            "networks": { "available": [test.card.brand], "preferred": null },
            "regulated_status": "unregulated",
            "three_d_secure_usage": { "supported": true },
            "wallet": null
        },
        "created": call.now,
        "customer": null,
        "customer_account": null,
        "livemode": false,
        "metadata": {},
        "type": "card"
    });
    objects::insert_with_alias(call.tx, &object, Some(test.alias)).await?;
    Ok(PaymentMethod { id, object, test })
}

/// Every test card is good until the end of 2040.
pub(super) const EXP_MONTH: u8 = 12;
pub(super) const EXP_YEAR: u16 = 2040;

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
