//! Checkouts.

use axum::{
    extract::State,
    response::{IntoResponse as _, Redirect, Response},
};

use super::{
    error::Failure,
    list::{Cell, Link, Search},
    listing::Listing,
    params::Params,
};
use crate::{
    app::App,
    checkout::{Status, operator::Listed},
    search,
};

const HERE: &str = "/admin/checkouts";

const LIST: Listing<Listed> = Listing {
    here: HERE,
    title: "Checkouts",
    intro: "Each attempt to buy a cart. By an id of ours is meant a checkout's, its key, its cart, its visitor, or a refund's; \
            what one id leads to is shown at once.",
    found_by: "an e-mail address, an order's number, an id of ours, the provider's id of a payment, a refund or an event, or a \
               status",
    columns: &[
        "Submitted",
        "Status",
        "Amount",
        "E-mail",
        "Name",
        "Order",
        "Checkout",
    ],
    row,
};

/// `GET /admin/checkouts`. What one id leads to is shown at once.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let typed = params.text("q");
    let found = LIST.find(&app.till.db, &params).await?;
    if let Some([only]) = found.as_ref().map(|found| found.rows.as_slice())
        && search::names_one::<Listed>(typed)
    {
        return Ok(Redirect::to(&url(only)).into_response());
    }
    let mut page = LIST.show(&params, found);
    page.filters = filters(typed);
    page.answer()
}

/// The search of the overview: whatever somebody has in hand leads to a checkout.
pub fn anything() -> Search {
    Search {
        action: LIST.here,
        found_by: LIST.found_by,
        typed: String::new(),
    }
}

fn row(it: &Listed) -> Vec<Cell> {
    vec![
        Cell::time(it.created_at),
        state(it.status),
        Cell::text(&it.amount()),
        Cell::text(&it.email),
        Cell::text(&it.name),
        match &it.order_number {
            Some(number) => Cell::link(number, format!("/admin/orders/{number}")),
            None => Cell::default(),
        },
        Cell::link(&it.id, url(it)),
    ]
}

fn url(it: &Listed) -> String {
    format!("{HERE}/{}", it.id)
}

/// How a checkout stands, in its colour.
pub fn state(status: Status) -> Cell {
    let tone = match status {
        Status::Pending => "wait",
        Status::Paid => "good",
        Status::Declined | Status::Canceled => "bad",
    };
    Cell::state(&status, tone)
}

fn filters(typed: &str) -> Vec<Link> {
    let all = Link {
        url: HERE.to_owned(),
        label: "All".to_owned(),
        is_here: typed.is_empty(),
    };
    let statuses = Status::ALL.map(|status| Link {
        url: format!("{HERE}?q={status}"),
        label: status.to_string(),
        is_here: Status::named(typed) == Some(status),
    });
    std::iter::once(all).chain(statuses).collect()
}
