//! The body of a control request. `axum`'s own extractor refuses in plain text what is too long.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
};

use crate::simulator::error::ApiError;

/// All of it: two megabytes at most, as is `axum`'s limit.
#[derive(Debug)]
pub(super) struct WholeBody(pub(super) Bytes);

impl<S: Send + Sync> FromRequest<S> for WholeBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        Bytes::from_request(request, state)
            .await
            .map(Self)
            .map_err(|refused| {
                let message = "The request body is larger than two megabytes, or was cut short.";
                ApiError::invalid(message).status(refused.status())
            })
    }
}
