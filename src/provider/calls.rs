//! The calls of the provider, noted for whoever reads later how a payment came about.
//!
//! A client that is [noting](super::Provider::noting) gathers them in memory; who works with it writes them down with what
//! came of its work. Noted are words alone: what was called, the status of the answer, and the state or the error's code in
//! it. No body, no key, and nobody's name.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::{outcome::Doubt, transport::Answer, wire::ApiError};
use crate::clock::Clock;

/// The longest word of an answer that is noted. The provider's own are shorter.
const WORD_MAX: usize = 64;

/// A call that was answered, or given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What was called, such as `payment_intents.create`.
    pub operation: &'static str,
    /// How it ended: `200 succeeded`, `402 card_declined`, `no answer`.
    pub ended: String,
    /// How many requests it took: it was tried again, or a list has several pages.
    pub requests: i64,
    /// When it ended.
    pub ended_at: DateTime<Utc>,
}

/// The calls of one piece of work; clones note together.
#[derive(Clone, Debug)]
pub struct Calls {
    clock: Clock,
    noted: Arc<Mutex<Vec<Call>>>,
}

impl Calls {
    /// None so far.
    pub fn by(clock: &Clock) -> Self {
        Self {
            clock: clock.clone(),
            noted: Arc::default(),
        }
    }

    /// Those so far, in their order.
    pub fn noted(&self) -> Vec<Call> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.clone()
    }

    /// Notes how a request was answered. One that follows another of the same operation belongs to the same call.
    pub(super) fn note(&self, operation: &'static str, answer: &Result<Answer, Doubt>) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let before = noted.pop_if(|call| call.operation == operation);
        noted.push(Call {
            operation,
            ended: ended(answer),
            requests: 1 + before.map_or(0, |call| call.requests),
            ended_at: self.clock.now(),
        });
    }
}

/// How a request ended, in words that can be told to anybody.
pub(super) fn ended(answer: &Result<Answer, Doubt>) -> String {
    let Ok(answer) = answer else {
        return "no answer".to_owned();
    };
    match word(answer) {
        Some(word) => format!("{} {word}", answer.status),
        None => answer.status.to_string(),
    }
}

/// The most telling word of an answer, whatever it is about.
#[derive(Deserialize)]
struct Gist {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    error: Option<ApiError>,
}

fn word(answer: &Answer) -> Option<String> {
    let gist: Gist = answer.parse().ok()?;
    let of_error = |error: ApiError| error.code.unwrap_or(error.kind);
    let word = gist.error.map(of_error).or(gist.status)?;
    let is_word = word
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || it == b'_');
    (is_word && word.len() <= WORD_MAX).then_some(word)
}
