//! The id in a path, for what is beside the API. `axum`'s own extractor refuses in plain text what is not UTF-8.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};

use super::error::ApiError;

/// One segment of the path, decoded.
#[derive(Debug)]
pub(super) struct PathId(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(ApiError::unrecognized_url(
                parts.method.as_str(),
                parts.uri.path(),
            )),
        }
    }
}
