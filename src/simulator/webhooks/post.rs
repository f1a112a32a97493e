//! Letters to endpoints, and the clients that post them.

use std::{sync::OnceLock, time::Duration};

use chrono::Utc;
use reqwest::{
    Client, ClientBuilder,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, USER_AGENT},
    redirect::Policy,
};
use sqlx::SqliteConnection;

use super::{journal::Reception, signature::sign};
use crate::simulator::{error::ApiError, events, objects, webhook_endpoints};

/// What is sent, and where.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) endpoint_id: String,
    pub(super) url: String,
    /// Each signs.
    pub(super) secrets: Vec<String>,
    pub(super) body: Vec<u8>,
}

/// The letter with this event for this endpoint; `None` when one of them is there no longer.
pub(super) async fn write(
    tx: &mut SqliteConnection,
    event_id: &str,
    endpoint_id: &str,
    now: i64,
) -> Result<Option<Letter>, ApiError> {
    let event = objects::find(tx, "event", event_id).await?;
    let endpoint = webhook_endpoints::find(tx, endpoint_id).await?;
    let (Some(mut event), Some(endpoint)) = (event, endpoint) else {
        return Ok(None);
    };
    events::show_pending_webhooks(tx, &mut event).await?;
    // An SDK of another version than the event's refuses it, so an endpoint may have one of its own.
    if let Some(version) = endpoint.api_version {
        objects::set(&mut event, "api_version", version.into());
    }
    Ok(Some(Letter {
        secrets: webhook_endpoints::active_secrets(tx, endpoint_id, now).await?,
        endpoint_id: endpoint.id,
        url: endpoint.url,
        body: serde_json::to_vec(&event)?,
    }))
}

/// Posts letters. What an endpoint answers is final, whether a redirect or not.
#[derive(Debug)]
pub(in crate::simulator) struct Post {
    plain: Client,
    /// Made for the first `https:` endpoint: it needs the system's certificates, which a small image may lack.
    encrypted: OnceLock<Client>,
    timeout: Duration,
}

impl Post {
    pub(in crate::simulator) fn new(timeout: Duration) -> reqwest::Result<Self> {
        // Fails when a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            plain: client(timeout).tls_certs_only([]).build()?,
            encrypted: OnceLock::new(),
            timeout,
        })
    }

    /// Sends a letter, signed now.
    pub(super) async fn send(&self, letter: &Letter) -> Reception {
        // The wall's time, not the simulator's: the receiver compares it with its own clock.
        let signature = sign(&letter.secrets, Utc::now().timestamp(), &letter.body);
        let client = self.client_for(&letter.url).map_err(|it| reason(&it))?;
        let answered = client
            .post(&letter.url)
            .header(CONTENT_TYPE, "application/json; charset=utf-8")
            .header(USER_AGENT, "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
            .header(CACHE_CONTROL, "no-cache")
            .header(ACCEPT, "*/*; q=0.5, application/xml")
            .header("Stripe-Signature", signature)
            .body(letter.body.clone())
            .send()
            .await;
        answered
            .map(|answer| answer.status().as_u16())
            .map_err(|error| reason(&error))
    }

    fn client_for(&self, url: &str) -> reqwest::Result<&Client> {
        let is_encrypted = url
            .get(..6)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        if !is_encrypted {
            return Ok(&self.plain);
        }
        if let Some(client) = self.encrypted.get() {
            return Ok(client);
        }
        let made = client(self.timeout).build()?;
        Ok(self.encrypted.get_or_init(|| made))
    }
}

fn client(timeout: Duration) -> ClientBuilder {
    Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .timeout(timeout)
}

/// The innermost cause says most: "Connection refused".
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "timed out".to_owned();
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}
