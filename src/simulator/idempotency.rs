//! Idempotency keys: a request that is sent twice happens once.
//!
//! ```text
//! key in use by a request of this moment ── 409 idempotency_key_in_use, nothing stored
//! key known ──┬── same path, same parameters ── the first answer, byte for byte
//!             └── anything else ── 400 idempotency_error, nothing changed
//! key new ── execute; if it executed, store the answer IN THE SAME TRANSACTION as the effect
//! ```
//!
//! A key belongs to an account and to a family of versions of the API. There is one of each here, so the key alone is it.
//!
//! The last line is the one that matters. Were the answer stored in a second transaction, a crash between the
//! two would leave a charge whose key is free again. What is stored is status and bytes, whatever the outcome:
//! a 200, a decline, a refusal by the state of things, and the 500 of the `error_after` fault. What was refused
//! before it executed is not, so that a corrected request may use its key.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use axum::http::StatusCode;

use super::{answer::Answer, error::ApiError, params::Params, store::Store, transaction::Tx};

/// Keys are forgotten after a day of the simulator's clock (by a trigger). At Stripe that is the least, not the most.
const RETENTION_SECONDS: i64 = 24 * 60 * 60;

pub(super) const MAX_KEY_LENGTH: usize = 255;

/// What a key is used for.
#[derive(Clone, Debug)]
pub(super) struct KeyUse {
    pub(super) key: String,
    /// The concrete path: `/v1/payment_intents/pi_1/confirm`.
    pub(super) path: String,
    pub(super) digest: String,
}

impl KeyUse {
    pub(super) fn new(key: &str, path: &str, params: &Params) -> Result<Self, ApiError> {
        Ok(Self {
            key: key.to_owned(),
            path: path.to_owned(),
            digest: params.digest()?,
        })
    }
}

/// The first answer to a key.
#[derive(Debug, sqlx::FromRow)]
struct Stored {
    path: String,
    digest: String,
    request_id: String,
    status: i64,
    body: Vec<u8>,
}

/// A key as it may come in the `Idempotency-Key` header: any text, within bounds.
pub(super) fn check_key(key: &str) -> Result<(), ApiError> {
    if key.is_empty() {
        return Err(ApiError::invalid(
            "The Idempotency-Key header must not be empty.",
        ));
    }
    if key.chars().count() > MAX_KEY_LENGTH {
        let message =
            format!("The Idempotency-Key header can have up to {MAX_KEY_LENGTH} characters.");
        return Err(ApiError::invalid(message));
    }
    Ok(())
}

/// Begins the transaction that executes a request, with a look at the answer its key already has, if it has one.
///
/// Whoever has begun writes alone, so a key that is new stays new until the end of the transaction.
pub(super) async fn begin(
    store: &Store,
    wanted: &KeyUse,
    now: i64,
) -> Result<(Tx, Option<Answer>), ApiError> {
    let mut tx = store.turn().await?;
    let stored: Option<Stored> = sqlx::query_as(
        "begin immediate;
         select path, digest, request_id, status, body from idempotency_keys
         where key = $1 and expires > $2",
    )
    .bind(&wanted.key)
    .bind(now)
    .fetch_optional(tx.conn().await?)
    .await?;
    let answer = stored.map(|stored| stored.replay(wanted)).transpose()?;
    Ok((tx, answer))
}

impl Stored {
    fn replay(self, wanted: &KeyUse) -> Result<Answer, ApiError> {
        let key = &wanted.key;
        if self.path != wanted.path {
            return Err(ApiError::idempotency(format!(
                "The idempotency key '{key}' belongs to another endpoint: this is '{}', it was first used for '{}'. A different request needs a key of its own.",
                wanted.path, self.path
            )));
        }
        if self.digest != wanted.digest {
            return Err(ApiError::idempotency(format!(
                "The idempotency key '{key}' was first used with other parameters. A different request needs a key of its own."
            )));
        }
        let status = u16::try_from(self.status)
            .ok()
            .and_then(|status| StatusCode::from_u16(status).ok());
        Ok(Answer {
            status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            body: self.body,
            should_retry: Some(false),
            original_request: Some(self.request_id),
            replayed: true,
        })
    }
}

/// Stores the answer to a key. To be called in the transaction of the effect.
pub(super) fn store(tx: &mut Tx, used: &KeyUse, request_id: &str, answer: &Answer, now: i64) {
    tx.write(
        "insert into idempotency_keys (key, path, digest, request_id, status, body, created, expires)
         values (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&*used.key)
    .bind(&*used.path)
    .bind(&*used.digest)
    .bind(request_id)
    .bind(i64::from(answer.status.as_u16()))
    .bind(&*answer.body)
    .bind(now)
    .bind(now + RETENTION_SECONDS);
}

/// The keys of the requests that are being worked on right now, in this process.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashSet<String>>>);

/// Holds a key until it is dropped, which is when its answer has been given.
#[derive(Debug)]
pub(super) struct Claim {
    keys: InFlight,
    key: String,
}

impl InFlight {
    /// 409 when another request holds the key.
    pub(super) fn check(&self, key: &str) -> Result<(), ApiError> {
        let is_held = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(key);
        if is_held { Err(in_use(key)) } else { Ok(()) }
    }

    /// 409 when another request holds the key; else it is held from now on.
    pub(super) fn claim(&self, key: &str) -> Result<Claim, ApiError> {
        let fresh = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key.to_owned());
        if !fresh {
            return Err(in_use(key));
        }
        Ok(Claim {
            keys: self.clone(),
            key: key.to_owned(),
        })
    }
}

fn in_use(key: &str) -> ApiError {
    let message = format!(
        "A request with the idempotency key '{key}' is still being worked on, so this one may be its double. Try again later."
    );
    ApiError::invalid(message)
        .code("idempotency_key_in_use")
        .status(StatusCode::CONFLICT)
        .should_retry(true)
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.keys
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::{InFlight, check_key};

    #[test]
    fn a_claimed_key_is_free_again_once_its_claim_is_dropped() {
        let keys = InFlight::default();
        let claim = keys.claim("k").unwrap();
        assert!(keys.claim("k").is_err());
        assert!(keys.claim("other").is_ok());
        drop(claim);
        assert!(keys.claim("k").is_ok());
    }

    #[test]
    fn keys_have_a_length() {
        assert!(check_key("").is_err());
        assert!(check_key(&"k".repeat(255)).is_ok());
        assert!(check_key(&"k".repeat(256)).is_err());
    }
}
