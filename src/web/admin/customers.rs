//! Customers.

use axum::{extract::State, response::Response};

use super::{error::Failure, events::search, list::Cell, listing::Listing, params::Params};
use crate::{app::App, customers::operator::Listed};

const LIST: Listing<Listed> = Listing {
    here: "/admin/customers",
    title: "Customers",
    intro: "Whoever has ordered something, by their e-mail address. It leads to what they have bought, or tried to.",
    found_by: "an e-mail address",
    columns: &["First order", "Last order", "E-mail", "Name"],
    row,
};

/// `GET /admin/customers`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    LIST.page(&app.till.db, &params).await?.answer()
}

fn row(it: &Listed) -> Vec<Cell> {
    vec![
        Cell::time(it.first_order_at),
        Cell::time(it.last_order_at),
        Cell::link(&it.email, search(&it.email)),
        Cell::text(&it.name),
    ]
}
