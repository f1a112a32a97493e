//! Who may call: whoever has the secret key.
//!
//! SDKs send `Authorization: Bearer sk_test_…`; curl users send it as the user name of Basic authentication
//! with an empty password (`curl -u sk_test_…:`). Both are accepted, for `/v1` and for `/_control`.

use std::fmt;

use axum::http::{HeaderMap, header::AUTHORIZATION};
use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

use super::error::ApiError;

/// The secret key, kept as its hash only.
///
/// Hashes are compared instead of keys: how long that takes says something about the hash of a guess, and
/// nothing about how much of the key was guessed.
#[derive(Clone)]
pub(super) struct SecretKey([u8; 32]);

impl SecretKey {
    pub(super) fn new(key: &str) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// Refuses a request without the key.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some(given) = given_key(headers) else {
            return Err(ApiError::unauthorized(
                "There is no API key in this request. Send it in the Authorization header: 'Authorization: Bearer sk_test_…'.",
            ));
        };
        if Self::new(&given).0 == self.0 {
            return Ok(());
        }
        Err(ApiError::unauthorized(format!(
            "This API key is not valid: {}. The one that is, is that of --key, or sk_test_boring.",
            masked(&given)
        )))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}

fn given_key(headers: &HeaderMap) -> Option<String> {
    let (scheme, credentials) = headers
        .get(AUTHORIZATION)?
        .to_str()
        .ok()?
        .trim()
        .split_once(' ')?;
    let key = if scheme.eq_ignore_ascii_case("bearer") {
        credentials.trim().to_owned()
    } else if scheme.eq_ignore_ascii_case("basic") {
        let decoded = String::from_utf8(BASE64_STANDARD.decode(credentials.trim()).ok()?).ok()?;
        decoded
            .split_once(':')
            .map_or(decoded.as_str(), |(user, _password)| user)
            .to_owned()
    } else {
        return None;
    };
    Some(key).filter(|key| !key.is_empty())
}

/// The beginning and the end, so that one can tell which key was used without being shown it.
fn masked(key: &str) -> String {
    let characters: Vec<char> = key.chars().take(100).collect();
    if characters.len() < 12 {
        return "*".repeat(characters.len());
    }
    let (shown_first, shown_last) = (8, 4);
    let hidden = characters.len() - shown_first - shown_last;
    let first: String = characters.iter().take(shown_first).collect();
    let last: String = characters.iter().skip(shown_first + hidden).collect();
    format!("{first}{}{last}", "*".repeat(hidden))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header::AUTHORIZATION};

    use super::{SecretKey, masked};

    fn is_let_in(authorization: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(authorization).unwrap());
        SecretKey::new("sk_test_1").check(&headers).is_ok()
    }

    #[test]
    fn the_key_is_accepted_as_bearer_and_as_basic() {
        assert!(is_let_in("Bearer sk_test_1"));
        assert!(is_let_in("bearer sk_test_1"));
        assert!(is_let_in("Basic c2tfdGVzdF8xOg==")); // "sk_test_1:"
    }

    #[test]
    fn everything_else_is_refused() {
        for wrong in [
            "Bearer sk_test_2",
            "Bearer ",
            "sk_test_1",
            "Basic %%%",
            "Basic OnNrX3Rlc3RfMQ==",
            "Digest x",
        ] {
            assert!(!is_let_in(wrong), "{wrong}");
        }
        assert!(
            SecretKey::new("sk_test_1")
                .check(&HeaderMap::new())
                .is_err()
        );
    }

    #[test]
    fn a_wrong_key_is_shown_masked() {
        assert_eq!(masked("sk_test_123456789"), "sk_test_*****6789");
        assert_eq!(masked("short"), "*****");
    }
}
