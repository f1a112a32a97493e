//! A refusal in one sentence, whoever asked: a Rust test, a control request, a form on the page, the command line.

use super::error::ApiError;

/// Why something is not done as asked. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Refused {
    sentence: String,
    param: Option<&'static str>,
}

impl Refused {
    pub(super) fn new(sentence: impl Into<String>) -> Self {
        Self {
            sentence: sentence.into(),
            param: None,
        }
    }

    /// Names the field that is wrong.
    pub(super) fn param(mut self, param: &'static str) -> Self {
        self.param = Some(param);
        self
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        let error = ApiError::invalid(refused.sentence);
        match refused.param {
            Some(param) => error.param(param),
            None => error,
        }
    }
}
