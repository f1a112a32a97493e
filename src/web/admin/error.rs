//! What went wrong, said to an operator.

use askama::Template;
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};

use super::chrome::Chrome;
use crate::web::error::PageError;

/// What one of these pages cannot go on with. As [`PageError`], in other words.
#[derive(Debug)]
pub struct Failure(PageError);

impl<E: Into<PageError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = self.0.status();
        self.0.log();
        let (title, advice) = words(status);
        let page = ErrorPage {
            chrome: Chrome::at(""),
            status: status.as_u16(),
            title,
            advice,
            is_stranger: matches!(self.0, PageError::Unauthenticated | PageError::TooManyTries),
        };
        match page.render() {
            Ok(html) => (status, Html(html)).into_response(),
            Err(_) => status.into_response(),
        }
    }
}

fn words(status: StatusCode) -> (&'static str, &'static str) {
    match status.as_u16() {
        401 => (
            "These pages are for the operator",
            "Reload this page to be asked for the user and the password. The shop was given the password when it was \
             started, or has printed one then.",
        ),
        429 => (
            "Too many wrong passwords",
            "For some minutes no password is accepted from this address, the right one included.",
        ),
        400 | 413 | 415 => (
            "This form did not arrive as it was sent",
            "Nothing was done. Go back and send it again.",
        ),
        403 => (
            "This request came from elsewhere",
            "Forms are accepted from these pages only. Nothing was done.",
        ),
        404 => (
            "There is nothing here",
            "The address may be mistyped. What is not here any more was pruned.",
        ),
        405 => (
            "This address cannot be opened like that",
            "Nothing was done.",
        ),
        422 => (
            "This form was already used",
            "It belongs to something else, which stays as it is. Open a new form.",
        ),
        503 => ("Busy", "Try again in a moment. Nothing was done."),
        _ => (
            "Something went wrong here",
            "The log says more. Look how things stand before you do it again.",
        ),
    }
}

#[derive(Template)]
#[template(path = "admin/error.html")]
struct ErrorPage {
    chrome: Chrome,
    status: u16,
    title: &'static str,
    advice: &'static str,
    is_stranger: bool,
}

/// Everything that has no address of its own.
pub async fn not_found() -> Failure {
    PageError::NotFound.into()
}

/// An address that takes another method.
pub async fn wrong_method() -> Failure {
    PageError::WrongMethod.into()
}
