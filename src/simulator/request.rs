//! Reading a request of the API: its parameters and its headers.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, Method, StatusCode, header::CONTENT_TYPE, request::Parts},
};

use super::{error::ApiError, params::Params};

/// The largest request, metadata and all, is a tenth of this.
const MAX_BODY: usize = 256 * 1024;

/// How long a body may take. A client that stops in the middle of one holds nothing but its connection.
const PATIENCE: Duration = Duration::from_secs(30);

const FORM: &str = "application/x-www-form-urlencoded";

/// The parameters in the query and, of a POST, in the body.
pub(super) async fn read_params(parts: &Parts, body: Body) -> Result<Params, ApiError> {
    let mut encoded = parts.uri.query().unwrap_or_default().as_bytes().to_vec();
    if parts.method == Method::POST {
        let form = read_form(&parts.headers, body).await?;
        if !encoded.is_empty() && !form.is_empty() {
            encoded.push(b'&');
        }
        encoded.extend(form);
    }
    Params::decode(&encoded)
}

async fn read_form(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, ApiError> {
    let Ok(read) = tokio::time::timeout(PATIENCE, to_bytes(body, MAX_BODY)).await else {
        let message = "The request body did not arrive in time.";
        return Err(ApiError::invalid(message).status(StatusCode::REQUEST_TIMEOUT));
    };
    let body = read.map_err(|_| {
        let message =
            format!("The request body is larger than {MAX_BODY} bytes, or was cut short.");
        ApiError::invalid(message).status(StatusCode::PAYLOAD_TOO_LARGE)
    })?;
    if !body.is_empty() && !is_form(headers) {
        let message = format!("The body of a POST must be {FORM}.");
        return Err(ApiError::invalid(message));
    }
    Ok(body.to_vec())
}

/// A body that says nothing of its type is taken for a form.
fn is_form(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return true;
    };
    let value = value.to_str().unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    kind.is_empty() || kind.eq_ignore_ascii_case(FORM)
}

/// A request may name any version.
pub(super) fn check_version(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(version) = text_header(headers, "stripe-version")? else {
        return Ok(());
    };
    if is_version(version) {
        return Ok(());
    }
    let shown: String = version.chars().take(40).collect();
    Err(ApiError::invalid(format!(
        "Invalid Stripe API version: {shown}"
    )))
}

/// `2026-07-29.dahlia`, or a date alone, as it was before there were names.
pub(super) fn is_version(text: &str) -> bool {
    let date = text.split(['.', ';']).next().unwrap_or_default();
    chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").is_ok()
}

/// A header's text, which is UTF-8 here: an idempotency key may be any string.
pub(super) fn text_header<'h>(
    headers: &'h HeaderMap,
    name: &str,
) -> Result<Option<&'h str>, ApiError> {
    let unreadable = |_| ApiError::invalid(format!("The header {name} is not UTF-8 text."));
    headers
        .get(name)
        .map(|value| str::from_utf8(value.as_bytes()).map_err(unreadable))
        .transpose()
}
