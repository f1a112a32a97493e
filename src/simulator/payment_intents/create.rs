//! `POST /v1/payment_intents`: create, and with `confirm=true` also the first attempt.
//!
//! What can be refused by looking at the parameters is refused before anything exists. From the insert on the
//! request has executed: a decline leaves an intent behind, and the client finds its id in the error.

use serde_json::{Value, json};

use super::{
    AutomaticPaymentMethods, PaymentIntent, Status,
    attempt::{Confirmation, attempt},
    details, types,
};
use crate::simulator::{
    call::Call,
    changes::Changes,
    currencies::{check_amount, parse_currency},
    error::ApiError,
    events, ids, objects,
    params::Params,
    payment_methods,
};

pub(super) const CAPTURE_METHODS: [&str; 3] = ["automatic", "automatic_async", "manual"];

/// The parameters, parsed.
#[derive(Debug)]
struct New {
    amount: i64,
    currency: String,
    confirm: bool,
    payment_method: Option<String>,
    payment_method_types: Vec<String>,
    automatic_payment_methods: Option<AutomaticPaymentMethods>,
    capture_method: String,
    confirmation_method: String,
    customer: Option<String>,
    details: Changes,
    confirmation: Confirmation,
}

pub(in crate::simulator) async fn create(
    call: &mut Call<'_>,
    params: Params,
) -> Result<Value, ApiError> {
    let new = New::parse(params)?;
    if let Some(customer) = &new.customer {
        objects::in_param(call.conn().await?, "customer", customer, "customer").await?;
    }
    let mut shown = new.blank(call.now);
    new.details.apply(&mut shown)?;
    let mut intent: PaymentIntent = serde_json::from_value(shown)?;
    let mut method = None;
    if let Some(name) = &new.payment_method {
        let named = payment_methods::resolve(call, name).await?;
        intent.check_accepts(&named)?;
        payment_methods::check_usable(&named, intent.customer.as_deref())?;
        intent.status = Status::RequiresConfirmation;
        intent.payment_method = Some(named.id.clone());
        method = Some(named);
    }
    let shown = intent.show()?;
    objects::insert(call.tx, &shown)?;
    events::record(call, "payment_intent.created", &shown)?;
    if new.confirm {
        let attempted = attempt(call, &mut intent, method, &new.confirmation).await;
        // Whatever is said against the attempt, the intent is there.
        attempted.map_err(ApiError::into_outcome)?;
    }
    Ok(intent.show()?)
}

impl New {
    fn parse(mut params: Params) -> Result<Self, ApiError> {
        let amount = params
            .integer("amount")?
            .ok_or_else(|| params.missing("amount"))?;
        let currency = parse_currency(&params.required_text("currency")?)?;
        check_amount(amount, &currency)?;
        let confirm = params.boolean("confirm")?.unwrap_or(false);
        if !confirm {
            Confirmation::check_absent(&params)?;
        }
        let named_types = types::parse(&mut params)?;
        let automatic_payment_methods =
            automatic_payment_methods(&mut params, named_types.is_empty())?;
        let new = Self {
            amount,
            currency,
            confirm,
            payment_method: params.text("payment_method")?,
            automatic_payment_methods,
            payment_method_types: if named_types.is_empty() {
                vec!["card".to_owned()]
            } else {
                named_types
            },
            capture_method: params
                .one_of("capture_method", &CAPTURE_METHODS)?
                .unwrap_or_else(|| "automatic_async".to_owned()),
            confirmation_method: params
                .one_of("confirmation_method", &["automatic", "manual"])?
                .unwrap_or_else(|| "automatic".to_owned()),
            customer: params.text("customer")?,
            details: details::parse(&mut params)?,
            confirmation: Confirmation::parse(&mut params)?,
        };
        params.finish()?;
        types::check(
            &new.payment_method_types,
            &new.currency,
            &new.capture_method,
        )?;
        Ok(new)
    }

    /// The object as the API shows it before anything else is known, nulls included.
    fn blank(&self, now: i64) -> Value {
        let id = ids::object_id("pi");
        json!({
            "id": id,
            "object": "payment_intent",
            "allowed_payment_method_types": null,
            "amount": self.amount,
            "amount_capturable": 0,
            "amount_details": { "tip": {} },
            "amount_received": 0,
            "application": null,
            "application_fee_amount": null,
            "automatic_payment_methods": self.automatic_payment_methods,
            "canceled_at": null,
            "cancellation_reason": null,
            "capture_method": self.capture_method,
            "client_secret": format!("{id}_secret_{}", ids::alphanumeric(25)),
            "confirmation_method": self.confirmation_method,
            "created": now,
            "currency": self.currency,
            "customer": self.customer,
            "customer_account": null,
            "description": null,
            "excluded_payment_method_types": null,
            "last_payment_error": null,
            "latest_charge": null,
            "livemode": false,
            "managed_payments": null,
            "metadata": {},
            "next_action": null,
            "on_behalf_of": null,
            "payment_method": null,
            "payment_method_configuration_details": null,
            "payment_method_options": types::options(&self.payment_method_types),
            "payment_method_types": self.payment_method_types,
            "payment_record": null,
            "processing": null,
            "receipt_email": null,
            "review": null,
            "setup_future_usage": null,
            "shipping": null,
            "source": null,
            "statement_descriptor": null,
            "statement_descriptor_suffix": null,
            "status": Status::RequiresPaymentMethod,
            "transfer_data": null,
            "transfer_group": null
        })
    }
}

/// Without a list of types an intent offers whatever suits, redirects included.
fn automatic_payment_methods(
    params: &mut Params,
    is_default: bool,
) -> Result<Option<AutomaticPaymentMethods>, ApiError> {
    let mut automatic = AutomaticPaymentMethods {
        enabled: is_default,
        allow_redirects: "always".to_owned(),
    };
    if let Some(mut given) = params.hash("automatic_payment_methods")? {
        automatic.enabled = given
            .boolean("enabled")?
            .ok_or_else(|| given.missing("enabled"))?;
        if let Some(allow_redirects) = given.one_of("allow_redirects", &["always", "never"])? {
            automatic.allow_redirects = allow_redirects;
        }
        given.finish()?;
        if automatic.enabled && !is_default {
            let message = "You may only specify one of these parameters: automatic_payment_methods, payment_method_types.";
            return Err(ApiError::invalid(message)
                .code("parameters_exclusive")
                .param("automatic_payment_methods"));
        }
    }
    Ok(Some(automatic).filter(|automatic| automatic.enabled))
}
