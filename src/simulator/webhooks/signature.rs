//! `Stripe-Signature`: proof that a webhook is ours, and when it was sent.
//!
//! `t=<unix>,v1=<hex>`, where v1 is the HMAC-SHA256 of `<t>.<body>`. The HMAC's key is the whole secret as text,
//! `whsec_` included. No space, lower-case hex: SDKs compare strings. While a secret is being rolled there is one v1
//! for each that is active, and a receiver accepts any it can check.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header's value for `body` sent at `timestamp` (Unix seconds of the wall clock).
pub(super) fn sign(secrets: &[String], timestamp: i64, body: &[u8]) -> String {
    let mut header = format!("t={timestamp}");
    for secret in secrets {
        header.push_str(",v1=");
        header.push_str(&tag(secret, timestamp, body));
    }
    header
}

fn tag(secret: &str, timestamp: i64, body: &[u8]) -> String {
    // HMAC takes keys of any length, so this cannot fail; were it to, the receiver would refuse the signature.
    let tag = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map(|mut mac| {
        mac.update(format!("{timestamp}.").as_bytes());
        mac.update(body);
        hex::encode(mac.finalize().into_bytes())
    });
    tag.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::sign;

    /// From `printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_boring`.
    #[test]
    fn signs_as_openssl_does() {
        assert_eq!(
            sign(
                &["whsec_boring".to_owned()],
                1_700_000_000,
                br#"{"id":"evt_1"}"#
            ),
            "t=1700000000,v1=c6919c778ac03e8614d7b564ccda7b1a7477c506ee751a125941965163024069"
        );
    }

    #[test]
    fn signs_once_with_each_secret() {
        let alone = |secret: &str| sign(&[secret.to_owned()], 1, b"{}");
        let both = sign(&["new".to_owned(), "old".to_owned()], 1, b"{}");
        let old = alone("old").replace("t=1,", "");
        assert_eq!(both, format!("{},{old}", alone("new")));
    }
}
