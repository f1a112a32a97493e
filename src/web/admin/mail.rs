//! Mails: what was given up can be tried again, and what was sent can be sent again.

use axum::{
    extract::State,
    response::{Redirect, Response},
};
use uuid::Uuid;

use super::{
    error::Failure,
    list::{Cell, Form, TRIES, Table},
    listing::Listing,
    params::Params,
};
use crate::{
    app::App,
    db::Db,
    mail::{
        Kind,
        copies::{self, Resent},
        operator::{self, Listed, Which},
    },
    paging::SIZE,
    web::{
        error::PageError,
        fields::{Fields, Press},
        path::Path,
    },
};

const HERE: &str = "/admin/mail";

const LIST: Listing<Listed> = Listing {
    here: HERE,
    title: "Mail",
    intro: "One of each kind about each purchase or refund. One that was refused, or tried for more than a day, is given up. To \
            send one again makes a copy, which says so in its subject.",
    found_by: "an e-mail address, an order's number, the id of a checkout or refund, or a kind such as order_confirmation",
    columns: &["State", "At", "Kind", "To", "About", TRIES, ""],
    row,
};

/// `GET /admin/mail`.
pub async fn list(State(app): State<App>, params: Params) -> Result<Response, Failure> {
    let db = &app.till.db;
    let page = LIST.page_behind(given_up(db), db, &params).await?;
    let mut page = page.tells_of_retries(&params);
    match params.text("resent") {
        "yes" => page.notice = Some("A copy is sent now.".to_owned()),
        "no" => {
            page.notice = Some("It was not sent so far, so it cannot be sent again.".to_owned());
        }
        _ => {}
    }
    page.answer()
}

async fn given_up(db: &Db) -> sqlx::Result<Table> {
    let given_up = operator::given_up(db, SIZE.into()).await?;
    Ok(Table {
        form: (!given_up.is_empty()).then(|| Form {
            action: format!("{HERE}/retry"),
            label: "Try all of them again",
            about: String::new(),
            fields: Vec::new(),
        }),
        ..LIST.table("Given up", &given_up)
    })
}

fn row(it: &Listed) -> Vec<Cell> {
    let (state, at) = it.state();
    let (state, tone) = match state {
        "sent" => (state, "good"),
        "given up at" => ("given up", "bad"),
        "waits until" => ("waits until", "wait"),
        _ => ("new", "wait"),
    };
    let kind = match it.mail.copy {
        0 => it.mail.kind.to_string(),
        number => format!("{} (copy {number})", it.mail.kind),
    };
    vec![
        Cell::state(state, tone),
        Cell::time(at),
        Cell::text(&kind),
        Cell::text(&it.email),
        Cell::link(
            &it.subject(),
            format!("/admin/checkouts/{}", it.mail.checkout_id),
        ),
        Cell::tries(it.attempts, it.last_error.as_deref()),
        action(it, state),
    ]
}

/// The mail itself can be sent again; its copies need not be.
fn action(it: &Listed, state: &str) -> Cell {
    let (about, kind) = (it.mail.about, it.mail.kind);
    match (state, it.mail.copy) {
        ("given up", _) => Cell::form(Form {
            action: format!("{HERE}/{about}/retry"),
            label: "Try again",
            about: format!("{kind} about {}", it.subject()),
            fields: Vec::new(),
        }),
        ("sent", 0) => Cell::form(Form {
            action: format!("{HERE}/{about}/{kind}/resend"),
            label: "Send again",
            about: format!("{kind} about {}", it.subject()),
            fields: vec![("form_key", Uuid::new_v4().to_string())],
        }),
        _ => Cell::default(),
    }
}

/// `POST /admin/mail/retry`: all that were given up.
pub async fn retry_all(
    State(app): State<App>,
    press: Result<Press, PageError>,
) -> Result<Redirect, Failure> {
    press?;
    retry(&app, None).await
}

/// `POST /admin/mail/{about}/retry`: those about one purchase or refund.
pub async fn retry_one(
    State(app): State<App>,
    Path(about): Path<String>,
    press: Result<Press, PageError>,
) -> Result<Redirect, Failure> {
    press?;
    let about = Uuid::try_parse(&about).map_err(|_| PageError::NotFound)?;
    retry(&app, Some(Which::About(about))).await
}

async fn retry(app: &App, which: Option<Which>) -> Result<Redirect, Failure> {
    let retried = operator::retry(&app.till.db, which.as_ref()).await?;
    tracing::info!(?which, retried, "mails are tried again");
    Ok(Redirect::to(&format!("{HERE}?retried={retried}")))
}

/// `POST /admin/mail/{about}/{kind}/resend`: one copy for each form that was rendered.
pub async fn resend(
    State(app): State<App>,
    Path((about, kind)): Path<(String, String)>,
    fields: Result<Fields, PageError>,
) -> Result<Redirect, Failure> {
    let about = Uuid::try_parse(&about).map_err(|_| PageError::NotFound)?;
    let kind = Kind::named(&kind).ok_or(PageError::NotFound)?;
    let form = Uuid::try_parse(fields?.text("form_key")).map_err(|_| PageError::CutOff)?;
    let now = app.till.clock.now();
    let resent = match copies::resend(&app.till.db, about, kind, form, now).await? {
        Resent::Owed => "yes",
        Resent::NotSentYet => "no",
    };
    Ok(Redirect::to(&format!("{HERE}?resent={resent}")))
}
