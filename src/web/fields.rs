//! What a form has posted: its fields, before anybody has looked at them, or the press of its button alone.

use std::collections::HashMap;

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{StatusCode, header},
    response::IntoResponse as _,
};
use url::form_urlencoded;

use super::error::PageError;

/// Name and value of each; of several with one name, the last. What is not UTF-8 is replaced, not refused: it then
/// fails as what it is, beside its field.
#[derive(Debug)]
pub struct Fields(HashMap<String, String>);

impl Fields {
    /// Those of a body.
    pub fn of(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// The text of a field without the white space around it; empty when the form does not have it.
    pub fn text(&self, name: &str) -> &str {
        self.0
            .get(name)
            .map(|value| value.trim())
            .unwrap_or_default()
    }
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = PageError;

    async fn from_request(request: Request, state: &S) -> Result<Self, PageError> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(PageError::NotAForm);
        }
        Ok(Self::of(&body(request, state).await?))
    }
}

/// The press of a button without fields. Nothing need be sent along, and no more may be than with any form.
#[derive(Debug)]
pub struct Press;

impl<S: Send + Sync> FromRequest<S> for Press {
    type Rejection = PageError;

    async fn from_request(request: Request, state: &S) -> Result<Self, PageError> {
        body(request, state).await.map(|_| Self)
    }
}

async fn body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, PageError> {
    let body = Bytes::from_request(request, state).await;
    body.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => PageError::TooLarge,
        _ => PageError::CutOff,
    })
}
