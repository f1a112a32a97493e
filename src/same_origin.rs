//! Whether a request comes from a page of our own: browsers send along what other sites make them send.
//!
//! A browser says where a form came from in `Sec-Fetch-Site`, older ones and plain HTTP in `Origin`. A client that
//! sends neither is no browser, and carries nobody's cookie unless it was given one.

use axum::http::{HeaderMap, header};

/// Whether a request with these headers comes from a page of ours, or from no page at all. `public_url` is where
/// our pages are, which is not what `Host` says when a proxy stands before us.
pub fn is_same_origin(headers: &HeaderMap, public_url: &str) -> bool {
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
            assert_eq!(
                is_same_origin(&headers, "https://shop.example"),
                ours,
                "{pairs:?}"
            );
        }
    }
}
