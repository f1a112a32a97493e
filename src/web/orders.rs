//! An order's page.

use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
    response::Response,
};
use chrono::SecondsFormat;
use serde::Deserialize;

use super::{error::PageError, path::Path, show, views, visitor::Visitor};
use crate::{
    app::App,
    checkout::{PaymentMethod, model},
    clock, orders,
    refunds::{self, Refund, model::Totals},
};

/// What the link in a mail adds to the address.
#[derive(Deserialize)]
pub struct Link {
    key: Option<String>,
}

/// `GET /orders/{number}`, for the visitor who placed it, and for whoever has the link from the mail.
pub async fn order(
    State(app): State<App>,
    visitor: Visitor,
    Path(number): Path<String>,
    link: Result<Query<Link>, QueryRejection>,
) -> Result<Response, PageError> {
    let number = number.parse().map_err(|_| PageError::NotFound)?;
    let key = link.ok().and_then(|Query(link)| link.key);
    let now = app.till.clock.now();
    let order = if key.is_some_and(|key| app.till.links.open_order(&number, &key, now)) {
        orders::find(&app.till.db, &number).await?
    } else {
        orders::of_visitor(&app.till.db, &number, visitor.id).await?
    };
    let order = order.ok_or(PageError::NotFound)?;
    let checkout = model::find(&app.till.db, order.checkout_id)
        .await?
        .ok_or(PageError::NotFound)?;
    let lines = model::lines(&app.till.db, checkout.id).await?;
    let refunds = refunds::model::of_checkout(&app.till.db, checkout.id).await?;
    let totals = Totals::of(order.amount(), &refunds);
    let page = views::OrderPage {
        chrome: visitor.chrome(&app).await?,
        number: order.number.to_string(),
        state: show::order_state(&totals).to_owned(),
        placed_at: clock::in_words(order.created_at),
        placed_at_rfc3339: order.created_at.to_rfc3339_opts(SecondsFormat::Secs, true),
        lines: lines
            .iter()
            .map(|line| show::checkout_line(line, order.amount().currency))
            .collect(),
        shipping: show::unless_zero(checkout.shipping()),
        total: order.amount().to_string(),
        tax: show::tax(checkout.tax()),
        payment_method: checkout
            .payment_method
            .parse()
            .map(|method: PaymentMethod| method.label.to_owned())
            .unwrap_or_default(),
        payment_reference: checkout.payment_intent_id.clone().unwrap_or_default(),
        email: checkout.buyer.email.clone(),
        address: checkout.buyer.address_lines(),
        refunds: refunds.iter().map(refund).collect(),
        refunded: show::unless_zero(totals.given_back),
        refunded_tax: show::tax(checkout.tax_refunded(totals.given_back)),
        on_its_way: show::unless_zero(totals.on_its_way),
        left: show::unless_zero(totals.left),
    };
    show::page(StatusCode::OK, &page)
}

fn refund(refund: &Refund) -> views::Refund {
    views::Refund {
        amount: refund.amount().to_string(),
        state: show::refund_state(refund.status).to_owned(),
        at: clock::in_words(refund.concluded_at.unwrap_or(refund.created_at)),
    }
}
