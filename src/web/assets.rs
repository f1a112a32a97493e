//! The files of `static/`, carried in the binary.
//!
//! A page asks for `/static/css/base.css?v=9f2c…`, where `v` is taken from the file's content. A browser may then
//! keep the file for ever, because a changed file has another address. Without `v`, or with an old one, it may
//! keep the file too but has to ask each time whether it is still current.

use axum::{
    body::Body,
    extract::{Path, RawQuery},
    http::{
        HeaderMap, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH},
    },
    response::{IntoResponse, Response},
};
use rust_embed::EmbeddedFile;

/// Everything under `static/`, as it was when the binary was built.
#[derive(rust_embed::Embed)]
#[folder = "static/"]
pub struct Assets;

/// The address of a file of `static/`, with the hash of its content.
///
/// A file that is not there gets its plain address: the page loads and the missing file is a 404 of its own.
pub fn url(path: &str) -> String {
    match Assets::get(path) {
        Some(file) => format!("/static/{path}?v={}", version(&file)),
        None => format!("/static/{path}"),
    }
}

/// `GET /static/{*path}`.
pub async fn serve(
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let Some(file) = Assets::get(&path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let version = version(&file);
    let etag = format!("\"{version}\"");
    let is_current = query.is_some_and(|query| query == format!("v={version}"));
    let caching = [(CACHE_CONTROL, cache_control(is_current)), (ETAG, &etag)];
    if is_known(&headers, &etag) {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    let content_type = [(CONTENT_TYPE, content_type(&path))];
    (caching, content_type, Body::from(file.data)).into_response()
}

/// 64 bits of the hash: enough to tell the versions of one file apart.
fn version(file: &EmbeddedFile) -> String {
    hex::encode(file.metadata.sha256_hash())
        .chars()
        .take(16)
        .collect()
}

fn cache_control(is_current: bool) -> &'static str {
    if is_current {
        "public, max-age=31536000, immutable"
    } else {
        "public, no-cache"
    }
}

/// Whether the browser says that it has this version. `W/` may have been put before it by a proxy that compresses.
fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.trim_start_matches("W/") == etag)
}

/// The types of the files we have. Anything else is offered as a download, never guessed at by the browser.
fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("csv") => "text/csv; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(path: &str, query: Option<&str>, known: Option<&str>) -> Response {
        let mut headers = HeaderMap::new();
        if let Some(etag) = known {
            headers.insert(IF_NONE_MATCH, etag.parse().expect("a header"));
        }
        serve(
            Path(path.to_owned()),
            RawQuery(query.map(str::to_owned)),
            headers,
        )
        .await
    }

    fn header(response: &Response, name: impl axum::http::header::AsHeaderName) -> &str {
        response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    #[tokio::test]
    async fn the_address_in_a_page_may_be_kept_for_ever() {
        let address = url("css/base.css");
        let (path, query) = address.split_once('?').expect("a version");
        assert_eq!(path, "/static/css/base.css");

        let response = get("css/base.css", Some(query), None).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, CONTENT_TYPE), "text/css; charset=utf-8");
        assert!(header(&response, CACHE_CONTROL).contains("immutable"));
    }

    #[tokio::test]
    async fn an_address_without_or_with_an_old_version_is_asked_for_again() {
        for query in [None, Some("v=0000000000000000"), Some("")] {
            let response = get("app.js", query, None).await;
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(header(&response, CACHE_CONTROL), "public, no-cache");
        }
    }

    #[tokio::test]
    async fn a_file_the_browser_has_is_not_sent_again() {
        let etag = header(&get("app.js", None, None).await, ETAG).to_owned();
        for known in [
            etag.clone(),
            format!("W/{etag}"),
            format!("\"other\", {etag}"),
        ] {
            let response = get("app.js", None, Some(&known)).await;
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{known}");
        }
        assert_eq!(
            get("app.js", None, Some("\"other\"")).await.status(),
            StatusCode::OK
        );
    }

    #[tokio::test]
    async fn what_is_not_there_is_not_found() {
        for path in ["nothing.css", "../Cargo.toml", "", "css"] {
            assert_eq!(
                get(path, None, None).await.status(),
                StatusCode::NOT_FOUND,
                "{path}"
            );
        }
        assert_eq!(url("nothing.css"), "/static/nothing.css");
    }
}
