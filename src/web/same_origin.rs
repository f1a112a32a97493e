//! Forms are accepted from our own pages only: browsers send along what other sites make them send.
//!
//! A browser says where a form came from in `Sec-Fetch-Site`, older ones and plain HTTP in `Origin`. A client that sends
//! neither is no browser, and carries nobody's cookie unless it was given one.

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use tower_http::csrf::{CsrfLayer, ProtectionError, ResponseForProtectionError};

use super::error::PageError;
use crate::app::App;

/// Answers 403 to a form from another site. `--public-url` is where our pages are, which is not what `Host` says when a
/// proxy stands before us.
pub fn layer(app: &App) -> CsrfLayer<Refusal> {
    let public = url::Url::parse(app.till.links.shop()).expect("it was read as a URL");
    CsrfLayer::new()
        .add_trusted_origin(public.origin().ascii_serialization())
        .expect("the origin of a URL is one")
        .with_rejection_response(Refusal)
}

/// The page that says so.
#[derive(Clone, Copy, Debug)]
pub struct Refusal;

impl ResponseForProtectionError<Body> for Refusal {
    fn response_for_protection_error(&mut self, _: ProtectionError) -> Response {
        PageError::CrossSite.into_response()
    }
}
