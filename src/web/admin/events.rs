//! What the provider has told.

use axum::{extract::State, response::Response};
use url::form_urlencoded;

use super::{
    error::Failure,
    list::{Around, Cell, ListPage, Table},
    params::Params,
};
use crate::{
    app::App,
    webhooks::operator::{self, Processed},
};

const HERE: &str = "/admin/events";

/// `GET /admin/events`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let found = operator::list(&app.till.db, &params.turn()).await?;
    let mut page = ListPage::of(
        HERE,
        "Events",
        "What the provider has told, each once, however often it came. Those that are old are pruned.",
    );
    page.around = Around::of(&found, HERE, &[]);
    page.tables = vec![Table {
        heading: "All",
        empty: "None.",
        columns: &["Processed", "It came to", "Type", "Object", "Event"],
        rows: found.rows.iter().map(row).collect(),
        form: None,
    }];
    page.answer()
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
