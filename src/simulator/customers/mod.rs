//! Customers: who pays, and the payment methods they keep.
//!
//! A deleted customer is gone from every list and can pay no more, nor can what they kept pay for others; but who asks for it by its id is told that it
//! is deleted, not that it never was.

mod fields;

use serde_json::Value;

use self::fields::Fields;
use super::{
    call::Call,
    error::ApiError,
    events,
    lists::{Filter, Page},
    objects,
    params::Params,
    payment_methods,
    search::{self, Index, Kind},
};

/// `POST /v1/customers`. With `payment_method` the customer keeps that one from the beginning.
pub(super) async fn create(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let payment_method = params.text("payment_method")?;
    let fields = Fields::parse(&mut params)?;
    params.finish()?;
    let method = match payment_method {
        Some(name) => Some(payment_methods::resolve(call, &name).await?),
        None => None,
    };
    if let Some(method) = &method {
        payment_methods::check_can_attach(method)?;
    }
    if let Some(default) = fields.default_payment_method()
        && method.as_ref().is_none_or(|method| method.id != default)
    {
        return Err(does_not_keep(default));
    }
    let mut customer = fields::new(call.now);
    fields.apply(&mut customer)?;
    objects::insert(call.tx, &customer)?;
    events::record(call, "customer.created", &customer)?;
    if let Some(method) = method {
        payment_methods::attach_to(call, method, objects::id(&customer)).await?;
    }
    Ok(customer)
}

/// `GET /v1/customers/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    match objects::find_deleted(call.conn().await?, "customer", id).await? {
        Some(deleted) => Ok(deleted),
        None => objects::in_path(call.conn().await?, "customer", id).await,
    }
}

/// `GET /v1/customers`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let filters = Filter::parse(&mut params, &["email"])?;
    params.finish()?;
    page.fetch(call.conn().await?, "customer", "/v1/customers", &filters)
        .await
}

const INDEX: Index = Index {
    kind: "customer",
    resource: "customers",
    fields: &[
        ("created", Kind::Number),
        ("email", Kind::Text),
        ("name", Kind::Text),
        ("phone", Kind::Text),
    ],
};

/// `GET /v1/customers/search`
pub(super) async fn search(call: &mut Call<'_>, params: Params) -> Result<Value, ApiError> {
    search::search(call.conn().await?, &INDEX, params).await
}

/// `GET /v1/customers/{id}/payment_methods`
pub(super) async fn list_payment_methods(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let mut filters = Filter::parse(&mut params, &["type"])?;
    params.finish()?;
    objects::in_path(call.conn().await?, "customer", id).await?;
    filters.push(Filter::new("customer", id.to_owned()));
    let url = format!("/v1/customers/{id}/payment_methods");
    page.fetch(call.conn().await?, "payment_method", &url, &filters)
        .await
}

/// `POST /v1/customers/{id}`
pub(super) async fn update(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let fields = Fields::parse(&mut params)?;
    params.finish()?;
    let before = objects::in_path(call.conn().await?, "customer", id).await?;
    if let Some(default) = fields.default_payment_method() {
        let method = objects::find(call.conn().await?, "payment_method", default).await?;
        let owner = method.as_ref().and_then(payment_methods::customer_of);
        if owner != Some(id) {
            return Err(does_not_keep(default));
        }
    }
    let mut customer = before.clone();
    fields.apply(&mut customer)?;
    save(call, &before, &customer)?;
    Ok(customer)
}

/// `DELETE /v1/customers/{id}`
pub(super) async fn delete(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    let customer = objects::in_path(call.conn().await?, "customer", id).await?;
    payment_methods::detach_all(call, id).await?;
    let deleted = objects::delete(call.conn().await?, "customer", id).await?;
    events::record(call, "customer.deleted", &customer)?;
    Ok(deleted)
}

/// A payment method was detached: it is nobody's default any more.
pub(super) async fn forget_default(
    call: &mut Call<'_>,
    id: &str,
    payment_method: &str,
) -> Result<(), ApiError> {
    let Some(before) = objects::find(call.conn().await?, "customer", id).await? else {
        return Ok(());
    };
    let mut customer = before.clone();
    fields::forget_default(&mut customer, payment_method);
    save(call, &before, &customer)
}

fn save(call: &mut Call<'_>, before: &Value, after: &Value) -> Result<(), ApiError> {
    objects::update(call.tx, objects::id(after), after)?;
    events::record_change(call, "customer.updated", before, after)
}

/// Only what is attached to a customer can be their default.
fn does_not_keep(payment_method: &str) -> ApiError {
    ApiError::missing(
        "PaymentMethod attached to this customer",
        payment_method,
        "invoice_settings[default_payment_method]",
    )
}
