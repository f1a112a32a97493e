//! The mails that the shop has written, to be looked at while there is no mail server. Part of the lab: whoever sees
//! them can open every order.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header::CONTENT_SECURITY_POLICY},
    response::{Html, IntoResponse as _, Response},
    routing::get,
};

use super::{error::PageError, path::Path, show, views, visitor::Visitor};
use crate::{app::App, clock, mail::mailbox::Letter};

/// What others have written, customers for instance, is in a mail. It may look as it likes, and do nothing.
const STYLE_ALONE: &str = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'";

/// The pages, where mails are shown; else none, whatever the method.
pub fn router(app: &App) -> Router<App> {
    if app.mailbox.is_none() {
        return Router::new();
    }
    Router::new()
        .route("/mailbox", get(list))
        .route("/mailbox/{name}", get(letter))
        .route("/mailbox/{name}/html", get(html))
}

/// `GET /mailbox`.
async fn list(State(app): State<App>, visitor: Visitor) -> Result<Response, PageError> {
    let mailbox = app.mailbox.as_ref().ok_or(PageError::NotFound)?;
    let letters = mailbox.newest().await?;
    let page = views::MailboxPage {
        chrome: visitor.chrome(&app).await?,
        letters: letters.iter().map(view).collect(),
    };
    show::page(StatusCode::OK, &page)
}

/// `GET /mailbox/{name}`: its head, and what it says as plain text.
async fn letter(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let letter = find(&app, &name).await?;
    let page = views::LetterPage {
        chrome: visitor.chrome(&app).await?,
        letter: view(&letter),
        text: letter.text,
    };
    show::page(StatusCode::OK, &page)
}

/// `GET /mailbox/{name}/html`: as a mail program shows it.
async fn html(State(app): State<App>, Path(name): Path<String>) -> Result<Response, PageError> {
    let letter = find(&app, &name).await?;
    let policy = [(CONTENT_SECURITY_POLICY, STYLE_ALONE)];
    Ok((policy, Html(letter.html)).into_response())
}

async fn find(app: &App, name: &str) -> Result<Letter, PageError> {
    let mailbox = app.mailbox.as_ref().ok_or(PageError::NotFound)?;
    let letter = mailbox.letter(name).await?;
    letter.ok_or(PageError::NotFound)
}

fn view(letter: &Letter) -> views::Letter {
    views::Letter {
        name: letter.name.clone(),
        from: letter.from.clone(),
        to: letter.to.clone(),
        subject: letter.subject.clone(),
        message_id: letter.message_id.clone(),
        date: letter.date.map(clock::in_words).unwrap_or_default(),
    }
}
