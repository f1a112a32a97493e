//! Customers.

use axum::{extract::State, response::Response};

use super::{
    error::Failure,
    events::search,
    list::{Around, Cell, ListPage, Table},
    params::Params,
};
use crate::{
    app::App,
    customers::operator::{self, Listed},
};

const HERE: &str = "/admin/customers";

/// `GET /admin/customers`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let found = operator::list(&app.till.db, &params.turn()).await?;
    let mut page = ListPage::of(
        HERE,
        "Customers",
        "Whoever has ordered something, by their e-mail address. It leads to what they have bought, or tried to.",
    );
    page.around = Around::of(&found, HERE, &[]);
    page.tables = vec![Table {
        heading: "All",
        empty: "None.",
        columns: &["First order", "Last order", "E-mail", "Name"],
        rows: found.rows.iter().map(row).collect(),
        form: None,
    }];
    page.answer()
}

fn row(it: &Listed) -> Vec<Cell> {
    vec![
        Cell::time(it.first_order_at),
        Cell::time(it.last_order_at),
        Cell::link(&it.email, search(&it.email)),
        Cell::text(&it.name),
    ]
}
