//! Is it really the provider, and is it really now?
//!
//! The header is `Stripe-Signature: t=<Unix seconds>,v1=<hex>[,v1=<hex>…]`. What is signed is `t`, a full stop
//! and the raw body: parsing and writing the body again would change it. The key of the HMAC is the secret as
//! it stands, `whsec_` included. <https://docs.stripe.com/webhooks#verify-manually>

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::secret::Secret;

/// How far the time of signing may lie from ours, in seconds, before and after. Older deliveries may be
/// replays; newer ones mean that a clock is wrong.
pub const TOLERANCE_SECONDS: i64 = 300;

/// More signatures than any rotation makes are not looked at.
const SIGNATURES_MAX: usize = 16;

/// Checks `header` against the raw `body` with any of `secrets`. `now` is in Unix seconds.
///
/// The signature is checked before the time, so that only somebody who knows a secret learns about our clock.
pub fn verify(
    header: &str,
    body: &[u8],
    secrets: &[Secret],
    now: i64,
) -> Result<(), SignatureError> {
    let signed = Header::parse(header).ok_or(SignatureError::Malformed)?;
    let good = secrets.iter().any(|secret| {
        signed
            .signatures
            .iter()
            .any(|signature| signed.is_by(secret, body, signature))
    });
    if !good {
        return Err(SignatureError::Wrong);
    }
    match now.checked_sub(signed.at) {
        Some(age) if age > TOLERANCE_SECONDS => Err(SignatureError::TooOld),
        Some(age) if age < -TOLERANCE_SECONDS => Err(SignatureError::FromTheFuture),
        Some(_) => Ok(()),
        None => Err(SignatureError::Malformed),
    }
}

struct Header<'a> {
    at: i64,
    /// As it was sent: what was signed is the text, not the number.
    at_text: &'a str,
    signatures: Vec<Vec<u8>>,
}

impl<'a> Header<'a> {
    fn parse(header: &'a str) -> Option<Self> {
        let mut at_text = None;
        let mut signatures = Vec::new();
        for element in header.split(',') {
            match element.trim().split_once('=')? {
                ("t", text) => at_text = Some(text),
                ("v1", digits) if signatures.len() < SIGNATURES_MAX => {
                    signatures.extend(hex::decode(digits).ok());
                }
                // Other schemes are for others to check; that they are there proves nothing.
                _ => {}
            }
        }
        let at_text = at_text?;
        Some(Self {
            at: at_text.parse().ok()?,
            at_text,
            signatures,
        })
    }

    fn is_by(&self, secret: &Secret, body: &[u8], signature: &[u8]) -> bool {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()) else {
            return false;
        };
        mac.update(self.at_text.as_bytes());
        mac.update(b".");
        mac.update(body);
        // In constant time: how long it takes tells nothing about how much was right.
        mac.verify_slice(signature).is_ok()
    }
}

/// Why a delivery is not believed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The header is missing or not of the form.
    #[error("the Stripe-Signature header is missing or malformed")]
    Malformed,
    /// No signature fits the body and one of our secrets.
    #[error("no signature matches: check the webhook secret")]
    Wrong,
    /// Signed well, too long ago. A replay, or a clock that is wrong.
    #[error("the signature is too old: check the clocks")]
    TooOld,
    /// Signed well, in our future. A clock is wrong.
    #[error("the signature is from the future: check the clocks")]
    FromTheFuture,
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng, seq::IndexedRandom as _};

    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn sign(at: &str, body: &[u8], secret: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
        mac.update(at.as_bytes());
        mac.update(b".");
        mac.update(body);
        hex::encode(mac.finalize().into_bytes())
    }

    fn check(header: &str, body: &[u8]) -> Result<(), SignatureError> {
        verify(header, body, &["whsec_new".into(), "whsec_old".into()], NOW)
    }

    #[test]
    fn each_of_several_secrets_is_good() {
        for secret in ["whsec_new", "whsec_old"] {
            let header = format!("t={NOW},v1={}", sign(&NOW.to_string(), b"{}", secret));
            assert_eq!(check(&header, b"{}"), Ok(()));
        }
        let header = format!(
            "t={NOW},v1={}",
            sign(&NOW.to_string(), b"{}", "whsec_other")
        );
        assert_eq!(check(&header, b"{}"), Err(SignatureError::Wrong));
    }

    #[test]
    fn one_good_signature_of_several_is_enough() {
        let good = sign(&NOW.to_string(), b"{}", "whsec_old");
        let header = format!("t={NOW},v1={},v0=00,v1={good}", "00".repeat(32));
        assert_eq!(check(&header, b"{}"), Ok(()));
    }

    #[test]
    fn no_more_signatures_are_looked_at_than_a_rotation_makes() {
        let good = sign(&NOW.to_string(), b"{}", "whsec_new");
        let bad = format!("v1={},", "00".repeat(32));
        let preceded_by = |bad_ones| format!("t={NOW},{}v1={good}", bad.repeat(bad_ones));
        assert_eq!(check(&preceded_by(SIGNATURES_MAX - 1), b"{}"), Ok(()));
        let too_late = check(&preceded_by(SIGNATURES_MAX), b"{}");
        assert_eq!(too_late, Err(SignatureError::Wrong));
    }

    #[test]
    fn one_flipped_bit_of_the_body_is_found() {
        let header = format!("t={NOW},v1={}", sign(&NOW.to_string(), b"{}", "whsec_new"));
        assert_eq!(check(&header, b"{|"), Err(SignatureError::Wrong));
    }

    #[test]
    fn the_time_may_differ_by_the_tolerance_both_ways() {
        let cases = [
            (NOW - 300, Ok(())),
            (NOW + 300, Ok(())),
            (NOW - 301, Err(SignatureError::TooOld)),
            (NOW + 301, Err(SignatureError::FromTheFuture)),
            (NOW - 315_360_000, Err(SignatureError::TooOld)),
            (i64::MAX, Err(SignatureError::FromTheFuture)),
            (i64::MIN, Err(SignatureError::Malformed)),
        ];
        for (at, verdict) in cases {
            let header = format!("t={at},v1={}", sign(&at.to_string(), b"{}", "whsec_new"));
            assert_eq!(check(&header, b"{}"), verdict, "{at}");
        }
    }

    #[test]
    fn an_odd_header_is_refused_without_a_panic() {
        for header in [
            "",
            "t",
            "t=",
            "v1=00",
            "t=x,v1=00",
            "t=1e9,v1=00",
            "t=99999999999999999999,v1=00",
            ",,,",
        ] {
            assert_eq!(
                check(header, b"{}"),
                Err(SignatureError::Malformed),
                "{header:?}"
            );
        }
        for header in [
            format!("t={NOW}"),
            format!("t={NOW},v1=zz"),
            format!("t={NOW},v0=00"),
        ] {
            assert_eq!(
                check(&header, b"{}"),
                Err(SignatureError::Wrong),
                "{header:?}"
            );
        }
    }

    #[test]
    fn headers_made_of_the_right_parts_in_any_order_are_never_believed() {
        let mut chance = SmallRng::seed_from_u64(1);
        let now = NOW.to_string();
        let parts = [
            "t=",
            "v1=",
            "v0=",
            "v1",
            "=",
            ",",
            " ",
            &now,
            "-",
            "99999999999999999999",
            "00",
            "deadbeef",
            "é",
            "\u{0}",
        ];
        for _ in 0..100_000 {
            let length = chance.random_range(0..12);
            let header: String = (0..length)
                .filter_map(|_| parts.choose(&mut chance).copied())
                .collect();
            assert!(check(&header, b"{}").is_err(), "{header}");
        }
    }
}
