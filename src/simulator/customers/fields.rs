//! The fields of a customer: how each is given, and what a new one has.

use serde_json::{Value, json};

use crate::simulator::{
    addresses,
    changes::Changes,
    error::ApiError,
    ids, objects,
    params::{Change, Params},
};

/// What a request says about a customer; the same when one is made and when it is changed.
pub(super) struct Fields {
    own: Changes,
    invoice_settings: Changes,
    default_payment_method: Change<String>,
}

impl Fields {
    pub(super) fn parse(params: &mut Params) -> Result<Self, ApiError> {
        let mut own = Changes::parse(params, &["description", "name", "phone"])?;
        own.field("email", addresses::email(params, "email")?);
        own.field("address", addresses::parse(params, "address")?);
        own.field("shipping", addresses::shipping(params)?);
        if let Some(tax_exempt) = params.one_of("tax_exempt", &["exempt", "none", "reverse"])? {
            own.field("tax_exempt", Change::Set(tax_exempt));
        }
        let locales = params.list("preferred_locales")?;
        if !locales.is_empty() {
            own.field("preferred_locales", Change::Set(locales));
        }
        let mut invoice_settings = Changes::default();
        let mut default_payment_method = Change::Keep;
        if let Change::Set(mut given) = params.hash_change("invoice_settings")? {
            default_payment_method = given.text_change("default_payment_method")?;
            invoice_settings.field("default_payment_method", default_payment_method.clone());
            invoice_settings.texts(&mut given, &["footer"])?;
            given.finish()?;
        }
        Ok(Self {
            own,
            invoice_settings,
            default_payment_method,
        })
    }

    /// The payment method that is to be the default from now on.
    pub(super) fn default_payment_method(&self) -> Option<&str> {
        match &self.default_payment_method {
            Change::Set(id) => Some(id),
            Change::Keep | Change::Unset => None,
        }
    }

    pub(super) fn apply(self, customer: &mut Value) -> Result<(), ApiError> {
        self.own.apply(customer)?;
        let settings = customer.get_mut("invoice_settings");
        settings.map_or(Ok(()), |settings| self.invoice_settings.apply(settings))
    }
}

/// Clears the default if it is this payment method.
pub(super) fn forget_default(customer: &mut Value, payment_method: &str) {
    if let Some(settings) = customer.get_mut("invoice_settings")
        && settings
            .get("default_payment_method")
            .and_then(Value::as_str)
            == Some(payment_method)
    {
        objects::set(settings, "default_payment_method", Value::Null);
    }
}

/// A customer of whom nothing is known yet.
pub(super) fn new(now: i64) -> Value {
    json!({
        "id": ids::customer_id(),
        "object": "customer",
        "address": null,
        "balance": 0,
        "created": now,
        "currency": null,
        "customer_account": null,
        "default_source": null,
        "delinquent": false,
        "description": null,
        "discount": null,
        "email": null,
        "invoice_prefix": ids::alphanumeric(8).to_uppercase(),
        "invoice_settings": {
            "custom_fields": null,
            "default_payment_method": null,
            "footer": null,
            "rendering_options": null
        },
        "livemode": false,
        "metadata": {},
        "name": null,
        "next_invoice_sequence": 1,
        "phone": null,
        "preferred_locales": [],
        "shipping": null,
        "tax_exempt": "none",
        "test_clock": null
    })
}
