//! Orders: the list, and one of them.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    chrome::Chrome,
    error::Failure,
    list::{Cell, Table, exactly},
    listing::Listing,
    params::Params,
    refunds::state,
};
use crate::{
    app::App,
    checkout::model,
    orders::{self, OrderNumber, operator::Listed},
    refunds::{self, Refund, model::Totals},
    web::path::Path,
    web::{error::PageError, show, views},
};

const HERE: &str = "/admin/orders";

const LIST: Listing<Listed> = Listing {
    here: HERE,
    title: "Orders",
    intro: "What was paid.",
    found_by: "an order's number or an e-mail address",
    columns: &[
        "Paid",
        "Order",
        "Amount",
        "Given back, or on its way",
        "E-mail",
        "Checkout",
        "",
    ],
    row,
};

/// `GET /admin/orders`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    LIST.page(&app.till.db, &params).await?.answer()
}

fn row(it: &Listed) -> Vec<Cell> {
    let (amount, refunded) = (it.amount(), it.refunded());
    vec![
        Cell::time(it.created_at),
        Cell::link(&it.number, format!("{HERE}/{}", it.number)),
        Cell::text(&amount),
        match refunded.minor {
            0 => Cell::default(),
            _ => Cell::text(&refunded),
        },
        Cell::text(&it.email),
        Cell::link(
            &it.checkout_id,
            format!("/admin/checkouts/{}", it.checkout_id),
        ),
        Cell::link(
            if refunded == amount {
                "Refunds"
            } else {
                "Give money back"
            },
            format!("{HERE}/{}/refunds/new", it.number),
        ),
    ]
}

#[derive(Template)]
#[template(path = "admin/order.html")]
struct OrderPage {
    chrome: Chrome,
    number: String,
    state: &'static str,
    placed_at: String,
    checkout_id: String,
    lines: Vec<views::Line>,
    shipping: Option<String>,
    total: String,
    tax: Option<views::Tax>,
    left: String,
    has_left: bool,
    payment_method: String,
    payment_intent: String,
    email: String,
    address: Vec<String>,
    tables: [Table; 1],
}

/// `GET /admin/orders/{number}`.
pub async fn order(
    State(app): State<App>,
    Path(number): Path<String>,
) -> Result<Response, Failure> {
    let db = &app.till.db;
    let number: OrderNumber = number.parse().map_err(|_| PageError::NotFound)?;
    let order = orders::find(db, &number)
        .await?
        .ok_or(PageError::NotFound)?;
    let checkout = model::find(db, order.checkout_id)
        .await?
        .ok_or(PageError::NotFound)?;
    let lines = model::lines(db, checkout.id).await?;
    let refunds = refunds::model::of_checkout(db, checkout.id).await?;
    let totals = Totals::of(order.amount(), &refunds);
    let page = OrderPage {
        chrome: Chrome::at(HERE),
        number: number.to_string(),
        state: show::order_state(&totals),
        placed_at: exactly(order.created_at),
        checkout_id: checkout.id.to_string(),
        lines: lines
            .iter()
            .map(|line| show::checkout_line(line, order.amount().currency))
            .collect(),
        shipping: show::unless_zero(checkout.shipping()),
        total: order.amount().to_string(),
        tax: show::tax(checkout.tax()),
        left: totals.left.to_string(),
        has_left: totals.left.minor > 0,
        payment_method: checkout.payment_method.clone(),
        payment_intent: checkout.payment_intent_id.clone().unwrap_or_default(),
        email: checkout.buyer.email.clone(),
        address: checkout.buyer.address_lines(),
        tables: [refunds_table(&refunds, Some(&number))],
    };
    Ok(show::page(StatusCode::OK, &page)?)
}

/// The refunds of one purchase, and of the order that it became.
pub fn refunds_table(refunds: &[Refund], order: Option<&OrderNumber>) -> Table {
    let row = |refund: &Refund| {
        let name = refund.provider_id.clone();
        let name = name.unwrap_or_else(|| refund.id.to_string());
        vec![
            Cell::time(refund.created_at),
            state(refund.status),
            Cell::text(&refund.amount()),
            refund.concluded_at.map(Cell::time).unwrap_or_default(),
            match order {
                Some(number) => Cell::link(&name, format!("{HERE}/{number}/refunds/{}", refund.id)),
                None => Cell::text(&name),
            },
        ]
    };
    Table {
        heading: "Refunds",
        empty: "None.",
        columns: &["Asked for", "Status", "Amount", "Ended", "Refund"],
        rows: refunds.iter().map(row).collect(),
        form: None,
    }
}
