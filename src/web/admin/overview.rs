//! The first of the operator's pages.

use axum::{http::StatusCode, response::Response};

use super::{chrome::Chrome, error::Failure};
use crate::web::show;

#[derive(askama::Template)]
#[template(path = "admin/overview.html")]
struct Overview {
    chrome: Chrome,
}

/// `GET /admin`.
pub async fn overview() -> Result<Response, Failure> {
    let page = Overview {
        chrome: Chrome::at("/admin"),
    };
    Ok(show::page(StatusCode::OK, &page)?)
}
