//! The one place where what went wrong becomes a page.

use askama::Template as _;
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};

use super::views::{Chrome, ErrorPage};
use crate::{cart::CartError, checkout::SubmitError, db::Transient as _, refunds::RequestError};

/// What a page cannot go on with.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Somebody who has not said the operator's password, or a wrong one.
    #[error("not the operator")]
    Unauthenticated,
    /// Somebody who has said too many wrong passwords.
    #[error("too many wrong passwords")]
    TooManyTries,
    /// There is nothing of this name, or it is somebody else's.
    #[error("not found")]
    NotFound,
    /// The address takes another method.
    #[error("wrong method")]
    WrongMethod,
    /// A form that was posted from another site.
    #[error("cross-site form")]
    CrossSite,
    /// What is shown by a name of ours only, asked for by another.
    #[error("another name")]
    OtherName,
    /// A body that is no form.
    #[error("not a form")]
    NotAForm,
    /// A form longer than we read.
    #[error("form too large")]
    TooLarge,
    /// A form that ended before its end.
    #[error("form cut off")]
    CutOff,
    /// The form's key belongs to another purchase.
    #[error("key already used")]
    KeyUsed,
    /// Mended by doing it again in a moment.
    #[error("busy")]
    Busy,
    /// A mistake of ours.
    #[error("a handler panicked")]
    Panicked,
    /// The database did not do its part.
    #[error("the database failed: {0}")]
    Db(#[from] sqlx::Error),
    /// A file could not be read.
    #[error("a file could not be read: {0}")]
    File(#[from] std::io::Error),
    /// The session could not be read or written.
    #[error("the session store failed: {0}")]
    Session(#[from] tower_sessions::session::Error),
    /// A template could not be rendered.
    #[error("a page could not be rendered: {0}")]
    Render(#[from] askama::Error),
}

impl PageError {
    /// The answer's status.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::TooManyTries => StatusCode::TOO_MANY_REQUESTS,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::CrossSite => StatusCode::FORBIDDEN,
            Self::OtherName => StatusCode::MISDIRECTED_REQUEST,
            Self::NotAForm => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::CutOff => StatusCode::BAD_REQUEST,
            Self::KeyUsed => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Busy | Self::Db(sqlx::Error::PoolTimedOut) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Db(error) if error.is_transient() => StatusCode::SERVICE_UNAVAILABLE,
            Self::Panicked | Self::Db(_) | Self::File(_) | Self::Session(_) | Self::Render(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    /// Tells the log of what is our fault. Once, by who turns it into an answer.
    pub fn log(&self) {
        if self.status().is_server_error() {
            tracing::error!(error = %self, "a request failed");
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let status = self.status();
        self.log();
        let page = ErrorPage::new(Chrome::default(), status.as_u16());
        match page.render() {
            Ok(html) => (status, Html(html)).into_response(),
            Err(_) => status.into_response(),
        }
    }
}

impl From<CartError> for PageError {
    fn from(error: CartError) -> Self {
        match error {
            CartError::UnknownProduct => Self::NotFound,
            CartError::Db(error) => Self::Db(error),
            // The pages that change a cart show these beside the field; elsewhere they are a cart that has changed.
            CartError::TooMany
            | CartError::TooManyLines
            | CartError::OtherCurrency
            | CartError::Closed => Self::Busy,
        }
    }
}

impl From<SubmitError> for PageError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::KeyReused | SubmitError::KeyOfAnother => Self::KeyUsed,
            SubmitError::Db(error) => Self::Db(error),
            _ => Self::Busy,
        }
    }
}

impl From<RequestError> for PageError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::KeyReused | RequestError::KeyOfAnother => Self::KeyUsed,
            RequestError::UnknownOrder => Self::NotFound,
            RequestError::Db(error) => Self::Db(error),
            // The form shows all but the last of these beside a field, or above it.
            RequestError::NotAnAmount
            | RequestError::NothingLeft
            | RequestError::TooMuch { .. }
            | RequestError::LeftChanged { .. }
            | RequestError::RestocksAPart
            | RequestError::Raced => Self::Busy,
        }
    }
}

/// Everything that has no address of its own.
pub async fn not_found() -> PageError {
    PageError::NotFound
}

/// An address that takes another method.
pub async fn wrong_method() -> PageError {
    PageError::WrongMethod
}
