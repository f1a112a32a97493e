//! Checkouts: all of them, and those that somebody looks for.

use axum::{
    extract::State,
    response::{IntoResponse as _, Redirect, Response},
};

use super::{
    chrome::Chrome,
    error::Failure,
    list::{Around, Cell, Link, ListPage, Table},
    params::Params,
};
use crate::{
    app::App,
    checkout::{
        Status,
        operator::{self, Listed, Search},
    },
};

const HERE: &str = "/admin/checkouts";

/// `GET /admin/checkouts`. What one id leads to is shown at once.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let typed = params.text("q");
    let mut page = ListPage::of(
        HERE,
        "Checkouts",
        "Each attempt to buy a cart. Find some by an e-mail address, the number of an order, an id of ours \
         (a checkout's, its key, its cart, its visitor, a refund's), the provider's id of a payment, a refund or an event, \
         or by their status.",
    );
    page.chrome = Chrome::at(HERE).searching(typed);
    page.filters = filters(typed);
    let Some(search) = Search::of(typed) else {
        page.notice = Some("Nothing can be found by that. See above for what can be.".to_owned());
        return page.answer();
    };
    let found = operator::list(&app.till.db, &search, &params.turn()).await?;
    if let ([only], true) = (found.rows.as_slice(), search.is_id()) {
        return Ok(Redirect::to(&url(only)).into_response());
    }
    page.around = Around::of(&found, HERE, &[("q", typed)]);
    page.tables = vec![Table {
        heading: if typed.is_empty() { "All" } else { "Found" },
        empty: "None.",
        columns: &[
            "Submitted",
            "Status",
            "Amount",
            "E-mail",
            "Name",
            "Order",
            "Checkout",
        ],
        rows: found.rows.iter().map(row).collect(),
        form: None,
    }];
    page.answer()
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
