//! Forms are accepted from our own pages only.

use axum::{
    extract::{Request, State},
    http::Method,
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::error::PageError;
use crate::{app::App, same_origin::is_same_origin};

/// Answers 403 to a form from another site.
pub async fn require(State(app): State<App>, request: Request, next: Next) -> Response {
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    if reads || is_same_origin(request.headers(), &app.till.public_url) {
        next.run(request).await
    } else {
        PageError::CrossSite.into_response()
    }
}
