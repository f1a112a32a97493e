//! The id in a path, for what is beside the API. `axum`'s own extractor refuses in plain text what is not UTF-8.

use axum::{
    extract::{FromRequestParts, OriginalUri, Path},
    http::request::Parts,
};

use super::error::ApiError;

/// One segment of the path, decoded.
#[derive(Debug)]
pub(super) struct PathId(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        if let Ok(Path(id)) = Path::from_request_parts(parts, state).await {
            return Ok(Self(id));
        }
        // As the client sent it: a router inside another one sees only the rest.
        let Ok(OriginalUri(uri)) = OriginalUri::from_request_parts(parts, state).await;
        Err(ApiError::unrecognized_url(
            parts.method.as_str(),
            uri.path(),
        ))
    }
}
