//! What the provider has told.

use axum::{extract::State, response::Response};
use url::form_urlencoded;

use super::{error::Failure, list::Cell, listing::Listing, params::Params};
use crate::{app::App, webhooks::operator::Processed};

const LIST: Listing<Processed> = Listing {
    here: "/admin/events",
    title: "Events",
    intro: "What the provider has told, each once, however often it came. Those that are old are pruned.",
    found_by: "an event (evt_…), a payment (pi_…), a refund (re_…), or a type such as refund.created",
    columns: &["Processed", "It came to", "Type", "Object", "Event"],
    row,
};

/// `GET /admin/events`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    LIST.page(&app.till.db, &params).await?.answer()
}

fn row(it: &Processed) -> Vec<Cell> {
    let tone = match it.verdict.as_str() {
        "applied" => "good",
        "discrepancy" => "bad",
        _ => "wait",
    };
    vec![
        Cell::time(it.received_at),
        Cell::state(&it.verdict, tone),
        Cell::text(&it.kind),
        Cell::text(it.object_id.as_deref().unwrap_or_default()),
        Cell::link(&it.event_id, search(&it.event_id)),
    ]
}

/// The address that shows what an id has to do with.
pub fn search(id: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("q", id)
        .finish();
    format!("/admin/checkouts?{query}")
}
