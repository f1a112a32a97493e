//! Where the provider and we disagree, and the note of who has looked into it.

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};
use uuid::Uuid;

use super::{
    access::USER,
    chrome::Chrome,
    error::Failure,
    events::search,
    list::{Cell, Table, exactly},
    listing::Listing,
    params::Params,
};
use crate::{
    app::App,
    db::Db,
    discrepancies::operator::{self, Listed, NOTE_MAX, Note},
    paging::SIZE,
    web::path::Path,
    web::{error::PageError, fields::Fields, show},
};

const HERE: &str = "/admin/discrepancies";

const LIST: Listing<Listed> = Listing {
    here: HERE,
    title: "Discrepancies",
    intro: "Where the provider and we disagree. Nothing is delivered on such news. Look into each, do what is right, and \
            resolve it with a note; a refund resolves its own by itself.",
    found_by: "a payment (pi_…), a refund (re_…), a checkout's id, an order's number, or a kind such as second_payment",
    columns: &["Found", "Kind", "State", "Object", "What differs", ""],
    row,
};

/// `GET /admin/discrepancies`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let db = &app.till.db;
    LIST.page_behind(open(db), db, &params).await?.answer()
}

async fn open(db: &Db) -> sqlx::Result<Table> {
    Ok(LIST.table("Open", &operator::open(db, SIZE.into()).await?))
}

fn row(it: &Listed) -> Vec<Cell> {
    let (text, state) = match it.resolved_at {
        None => ("Look into it", Cell::state("open", "bad")),
        Some(_) => ("See it", Cell::state("resolved", "good")),
    };
    vec![
        Cell::time(it.created_at),
        Cell::text(&it.kind),
        state,
        Cell::link(&it.object_id, search(&it.object_id)),
        Cell::text(&it.detail),
        Cell::link(text, format!("{HERE}/{}", it.id)),
    ]
}

#[derive(Template)]
#[template(path = "admin/discrepancy.html")]
struct DiscrepancyPage {
    chrome: Chrome,
    id: Uuid,
    kind: String,
    object: String,
    object_url: String,
    checkout_id: Option<String>,
    detail: String,
    found_at: String,
    resolution: Option<Resolution>,
    typed: String,
    error: Option<String>,
}

struct Resolution {
    at: String,
    who: String,
    note: String,
}

/// `GET /admin/discrepancies/{id}`.
pub async fn one(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Failure> {
    let it = find(&app, &id).await?;
    Ok(show::page(StatusCode::OK, &page(it, "", None))?)
}

/// `POST /admin/discrepancies/{id}/resolve`. Of two notes the first stays.
pub async fn resolve(
    State(app): State<App>,
    Path(id): Path<String>,
    fields: Result<Fields, PageError>,
) -> Result<Response, Failure> {
    let it = find(&app, &id).await?;
    let fields = fields?;
    let typed = fields.text("note");
    let Some(note) = Note::of(typed) else {
        let error =
            format!("Enter why it needs nobody any more, in {NOTE_MAX} characters at most.");
        let page = page(it, typed, Some(error));
        return Ok(show::page(StatusCode::UNPROCESSABLE_ENTITY, &page)?);
    };
    operator::resolve(&app.till.db, it.id, USER, &note, app.till.clock.now()).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", it.id)).into_response())
}

async fn find(app: &App, id: &str) -> Result<Listed, Failure> {
    let id = Uuid::try_parse(id).map_err(|_| PageError::NotFound)?;
    let found = operator::find(&app.till.db, id).await?;
    Ok(found.ok_or(PageError::NotFound)?)
}

fn page(it: Listed, typed: &str, error: Option<String>) -> DiscrepancyPage {
    let (who, note) = (it.resolved_by, it.note);
    DiscrepancyPage {
        chrome: Chrome::at(HERE),
        id: it.id,
        kind: it.kind,
        object_url: search(&it.object_id),
        object: it.object_id,
        checkout_id: it.checkout_id.map(|id| id.to_string()),
        detail: it.detail,
        found_at: exactly(it.created_at),
        resolution: it.resolved_at.map(|at| Resolution {
            at: exactly(at),
            who: who.unwrap_or_else(|| "nobody: it resolved itself".to_owned()),
            note: note.unwrap_or_default(),
        }),
        typed: typed.to_owned(),
        error,
    }
}
