//! The outbox: what is parked can be tried again.

use axum::{
    extract::State,
    response::{Redirect, Response},
};

use super::{
    error::Failure,
    list::{Cell, Form, TRIES, Table},
    listing::Listing,
    params::Params,
};
use crate::{
    app::App,
    db::Db,
    outbox::operator::{self, OutboxRow},
    paging::SIZE,
    web::{error::PageError, fields::Press, path::Path},
};

const HERE: &str = "/admin/outbox";

const LIST: Listing<OutboxRow> = Listing {
    here: HERE,
    title: "Outbox",
    intro: "What the rest of the world must hear. A message that was refused again and again is parked, and later ones about \
            the same purchase wait for it. Mend the cause, then try it again. Published ones that are old are pruned.",
    found_by: "an order's number, a checkout's id, an event type such as order.placed, or the word parked",
    columns: &["Message", "State", "Since", TRIES, "About", ""],
    row,
};

/// `GET /admin/outbox`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let db = &app.till.db;
    let page = LIST.page_behind(parked(db), db, &params).await?;
    page.tells_of_retries(&params).answer()
}

async fn parked(db: &Db) -> sqlx::Result<Table> {
    let parked = operator::parked(db, SIZE.into()).await?;
    Ok(Table {
        form: (!parked.is_empty()).then(|| Form {
            action: format!("{HERE}/retry"),
            label: "Try all of them again",
            about: String::new(),
            fields: Vec::new(),
        }),
        ..LIST.table("Parked", &parked)
    })
}

fn row(it: &OutboxRow) -> Vec<Cell> {
    let (state, at) = it.state();
    let (state, tone) = match state {
        "published" => (state, "good"),
        "parked since" => ("parked", "bad"),
        "waits until" => ("waits until", "wait"),
        _ => ("new", "wait"),
    };
    let about = it.message.aggregate_id;
    vec![
        Cell::text(&format!(
            "{} {} (version {})",
            it.id, it.message.event_type, it.message.version
        )),
        Cell::state(state, tone),
        Cell::time(at),
        Cell::tries(it.attempts, it.last_error.as_deref()),
        Cell::link(&about, format!("/admin/checkouts/{about}")),
        match state {
            "parked" => Cell::form(Form {
                action: format!("{HERE}/{}/retry", it.id),
                label: "Try again",
                about: format!("row {}", it.id),
                fields: Vec::new(),
            }),
            _ => Cell::default(),
        },
    ]
}

/// `POST /admin/outbox/retry`: all that are parked.
pub async fn retry_all(
    State(app): State<App>,
    press: Result<Press, PageError>,
) -> Result<Redirect, Failure> {
    press?;
    retry(&app, None).await
}

/// `POST /admin/outbox/{id}/retry`: one of them.
pub async fn retry_one(
    State(app): State<App>,
    Path(id): Path<String>,
    press: Result<Press, PageError>,
) -> Result<Redirect, Failure> {
    press?;
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    retry(&app, Some(id)).await
}

async fn retry(app: &App, id: Option<i64>) -> Result<Redirect, Failure> {
    let retried = operator::retry(&app.till.db, id).await?;
    tracing::info!(row = id, retried, "parked messages are tried again");
    Ok(Redirect::to(&format!("{HERE}?retried={retried}")))
}
