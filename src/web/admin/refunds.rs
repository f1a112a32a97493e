//! Refunds.

use axum::{extract::State, response::Response};

use super::{error::Failure, list::Cell, listing::Listing, params::Params};
use crate::{
    app::App,
    refunds::{Status, list::Listed, model::Kind},
};

const LIST: Listing<Listed> = Listing {
    here: "/admin/refunds",
    title: "Refunds",
    intro: "Money that went back or is on its way, whether we asked for it or somebody did at the provider.",
    found_by: "a refund's id, the provider's (re_…), a payment (pi_…), or an order's number",
    columns: &[
        "Asked for",
        "Status",
        "Amount",
        "Of",
        "Why it failed",
        "Attempts",
        "At the provider",
        "",
    ],
    row,
};

/// `GET /admin/refunds`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    LIST.page(&app.till.db, &params).await?.answer()
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
        match &it.order_number {
            Some(number) => Cell::link(
                "See it",
                format!("/admin/orders/{number}/refunds/{}", it.id),
            ),
            None => story("Its story", it),
        },
    ]
}

fn story(text: &str, it: &Listed) -> Cell {
    Cell::link(text, format!("/admin/checkouts/{}", it.checkout_id))
}

/// How a refund stands, in its colour.
pub fn state(status: Status) -> Cell {
    let tone = match status {
        Status::Pending => "wait",
        Status::Succeeded => "good",
        Status::Failed => "bad",
    };
    Cell::state(status.name(), tone)
}
