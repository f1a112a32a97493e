//! Where a step is done: the item of the source that it is in.

use axum::{
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
};

use super::{of, run::number};
use crate::{
    app::App,
    lab::source,
    web::{error::PageError, path::Path, show, views, visitor::Visitor},
};

/// `GET /lab/source/{path}?line=…`.
pub(super) async fn source(
    State(app): State<App>,
    visitor: Visitor,
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    of(&app)?;
    let text = source::file(&path).ok_or(PageError::NotFound)?;
    let line = number(&query.unwrap_or_default(), "line").unwrap_or(1);
    let excerpt = source::around(&text, line).ok_or(PageError::NotFound)?;
    let page = views::SourcePage {
        chrome: visitor.chrome(&app).await?,
        path,
        first: excerpt.first,
        lines: excerpt.lines,
        line,
        of: excerpt.of,
    };
    show::page(StatusCode::OK, &page)
}
