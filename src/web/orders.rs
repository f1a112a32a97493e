//! An order's page.

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::Response,
};
use chrono::SecondsFormat;

use super::{checkout_form::country_name, error::PageError, show, views, visitor::Visitor};
use crate::{
    app::App,
    checkout::{Buyer, PaymentMethod, model},
    orders,
};

/// `GET /orders/{number}`, for the visitor who placed it.
pub async fn order(
    State(app): State<App>,
    visitor: Visitor,
    Path(number): Path<String>,
) -> Result<Response, PageError> {
    let number = number.parse().map_err(|_| PageError::NotFound)?;
    let order = orders::of_visitor(&app.till.db, &number, visitor.id)
        .await?
        .ok_or(PageError::NotFound)?;
    let checkout = model::find(&app.till.db, order.checkout_id)
        .await?
        .ok_or(PageError::NotFound)?;
    let lines = model::lines(&app.till.db, checkout.id).await?;
    let page = views::OrderPage {
        chrome: visitor.chrome(&app).await?,
        number: order.number.to_string(),
        state: "Paid".to_owned(),
        placed_at: show::time(order.created_at),
        placed_at_rfc3339: order.created_at.to_rfc3339_opts(SecondsFormat::Secs, true),
        lines: lines
            .iter()
            .map(|line| show::checkout_line(line, order.amount().currency))
            .collect(),
        total: order.amount().to_string(),
        payment_method: checkout
            .payment_method
            .parse()
            .map(|method: PaymentMethod| method.label.to_owned())
            .unwrap_or_default(),
        payment_reference: checkout.payment_intent_id.clone().unwrap_or_default(),
        email: checkout.buyer.email.clone(),
        address: address(&checkout.buyer),
        ..views::OrderPage::default()
    };
    show::page(StatusCode::OK, &page)
}

fn address(buyer: &Buyer) -> Vec<String> {
    vec![
        buyer.name.clone(),
        buyer.address.clone(),
        format!("{} {}", buyer.postal_code, buyer.city),
        country_name(&buyer.country).to_owned(),
    ]
}
