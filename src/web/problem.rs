//! Errors for machines: `application/problem+json`, RFC 9457.

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

/// An error, explained for a developer (RFC 9457).
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Problem {
    /// Which kind of problem it is, to tell them apart by: the address of an explanation.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(required, nullable = false, format = "uri-reference")]
    pub kind: Option<String>,
    /// The kind, in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened, and what to do about it.
    pub detail: String,
    /// Each part of the body that cannot be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<Invalid>,
    /// The products that there are too few of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub products: Vec<Short>,
    /// The total now, in minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub total: Option<i64>,
    /// What is left to give back, in minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub left: Option<i64>,
    /// What stands in the head of the answer, and not in its body.
    #[serde(skip)]
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// A part of the body that cannot be used.
#[derive(Debug, Serialize, ToSchema)]
pub struct Invalid {
    /// Which one: a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What is wrong with it.
    pub detail: String,
}

/// A product that there are too few of.
#[derive(Debug, Serialize, ToSchema)]
pub struct Short {
    /// Its SKU.
    pub sku: String,
    /// Its name.
    pub name: String,
    /// How many could be had.
    pub left: i64,
}

impl Problem {
    /// One of `status`, of no kind that one could do anything about.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            ..Self::default()
        }
    }

    /// The same, as one of a kind.
    #[must_use]
    pub fn of_kind(self, kind: String, title: &str) -> Self {
        Self {
            kind: Some(kind),
            title: title.to_owned(),
            ..self
        }
    }

    /// The same, with a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(&self)).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        headers.extend(self.headers);
        response
    }
}
