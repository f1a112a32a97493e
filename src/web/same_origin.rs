//! Forms are accepted from our own pages only.
//!
//! A browser says where a form came from in `Sec-Fetch-Site`, older ones and plain HTTP in `Origin`. A client that
//! sends neither is no browser, and carries nobody's cookie unless it was given one.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::error::PageError;
use crate::app::App;

/// Answers 403 to a form from another site.
pub async fn require(State(app): State<App>, request: Request, next: Next) -> Response {
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    if reads || is_ours(request.headers(), &app.till.public_url) {
        next.run(request).await
    } else {
        PageError::CrossSite.into_response()
    }
}

fn is_ours(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    if let Some(site) = text("sec-fetch-site") {
        // `none`: typed or bookmarked, so the person meant it.
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = text(header::ORIGIN.as_str()) else {
        return true;
    };
    let host = text(header::HOST.as_str()).unwrap_or_default();
    let of_request = origin
        .split_once("://")
        .is_some_and(|(_, name)| name == host);
    of_request
        || url::Url::parse(public_url).is_ok_and(|url| url.origin().ascii_serialization() == origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_may_post() {
        let cases: [(&[(&str, &str)], bool); 8] = [
            (&[], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (
                &[
                    ("host", "127.0.0.1:3000"),
                    ("origin", "http://127.0.0.1:3000"),
                ],
                true,
            ),
            (
                &[
                    ("host", "internal:3000"),
                    ("origin", "https://shop.example"),
                ],
                true,
            ),
            (
                &[
                    ("host", "127.0.0.1:3000"),
                    ("origin", "http://evil.example"),
                ],
                false,
            ),
            (&[("host", "127.0.0.1:3000"), ("origin", "null")], false),
        ];
        for (pairs, ours) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                let name: header::HeaderName = name.parse().expect("a name");
                headers.insert(name, value.parse().expect("a value"));
            }
            assert_eq!(is_ours(&headers, "https://shop.example"), ours, "{pairs:?}");
        }
    }
}
