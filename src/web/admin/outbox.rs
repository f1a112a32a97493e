//! The outbox: what is parked can be tried again.

use axum::{
    extract::State,
    response::{Redirect, Response},
};

use super::{
    error::Failure,
    list::{Around, Cell, Form, ListPage, TRIES, Table},
    params::Params,
};
use crate::{
    app::App,
    outbox::operator::{self, OutboxRow},
    paging::SIZE,
    web::error::PageError,
    web::path::Path,
};

const HERE: &str = "/admin/outbox";

/// `GET /admin/outbox`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let limit = i64::try_from(SIZE).unwrap_or(i64::MAX);
    let parked = operator::parked(&app.till.db, limit).await?;
    let found = operator::list(&app.till.db, &params.turn()).await?;
    let mut page = ListPage::of(
        HERE,
        "Outbox",
        "What the rest of the world must hear. A message that was refused again and again is parked, and later ones about the \
         same purchase wait for it. Mend the cause, then try it again. Published ones that are old are pruned.",
    )
    .tells_of_retries(&params);
    page.around = Around::of(&found, HERE, &[]);
    page.tables = vec![
        Table {
            heading: "Parked",
            empty: "None.",
            columns: &["Message", "State", "Since", TRIES, "About", ""],
            form: (!parked.is_empty()).then(|| Form {
                action: format!("{HERE}/retry"),
                label: "Try all of them again",
                about: String::new(),
                fields: Vec::new(),
            }),
            rows: parked.iter().map(parked_row).collect(),
        },
        Table {
            heading: "All",
            empty: "None.",
            columns: &["Message", "State", "Since", TRIES, "About"],
            rows: found.rows.iter().map(row).collect(),
            form: None,
        },
    ];
    page.answer()
}

fn parked_row(it: &OutboxRow) -> Vec<Cell> {
    let mut cells = row(it);
    cells.push(Cell::form(Form {
        action: format!("{HERE}/{}/retry", it.id),
        label: "Try again",
        about: format!("row {}", it.id),
        fields: Vec::new(),
    }));
    cells
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
    ]
}

/// `POST /admin/outbox/retry`: all that are parked.
pub async fn retry_all(State(app): State<App>) -> Result<Redirect, Failure> {
    retry(&app, None).await
}

/// `POST /admin/outbox/{id}/retry`: one of them.
pub async fn retry_one(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Redirect, Failure> {
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    retry(&app, Some(id)).await
}

async fn retry(app: &App, id: Option<i64>) -> Result<Redirect, Failure> {
    let retried = operator::retry(&app.till.db, id).await?;
    tracing::info!(row = id, retried, "parked messages are tried again");
    Ok(Redirect::to(&format!("{HERE}?retried={retried}")))
}
