//! `POST /v1/payment_intents/{id}`: change what was agreed on, without confirming it.
//!
//! How much, with what and for whom can change until the customer has confirmed; the description and metadata
//! are the shop's own notes and can change at any time. No event tells of an update.

use serde_json::Value;

use super::{
    PaymentIntent, Status, authenticate::forget_approval, create::CAPTURE_METHODS, details, find,
    types,
};
use crate::simulator::{
    call::Call,
    changes::Changes,
    currencies::{check_amount, parse_currency},
    error::ApiError,
    objects,
    params::{Change, Params},
    payment_methods,
};

/// Not once the payment is under way.
const ONLY_BEFORE: [&str; 11] = [
    "amount",
    "capture_method",
    "currency",
    "customer",
    "payment_method",
    "payment_method_types",
    "receipt_email",
    "setup_future_usage",
    "shipping",
    "statement_descriptor",
    "statement_descriptor_suffix",
];

/// An intent always has one of each.
const CANNOT_BE_UNSET: [&str; 5] = [
    "amount",
    "capture_method",
    "currency",
    "customer",
    "payment_method_types",
];

struct Update {
    amount: Option<i64>,
    currency: Option<String>,
    capture_method: Option<String>,
    customer: Option<String>,
    payment_method: Change<String>,
    payment_method_types: Vec<String>,
    details: Changes,
    /// The first parameter that is only for a payment that is not under way.
    only_before: Option<&'static str>,
}

pub(in crate::simulator) async fn update(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    let update = Update::parse(params)?;
    let mut intent = find(call, id).await?;
    if let Some(param) = update.only_before {
        intent.check_can_change(param)?;
    }
    update.check_customer(call, &intent).await?;
    let starts_over = update.starts_over(&intent);
    let is_for_others = update.changes_method() || update.customer.is_some();
    if update.changes_terms() {
        forget_approval(call, id);
    }
    update.apply(&mut intent)?;
    intent.check_whole().map_err(ApiError::executed)?;
    if let Some(name) = intent.payment_method.clone() {
        let method = payment_methods::resolve(call, &name).await?;
        intent.check_accepts(&method).map_err(ApiError::executed)?;
        if is_for_others {
            payment_methods::check_usable(&method, intent.customer.as_deref())?;
        }
        intent.payment_method = Some(method.id);
    }
    if starts_over {
        intent.next_action = None;
        intent.status = match intent.payment_method {
            Some(_) => Status::RequiresConfirmation,
            None => Status::RequiresPaymentMethod,
        };
    }
    intent.last_payment_error = None;
    intent.save(call)
}

impl PaymentIntent {
    /// Refuses what is right in its parts and wrong together: an amount that another currency does not have.
    fn check_whole(&self) -> Result<(), ApiError> {
        check_amount(self.amount, &self.currency)?;
        types::check(
            &self.payment_method_types,
            &self.currency,
            &self.capture_method,
        )
    }
}

impl Update {
    fn parse(mut params: Params) -> Result<Self, ApiError> {
        params.check_not_empty(&CANNOT_BE_UNSET)?;
        let update = Self {
            only_before: params.first_given(&ONLY_BEFORE),
            amount: params.integer("amount")?,
            currency: match params.text("currency")? {
                Some(currency) => Some(parse_currency(&currency)?),
                None => None,
            },
            capture_method: params.one_of("capture_method", &CAPTURE_METHODS)?,
            customer: params.text("customer")?,
            payment_method: params.text_change("payment_method")?,
            payment_method_types: types::parse(&mut params)?,
            details: details::parse(&mut params)?,
        };
        params.finish()?;
        Ok(update)
    }

    /// A customer is named once: what they saved and agreed to belongs to nobody else.
    async fn check_customer(
        &self,
        call: &mut Call<'_>,
        intent: &PaymentIntent,
    ) -> Result<(), ApiError> {
        let Some(customer) = &self.customer else {
            return Ok(());
        };
        objects::in_param(call.conn().await?, "customer", customer, "customer").await?;
        if intent
            .customer
            .as_ref()
            .is_some_and(|other| other != customer)
        {
            let message = "The customer of a PaymentIntent cannot be changed once it has one. For another customer, cancel this one and create another.";
            return Err(ApiError::invalid(message).param("customer").executed());
        }
        Ok(())
    }

    /// What the customer was asked to approve is not what they would pay.
    fn changes_terms(&self) -> bool {
        self.changes_method()
            || self.amount.is_some()
            || self.currency.is_some()
            || self.capture_method.is_some()
    }

    fn changes_method(&self) -> bool {
        !matches!(self.payment_method, Change::Keep)
    }

    /// The intent must be confirmed, or confirmed again.
    fn starts_over(&self, intent: &PaymentIntent) -> bool {
        self.changes_method() || (self.changes_terms() && intent.status == Status::RequiresAction)
    }

    fn apply(self, intent: &mut PaymentIntent) -> Result<(), ApiError> {
        let mut shown = intent.show()?;
        self.details.apply(&mut shown)?;
        *intent = serde_json::from_value(shown)?;
        intent.amount = self.amount.unwrap_or(intent.amount);
        if let Some(currency) = self.currency {
            intent.currency = currency;
        }
        if let Some(capture_method) = self.capture_method {
            intent.capture_method = capture_method;
        }
        if let Some(customer) = self.customer {
            intent.customer = Some(customer);
        }
        intent.accept_types(self.payment_method_types);
        match self.payment_method {
            Change::Keep => {}
            Change::Unset => intent.payment_method = None,
            Change::Set(name) => intent.payment_method = Some(name),
        }
        Ok(())
    }
}

impl PaymentIntent {
    fn check_can_change(&self, param: &str) -> Result<(), ApiError> {
        match self.status {
            Status::RequiresPaymentMethod
            | Status::RequiresConfirmation
            | Status::RequiresAction => Ok(()),
            Status::RequiresCapture | Status::Processing | Status::Succeeded | Status::Canceled => {
                let status = self.status.name();
                let message = format!(
                    "The {param} of this PaymentIntent cannot be updated, because its status is {status}. That is possible while it is one of requires_payment_method, requires_confirmation, requires_action."
                );
                Err(self.unexpected_state(message)?)
            }
        }
    }
}
