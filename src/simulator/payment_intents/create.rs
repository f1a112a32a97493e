//! `POST /v1/payment_intents`: create, and with `confirm=true` also the first attempt.
//!
//! What can be refused by looking at the parameters is refused before anything exists. From the insert on the
//! request has executed: a decline leaves an intent behind, and the client finds its id in the error.

use serde_json::{Map, Value, json};

use super::{
    AutomaticPaymentMethods, PaymentIntent, Status,
    attempt::{Confirmation, attempt},
};
use crate::simulator::{
    call::Call,
    currencies::{check_amount, parse_currency},
    error::ApiError,
    events, ids, objects,
    params::Params,
    payment_methods,
};

/// The types of payment method an intent may name. All the simulator can charge is a card.
const PAYMENT_METHOD_TYPES: [&str; 2] = ["card", "link"];

const CAPTURE_METHODS: [&str; 3] = ["automatic", "automatic_async", "manual"];

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
    description: Option<String>,
    metadata: Map<String, Value>,
    receipt_email: Option<String>,
    setup_future_usage: Option<String>,
    shipping: Option<Value>,
    statement_descriptor: Option<String>,
    statement_descriptor_suffix: Option<String>,
    confirmation: Confirmation,
}

pub(in crate::simulator) async fn create(
    call: &mut Call<'_>,
    params: Params,
) -> Result<Value, ApiError> {
    let new = New::parse(params)?;
    if let Some(customer) = &new.customer {
        objects::in_param(call.tx, "customer", customer, "customer").await?;
    }
    let method = match &new.payment_method {
        Some(name) => Some(payment_methods::resolve(call, name).await?),
        None => None,
    };
    if let Some(method) = &method {
        payment_methods::check_usable(method, new.customer.as_deref())?;
    }
    let mut intent = new.intent(call.now, method.as_ref().map(|method| method.id.as_str()))?;
    let shown = intent.show()?;
    objects::insert(call.tx, &shown).await?;
    events::record(call, "payment_intent.created", &shown).await?;
    if new.confirm {
        attempt(call, &mut intent, method, &new.confirmation).await?;
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
        let payment_method_types = payment_method_types(&mut params)?;
        let new = Self {
            amount,
            currency,
            confirm,
            payment_method: params.text("payment_method")?,
            automatic_payment_methods: automatic_payment_methods(
                &mut params,
                payment_method_types.is_empty(),
            )?,
            payment_method_types,
            capture_method: params
                .one_of("capture_method", &CAPTURE_METHODS)?
                .unwrap_or_else(|| "automatic_async".to_owned()),
            confirmation_method: params
                .one_of("confirmation_method", &["automatic", "manual"])?
                .unwrap_or_else(|| "automatic".to_owned()),
            customer: params.text("customer")?,
            description: params.text("description")?,
            metadata: params.metadata()?,
            receipt_email: params.text("receipt_email")?,
            setup_future_usage: params
                .one_of("setup_future_usage", &["off_session", "on_session"])?,
            shipping: params.hash("shipping")?.map(Params::into_json),
            statement_descriptor: params.text("statement_descriptor")?,
            statement_descriptor_suffix: params.text("statement_descriptor_suffix")?,
            confirmation: Confirmation::parse(&mut params)?,
        };
        params.finish()?;
        if !confirm && let Some(param) = new.confirmation.first_given() {
            let message = format!("You may only specify {param} when confirm is true.");
            return Err(ApiError::invalid(message).param(param));
        }
        Ok(new)
    }

    /// The whole object as the API shows it, nulls included.
    fn intent(
        &self,
        now: i64,
        payment_method: Option<&str>,
    ) -> Result<PaymentIntent, serde_json::Error> {
        let id = ids::object_id("pi");
        let status = if payment_method.is_some() {
            Status::RequiresConfirmation
        } else {
            Status::RequiresPaymentMethod
        };
        let types = if self.payment_method_types.is_empty() {
            vec!["card".to_owned()]
        } else {
            self.payment_method_types.clone()
        };
        serde_json::from_value(json!({
            "id": id,
            "object": "payment_intent",
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
            "description": self.description,
            "excluded_payment_method_types": null,
            "last_payment_error": null,
            "latest_charge": null,
            "livemode": false,
            "metadata": self.metadata,
            "next_action": null,
            "on_behalf_of": null,
            "payment_method": payment_method,
            "payment_method_configuration_details": null,
            "payment_method_options": {
                "card": {
                    "installments": null,
                    "mandate_options": null,
                    "network": null,
                    "request_three_d_secure": "automatic"
                }
            },
            "payment_method_types": types,
            "processing": null,
            "receipt_email": self.receipt_email,
            "review": null,
            "setup_future_usage": self.setup_future_usage,
            "shipping": self.shipping,
            "source": null,
            "statement_descriptor": self.statement_descriptor,
            "statement_descriptor_suffix": self.statement_descriptor_suffix,
            "status": status,
            "transfer_data": null,
            "transfer_group": null
        }))
    }
}

fn payment_method_types(params: &mut Params) -> Result<Vec<String>, ApiError> {
    let types = params.list("payment_method_types")?;
    for name in &types {
        if !PAYMENT_METHOD_TYPES.contains(&name.as_str()) {
            let shown: String = name.chars().take(40).collect();
            let message = format!("The payment method type provided: {shown} is invalid.");
            return Err(ApiError::invalid(message).param("payment_method_types"));
        }
    }
    Ok(types)
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
