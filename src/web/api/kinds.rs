//! The kinds of problems that a client of the API can meet, each with its own address. The documents list them.

use axum::http::{HeaderValue, StatusCode, header};

use super::{super::problem::Problem, PATH};

/// One kind of problem.
#[derive(Debug)]
pub struct Kind {
    /// What its address ends in.
    pub slug: &'static str,
    /// The HTTP status of all of them.
    pub status: StatusCode,
    /// What it is.
    pub title: &'static str,
    /// What happened, and what to do about it.
    pub detail: &'static str,
    /// After how many seconds the same request may have another answer.
    pub retry_after: Option<u16>,
}

impl Kind {
    /// The address that explains it.
    pub fn address(&self) -> String {
        format!("{PATH}/docs#{}", self.slug)
    }

    /// One of them.
    pub fn problem(&self) -> Problem {
        self.because(self.detail)
    }

    /// One of which more is known.
    pub fn because(&self, detail: impl Into<String>) -> Problem {
        let problem = Problem::new(self.status, detail).of_kind(self.address(), self.title);
        match self.retry_after {
            Some(seconds) => problem.with_header(header::RETRY_AFTER, HeaderValue::from(seconds)),
            None => problem,
        }
    }
}

/// There is an error of ours, or of the database.
impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        tracing::error!(%error, "a request failed");
        match error {
            sqlx::Error::PoolTimedOut => BUSY.problem(),
            _ => INTERNAL.problem(),
        }
    }
}

macro_rules! kinds {
    ($($name:ident = $status:ident $slug:literal: $title:literal, $detail:literal $(, retry after $seconds:literal)?;)*) => {
        $(
            #[doc = $title]
            pub const $name: Kind = Kind {
                slug: $slug,
                status: StatusCode::$status,
                title: $title,
                detail: $detail,
                retry_after: kinds!(@ $($seconds)?),
            };
        )*

        /// All of them, in the order of their statuses.
        pub const ALL: &[&Kind] = &[$(&$name),*];
    };
    (@) => { None };
    (@ $seconds:literal) => { Some($seconds) };
}

kinds! {
    KEY_MISSING = BAD_REQUEST "key-missing": "The Idempotency-Key is missing",
        "Draw a UUID for each thing that you want done, and send it as the header Idempotency-Key, the same one each time \
         you send the request again.";
    KEY_MALFORMED = BAD_REQUEST "key-malformed": "The Idempotency-Key is malformed",
        "The header Idempotency-Key has to be there once, and to be a UUID, in quotes or without.";
    CUT_OFF = BAD_REQUEST "cut-off": "The body did not arrive as a whole",
        "The connection broke, or the body is shorter than its Content-Length. Send the request again, with the same key.";
    UNAUTHORIZED = UNAUTHORIZED "unauthorized": "No API key, or an unknown one",
        "Send the header Authorization: Bearer, followed by an API key of this shop.";
    NOT_FOUND = NOT_FOUND "not-found": "There is nothing here",
        "Nothing has this address, or it was made with another API key.";
    WRONG_METHOD = METHOD_NOT_ALLOWED "wrong-method": "Nothing is done like this",
        "The address takes other methods, which the header Allow names.";
    IN_PROGRESS = CONFLICT "in-progress": "The first request with this key is still being worked on",
        "Send the same request again in a moment. It does nothing twice.", retry after 1;
    TOTAL_CHANGED = CONFLICT "total-changed": "The total is not the quoted one",
        "Nothing was charged, and the key is not used up. Ask your customer whether the total is all right, and quote it.";
    OUT_OF_STOCK = CONFLICT "out-of-stock": "There are too few of some products",
        "Nothing was charged, and the key is not used up.";
    TOO_LARGE = PAYLOAD_TOO_LARGE "too-large": "The body is too large",
        "A body has 64 KiB at most.";
    NOT_JSON = UNSUPPORTED_MEDIA_TYPE "not-json": "The body is not sent as JSON",
        "Send a JSON object, and the header Content-Type: application/json.";
    INVALID = UNPROCESSABLE_ENTITY "invalid-body": "The body cannot be used",
        "Nothing was done, and the key is not used up. Each error says what is wrong.";
    KEY_REUSED = UNPROCESSABLE_ENTITY "key-reused": "The key was used for something else",
        "The first request with this key stands, and nothing else was done. Draw a new key for each new wish, and none for \
         a repeat.";
    MORE_THAN_LEFT = UNPROCESSABLE_ENTITY "more-than-left": "That much is not left to give back",
        "Nothing was given back, and the key is not used up.";
    INTERNAL = INTERNAL_SERVER_ERROR "internal": "Something went wrong here",
        "Whether anything was done is unknown. Send the same request again with the same key: it is done once.";
    BUSY = SERVICE_UNAVAILABLE "busy": "Too much at once",
        "Send the same request again in a moment, with the same key.", retry after 1;
}
