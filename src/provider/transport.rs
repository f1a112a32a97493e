//! Sending a request until it is answered: timeouts, retries, backoff.
//!
//! The rules are the provider's own advice: <https://docs.stripe.com/error-low-level>

use std::time::{Duration, Instant};

use reqwest::{Client, Method, RequestBuilder, Response, header, redirect};
use serde::de::DeserializeOwned;

use super::{
    calls::{self, Calls},
    outcome::Doubt,
    requests::Requests,
};
use crate::{
    probe::{self, Boundary, Failure, Probe},
    secret::Secret,
    waits,
};

/// Attempts of one call, the first included.
const ATTEMPTS: u32 = 4;

/// The longest wait before the second attempt; it doubles for each further one, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(4);

#[derive(Clone)]
pub(super) struct Transport {
    client: Client,
    base_url: String,
    key: Secret,
    requests: Requests,
    calls: Option<Calls>,
    probe: Option<Probe>,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The same request under the same key will get the same answer again.
    pub(super) is_stored: bool,
    /// It is that of an earlier request with the same key.
    is_replayed: bool,
    /// `Stripe-Should-Retry`, which beats every other rule.
    should_retry: Option<bool>,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

impl Answer {
    async fn read(response: Response) -> Result<Self, Doubt> {
        let status = response.status().as_u16();
        let header = |name| header_of(&response, name);
        let should_retry = header("stripe-should-retry").map(|value| value == "true");
        let replayed = header("idempotent-replayed").is_some();
        let retry_after = header("retry-after")
            .and_then(|seconds| seconds.parse().ok())
            .map(Duration::from_secs);
        let body = response.bytes().await.map_err(|_| Doubt::NoAnswer)?;
        Ok(Self {
            status,
            is_stored: replayed || should_retry == Some(false),
            is_replayed: replayed,
            should_retry,
            retry_after,
            body: body.into(),
        })
    }

    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, Doubt> {
        match self.status {
            401 | 403 => Err(Doubt::Credentials),
            _ => serde_json::from_slice(&self.body).map_err(|_| Doubt::Unexpected),
        }
    }
}

impl Transport {
    pub(super) fn new(base_url: &str, key: Secret, timeout: Duration) -> Result<Self, UnusableUrl> {
        let url = url::Url::parse(base_url).map_err(|_| UnusableUrl)?;
        // Two crates in the tree could each be the one; naming it here saves every caller from doing so.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .timeout(timeout)
            .redirect(redirect::Policy::none());
        let client = match url.scheme() {
            "https" => client,
            // Without TLS there is no need for the system's certificates, which a small image may lack.
            "http" => client.tls_certs_only([]),
            _ => return Err(UnusableUrl),
        };
        Ok(Self {
            client: client.build().map_err(|_| UnusableUrl)?,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key,
            requests: Requests::default(),
            calls: None,
            probe: None,
        })
    }

    /// The same, which notes each request in `calls`.
    pub(super) fn noting(self, calls: Calls) -> Self {
        Self {
            calls: Some(calls),
            ..self
        }
    }

    /// The same, with every boundary reported to `probe`.
    pub(super) fn with_probe(self, probe: Probe) -> Self {
        Self {
            probe: Some(probe),
            ..self
        }
    }

    pub(super) async fn post(
        &self,
        operation: &'static str,
        path: &str,
        key: &str,
        body: &str,
        give_up: Duration,
    ) -> Result<Answer, Doubt> {
        let request = || {
            self.request(Method::POST, path)
                .header("idempotency-key", key)
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(body.to_owned())
        };
        self.persist(operation, key, request, give_up).await
    }

    pub(super) async fn get(
        &self,
        operation: &'static str,
        path: &str,
        give_up: Duration,
    ) -> Result<Answer, Doubt> {
        let request = || self.request(Method::GET, path);
        self.persist(operation, "", request, give_up).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.base_url);
        self.client
            .request(method, url)
            .bearer_auth(self.key.expose())
    }

    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// How requests were answered so far.
    pub(super) fn requests(&self) -> &Requests {
        &self.requests
    }

    pub(super) fn is_live(&self) -> bool {
        self.key.expose().contains("_live_")
    }

    /// Sends the request again while that may help, and no attempt begins after `give_up`.
    async fn persist(
        &self,
        operation: &'static str,
        key: &str,
        request: impl Fn() -> RequestBuilder,
        give_up: Duration,
    ) -> Result<Answer, Doubt> {
        let began = Instant::now();
        let mut longest = FIRST_WAIT;
        for attempt in 1..ATTEMPTS {
            let answer = self.send(operation, key, request()).await;
            if !is_worth_another(&answer) {
                return answer;
            }
            // When the provider says how long to wait, it is at least that long.
            let asked = answer.as_ref().ok().and_then(|answer| answer.retry_after);
            let wait = waits::before_next_try(longest, asked.unwrap_or_default());
            if began.elapsed() + wait > give_up {
                return answer;
            }
            tracing::debug!(attempt, ?wait, "provider call will be retried");
            tokio::time::sleep(wait).await;
            longest = (longest * 2).min(LONGEST_WAIT);
        }
        self.send(operation, key, request()).await
    }

    async fn send(
        &self,
        operation: &'static str,
        key: &str,
        request: RequestBuilder,
    ) -> Result<Answer, Doubt> {
        let answer = self.receive(operation, key, request).await;
        let replayed = answer.as_ref().is_ok_and(|answer| answer.is_replayed);
        let ended = calls::ended(&answer);
        tracing::debug!(operation, ended, replayed, "answered");
        let counted = answer.as_ref().map(|it| it.status).map_err(|&doubt| doubt);
        self.requests.count(counted);
        if let Some(calls) = &self.calls {
            calls.note(operation, &answer);
        }
        answer
    }

    async fn receive(
        &self,
        operation: &'static str,
        key: &str,
        request: RequestBuilder,
    ) -> Result<Answer, Doubt> {
        let probe = self.probe.as_ref();
        probe::report(probe, Boundary::BeforeSend(operation)).await?;
        // Enough of the key to tell one from another, and too little to use it.
        let key_end: String = key.chars().rev().take(4).collect();
        let key_end: String = key_end.chars().rev().collect();
        tracing::debug!(operation, key_end, "asked");
        let response = request.send().await.map_err(|_| Doubt::NoAnswer)?;
        probe::report(probe, Boundary::AfterSend(operation)).await?;
        let answer = Answer::read(response).await?;
        probe::report(probe, Boundary::AfterReceive(operation)).await?;
        Ok(answer)
    }
}

fn is_worth_another(answer: &Result<Answer, Doubt>) -> bool {
    match answer {
        Err(_) => true,
        Ok(answer) => answer
            .should_retry
            .unwrap_or(!answer.is_stored && matches!(answer.status, 409 | 429 | 500..)),
    }
}

impl From<Failure> for Doubt {
    /// Whatever went wrong, no answer came.
    fn from(_: Failure) -> Self {
        Self::NoAnswer
    }
}

fn header_of(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

/// The provider's address is not an HTTP URL that can be used.
#[derive(Debug, thiserror::Error)]
#[error("not a usable http:// or https:// URL")]
pub struct UnusableUrl;
