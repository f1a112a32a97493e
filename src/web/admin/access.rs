//! Who may see the operator's pages: the user `admin`, by HTTP Basic authentication.
//!
//! The password itself is kept nowhere. Of what is sent, and of what is right, a keyed hash is compared, which takes as long
//! whichever letter is wrong. Guessing is slowed for each network address by itself, so nobody locks the operator out of
//! another one.

use std::{
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rand::RngExt as _;
use sha2::Sha256;

use super::error::Failure;
use crate::{
    app::App,
    secret::Secret,
    throttle::{Throttle, network},
    web::{address::ClientAddress, error::PageError},
};

/// The one user.
pub const USER: &str = "admin";

/// So many wrong passwords are let pass of an address, more than anybody mistypes. Then it is not listened to, whatever it
/// sends, for whoever can tell a right guess apart has guessed.
const TRIES: usize = 10;

/// Within so long. That makes 1,440 guesses a day; a password that was made up has 2^100.
const WITHIN: TimeDelta = TimeDelta::minutes(10);

/// So many addresses are remembered.
const ADDRESSES_MAX: usize = 10_000;

/// Asks a browser for the password.
const CHALLENGE: HeaderValue =
    HeaderValue::from_static(r#"Basic realm="The Boring Shop, for its operator", charset="UTF-8""#);

/// Lets the operator in, and answers everybody else.
pub async fn require(State(app): State<App>, request: Request, next: Next) -> Response {
    let now = app.till.clock.now();
    let ClientAddress(address) = ClientAddress::of(request.extensions(), request.headers(), &app);
    let given = given(request.headers());
    match app.access.judge(network(address), given, now) {
        Judgement::Right => next.run(request).await,
        Judgement::Wrong => {
            let mut response = Failure::from(PageError::Unauthenticated).into_response();
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, CHALLENGE);
            response
        }
        Judgement::TooMany { wait } => {
            let mut response = Failure::from(PageError::TooManyTries).into_response();
            let seconds = HeaderValue::from(wait.num_seconds() + 1);
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
            response
        }
    }
}

/// The password of the operator's pages, as far as it takes to recognize it.
#[derive(Clone)]
pub struct Access(Arc<Lock>);

struct Lock {
    /// With a key of this process.
    hash: Hmac<Sha256>,
    /// Of what opens it.
    right: Vec<u8>,
    failures: Mutex<Throttle<IpAddr, ()>>,
}

enum Judgement {
    Right,
    Wrong,
    TooMany { wait: TimeDelta },
}

impl Access {
    /// For who knows `password`.
    pub fn by(password: &Secret) -> Self {
        let hash = keyed_hash();
        let right = format!("{USER}:{}", password.expose());
        let right = hash.clone().chain_update(right).finalize().into_bytes();
        Self(Arc::new(Lock {
            hash,
            right: right.to_vec(),
            failures: Mutex::new(Throttle::new(WITHIN, ADDRESSES_MAX)),
        }))
    }

    /// What was `given` is `user:password`, or nothing that could be. A browser that asks for the first time gives nothing,
    /// which is not counted. The look and the count are one: many guesses at once are counted like many in a row.
    fn judge(&self, from: IpAddr, given: Option<Vec<u8>>, now: DateTime<Utc>) -> Judgement {
        let Some(given) = given else {
            return Judgement::Wrong;
        };
        let mut failures = self
            .0
            .failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(wait) = failures.wait(from, TRIES, now) {
            return Judgement::TooMany { wait };
        }
        let hash = self.0.hash.clone().chain_update(given);
        if hash.verify_slice(&self.0.right).is_ok() {
            failures.forgive(from);
            return Judgement::Right;
        }
        failures.add(from, (), now);
        tracing::warn!(%from, "wrong password for the operator's pages");
        Judgement::Wrong
    }
}

/// With a key that nobody knows.
fn keyed_hash() -> Hmac<Sha256> {
    let key = rand::rng().random::<[u8; 32]>();
    Hmac::new_from_slice(&key).expect("a key of any length")
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Access(…)")
    }
}

/// A password that nobody can guess and anybody can type: a hundred bits.
pub fn make_up() -> Secret {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut rng = rand::rng();
    let mut password = String::new();
    for place in 0..20 {
        if place > 0 && place % 5 == 0 {
            password.push('-');
        }
        let drawn = LETTERS.get(rng.random_range(0..LETTERS.len()));
        password.extend(drawn.map(|&letter| char::from(letter)));
    }
    Secret::new(password)
}

/// What stands behind `Basic`, decoded. `None` for no such header, and for one that cannot be read.
fn given(headers: &HeaderMap) -> Option<Vec<u8>> {
    let header = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, credentials) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    STANDARD.decode(credentials.trim()).ok()
}
