//! Refunds.

use axum::{extract::State, response::Response};

use super::{
    error::Failure,
    list::{Around, Cell, ListPage, Table},
    params::Params,
};
use crate::{
    app::App,
    refunds::{
        Status,
        list::{self, Listed},
        model::Kind,
    },
};

const HERE: &str = "/admin/refunds";

/// `GET /admin/refunds`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let found = list::list(&app.till.db, &params.turn()).await?;
    let mut page = ListPage::of(
        HERE,
        "Refunds",
        "Money that went back or is on its way, whether we asked for it or somebody did at the provider.",
    );
    page.around = Around::of(&found, HERE, &[]);
    page.tables = vec![Table {
        heading: "All",
        empty: "None.",
        columns: &[
            "Asked for",
            "Status",
            "Amount",
            "Of",
            "Why it failed",
            "Attempts",
            "At the provider",
        ],
        rows: found.rows.iter().map(row).collect(),
        form: None,
    }];
    page.answer()
}

fn row(it: &Listed) -> Vec<Cell> {
    let of = match (&it.order_number, it.kind) {
        (Some(number), _) => Cell::link(number, format!("/admin/orders/{number}")),
        (None, Kind::LatePayment) => story("a payment that came too late", it),
        (None, Kind::Order) => story("a purchase", it),
    };
    vec![
        Cell::time(it.created_at),
        state(it.status),
        Cell::text(&it.amount()),
        of,
        Cell::text(it.failure_code.as_deref().unwrap_or_default()),
        Cell::text(&it.attempts),
        Cell::text(it.provider_id.as_deref().unwrap_or("not yet known")),
    ]
}

fn story(text: &str, it: &Listed) -> Cell {
    Cell::link(text, format!("/admin/checkouts/{}", it.checkout_id))
}

/// How a refund stands, in its colour.
pub fn state(status: Status) -> Cell {
    match status {
        Status::Pending => Cell::state("pending", "wait"),
        Status::Succeeded => Cell::state("succeeded", "good"),
        Status::Failed => Cell::state("failed", "bad"),
    }
}
