//! The headers of every answer.

use axum::{
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};

use crate::app::App;

/// Scripts, styles and pictures of our own, and nothing else. No page of ours may be framed.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'",
);

/// Once seen over https, never again without, for a year: whoever is in between could else ask for the cookie.
const HTTPS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Sets them. What an answer says itself is left as it is.
pub async fn set(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // Every page shows at least somebody's cart. A shared cache that kept one would show it to others, with its
    // form and its key; so would the browser's own to the next person at the same machine.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    // A mail has a policy of its own, stricter than ours.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(POLICY);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    // For browsers that are older than `frame-ancestors`.
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    if app.till.links.shop().starts_with("https:") {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
    }
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    );
    response
}
