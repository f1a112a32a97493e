//! An order's page.

use axum::{
    extract::{Path, Query, State, rejection::QueryRejection},
    http::StatusCode,
    response::Response,
};
use chrono::SecondsFormat;
use serde::Deserialize;

use super::{error::PageError, show, views, visitor::Visitor};
use crate::{
    app::App,
    checkout::{PaymentMethod, model},
    clock,
    money::Money,
    orders,
    refunds::{self, Refund, Status, model::sum},
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
    let order = if key.is_some_and(|key| app.order_links.is_signed(&number, &key)) {
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
    let refunded = Refunded::of(order.amount(), &refunds);
    let page = views::OrderPage {
        chrome: visitor.chrome(&app).await?,
        number: order.number.to_string(),
        state: refunded.state().to_owned(),
        placed_at: clock::in_words(order.created_at),
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
        address: checkout.buyer.address_lines(),
        refunds: refunds.iter().map(refund).collect(),
        refunded: unless_zero(refunded.given_back),
        on_its_way: unless_zero(refunded.on_its_way),
        left: unless_zero(refunded.left),
    };
    show::page(StatusCode::OK, &page)
}

/// How much of an order went back.
struct Refunded {
    given_back: Money,
    on_its_way: Money,
    left: Money,
}

impl Refunded {
    fn of(total: Money, refunds: &[Refund]) -> Self {
        let given_back = sum(refunds, Status::Succeeded, total.currency);
        let on_its_way = sum(refunds, Status::Pending, total.currency);
        let left = total.minor - given_back.minor - on_its_way.minor;
        Self {
            given_back,
            on_its_way,
            left: Money::new(left, total.currency),
        }
    }

    /// What is on its way may still come back, so it counts as paid.
    fn state(&self) -> &'static str {
        match (
            self.given_back.minor,
            self.on_its_way.minor + self.left.minor,
        ) {
            (0, _) => "Paid",
            (_, 0) => "Refunded",
            _ => "Partially refunded",
        }
    }
}

fn unless_zero(amount: Money) -> Option<String> {
    (amount.minor != 0).then(|| amount.to_string())
}

fn refund(refund: &Refund) -> views::Refund {
    let state = match refund.status {
        Status::Pending => "On its way",
        Status::Succeeded => "Given back",
        Status::Failed => "Not given back",
    };
    views::Refund {
        amount: refund.amount().to_string(),
        state: state.to_owned(),
        at: clock::in_words(refund.concluded_at.unwrap_or(refund.created_at)),
    }
}
