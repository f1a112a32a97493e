//! Where a step is done: the item of the source that it is in.

use axum::{
    extract::State,
    http::{StatusCode, Uri},
    response::Response,
};

use super::of;
use crate::{
    app::App,
    lab::source,
    web::{error::PageError, show, views, visitor::Visitor},
};

/// `GET /lab/src/checkout/submit.rs:52`, and the same of `migrations`.
pub(super) async fn source(
    State(app): State<App>,
    visitor: Visitor,
    uri: Uri,
) -> Result<Response, PageError> {
    of(&app)?;
    let place = uri.path().strip_prefix("/lab/").unwrap_or_default();
    let (path, line) = place.rsplit_once(':').unwrap_or((place, "1"));
    let text = source::file(path).ok_or(PageError::NotFound)?;
    let line = line.parse().map_err(|_| PageError::NotFound)?;
    let excerpt = source::around(&text, line).ok_or(PageError::NotFound)?;
    let page = views::SourcePage {
        chrome: visitor.chrome(&app).await?,
        path: path.to_owned(),
        first: excerpt.first,
        lines: excerpt.lines,
        line,
        of: excerpt.of,
    };
    show::page(StatusCode::OK, &page)
}
