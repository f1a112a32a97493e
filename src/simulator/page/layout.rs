//! What all pages of the simulator share: headers, stylesheet, script, and who may post.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
    routing::get,
};

use tower_http::csrf::{CsrfLayer, ProtectionError, ResponseForProtectionError};

use crate::simulator::{Shared, error::ApiError};

/// A stylesheet, a script and an icon of our own, and nothing else.
///
/// There is no `form-action`: browsers apply it also to where a form's answer redirects, and the bank's page sends
/// its customer back to a shop that may be anywhere.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
     frame-ancestors 'none'",
);

/// A page that says one thing.
#[derive(Template)]
#[template(path = "simulator/message.html")]
pub(in crate::simulator) struct Message {
    pub(in crate::simulator) title: &'static str,
    pub(in crate::simulator) text: &'static str,
}

/// A rendered page.
pub(in crate::simulator) fn page(
    status: StatusCode,
    page: &impl Template,
) -> Result<Response, ApiError> {
    let html = page.render().map_err(ApiError::internal)?;
    Ok((status, Html(html)).into_response())
}

/// Sets the headers of a page. What an answer says about caching itself is left as it is.
pub(in crate::simulator) async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
        // `Origin` is not sent with a form when this is `no-referrer`, and it is needed to tell whose form it is.
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("same-origin"),
        ),
    ] {
        headers.insert(name, value);
    }
    response
}

/// Answers 403 to a form from another site.
pub(in crate::simulator) fn same_origin(shared: &Shared) -> CsrfLayer<FromAnotherSite> {
    CsrfLayer::new()
        .add_trusted_origin(&shared.base_url)
        .expect("http:// and an address are an origin")
        .with_rejection_response(FromAnotherSite)
}

/// The page that says so.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct FromAnotherSite;

impl ResponseForProtectionError<Body> for FromAnotherSite {
    fn response_for_protection_error(&mut self, _: ProtectionError) -> Response {
        let told = Message {
            title: "From another site",
            text: "This form was sent by a page of another site, so nothing was done.",
        };
        page(StatusCode::FORBIDDEN, &told).into_response()
    }
}

/// `GET /assets/…`
pub(in crate::simulator) fn assets() -> Router<Arc<Shared>> {
    let file = |content_type: &'static str, text: &'static str| {
        let headers = [
            (header::CONTENT_TYPE, content_type),
            (header::CACHE_CONTROL, "no-cache"),
        ];
        get(move || async move { (headers, text) })
    };
    Router::new()
        .route(
            "/assets/style.css",
            file("text/css; charset=utf-8", include_str!("style.css")),
        )
        .route(
            "/assets/live.js",
            file("text/javascript; charset=utf-8", include_str!("live.js")),
        )
        .route(
            "/assets/icon.svg",
            file("image/svg+xml", include_str!("icon.svg")),
        )
        .layer(axum::middleware::from_fn(with_headers))
}
