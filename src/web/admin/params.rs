//! What stands behind the question mark. What makes no sense there is as if it were not there.

use std::{collections::HashMap, convert::Infallible};

use axum::{extract::FromRequestParts, http::request::Parts};
use url::form_urlencoded;

use crate::paging::{Key, Turn};

/// Name and value of each; of several with one name, the last.
#[derive(Debug)]
pub struct Params(HashMap<String, String>);

impl Params {
    /// The value without the white space around it; empty when there is none.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map(|it| it.trim()).unwrap_or_default()
    }

    /// Which page of a list is meant.
    pub fn turn<K: Key>(&self) -> Turn<K> {
        if let Ok(key) = self.text("older").parse() {
            Turn::Older(key)
        } else if let Ok(key) = self.text("newer").parse() {
            Turn::Newer(key)
        } else {
            Turn::Newest
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        Ok(Self(pairs.into_owned().collect()))
    }
}
