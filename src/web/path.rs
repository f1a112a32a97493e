//! What stands in an address in place of `{…}`.

use axum::{
    extract::{FromRequestParts, Path as AxumPath},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use super::error::PageError;

/// As axum's own, but that what cannot be read names nothing of ours: it is answered like everything that is not there.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let read = AxumPath::from_request_parts(parts, state).await;
        read.map(|AxumPath(named)| Self(named))
            .map_err(|_| PageError::NotFound)
    }
}
