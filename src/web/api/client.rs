//! Who calls: a program with an API key.
//!
//! A checkout, an order, a refund belong to the key that made them, and so do idempotency keys: two clients that draw the
//! same UUID never meet. What is stored is a visitor's id that is made from the key, never the key.

use std::{fmt, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, header, request::Parts},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{super::problem::Problem, kinds};
use crate::{
    app::App,
    ids::{VisitorId, derived},
    secret::Secret,
};

/// The keys that are accepted; cheap to clone. None: there is no API.
#[derive(Clone)]
pub struct ApiKeys(Arc<[Known]>);

struct Known {
    tag: [u8; 32],
    client: Client,
}

impl ApiKeys {
    /// Of each key only a tag is kept.
    pub fn new(keys: &[Secret]) -> Self {
        let known = keys.iter().map(|key| Known {
            tag: tag(key.expose()).finalize().into_bytes().into(),
            client: Client {
                id: derived("visitor of an API key", &[key.expose().as_bytes()]).into(),
            },
        });
        Self(known.collect())
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose key it is. All are compared, each letter by letter to the end, so that the time tells nothing.
    fn client(&self, presented: &str) -> Option<Client> {
        self.0.iter().fold(None, |found, known| {
            let fits = tag(presented).verify_slice(&known.tag).is_ok();
            found.or(fits.then_some(known.client))
        })
    }
}

impl fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKeys({})", self.0.len())
    }
}

fn tag(key: &str) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(b"API key").expect("a key of any length");
    mac.chain_update(key)
}

/// Somebody whose API key is known.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// What is theirs is stored as this visitor's.
    pub id: VisitorId,
}

impl FromRequestParts<App> for Client {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let presented = bearer(&parts.headers);
        let client = presented.and_then(|key| app.api_keys.client(key));
        client.ok_or_else(|| {
            let challenge = match presented {
                Some(_) => "Bearer realm=\"api\", error=\"invalid_token\"",
                None => "Bearer realm=\"api\"",
            };
            kinds::UNAUTHORIZED.problem().with_header(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static(challenge),
            )
        })
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else {
        return None;
    };
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_whole_or_not_at_all() {
        let keys = ApiKeys::new(&["one".into(), "two".into()]);
        let (one, two) = (keys.client("one"), keys.client("two"));
        assert_ne!(one.expect("known").id, two.expect("known").id);
        for unknown in ["", "on", "onee", "One", "three", "one,two"] {
            assert!(keys.client(unknown).is_none(), "{unknown}");
        }
        assert!(ApiKeys::new(&[]).client("").is_none());
        assert_eq!(format!("{keys:?}"), "ApiKeys(2)");
    }
}
