//! Letters to endpoints, and the clients that post them.

use std::{sync::OnceLock, time::Duration};

use chrono::Utc;
use reqwest::{
    Client, ClientBuilder,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, USER_AGENT},
    redirect::Policy,
};
use serde_json::Value;
use sqlx::SqliteConnection;

use super::{journal::Reception, signature::sign};
use crate::simulator::{error::ApiError, objects};

/// What is sent, and where.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) endpoint_id: String,
    pub(super) url: String,
    /// Each signs.
    pub(super) secrets: Vec<String>,
    pub(super) body: Vec<u8>,
}

/// What goes into a letter.
#[derive(sqlx::FromRow)]
struct Contents {
    event: String,
    url: String,
    /// An SDK of another version than the event's refuses it, so an endpoint may have one of its own.
    api_version: Option<String>,
    pending_webhooks: i64,
    /// A JSON array, the current one first.
    secrets: String,
}

/// The letter with this event for this endpoint; `None` when one of them is there no longer.
pub(super) async fn write(
    reader: &mut SqliteConnection,
    event_id: &str,
    endpoint_id: &str,
    now: i64,
) -> Result<Option<Letter>, ApiError> {
    let contents: Option<Contents> = sqlx::query_as(
        "select event.body as event, endpoint.body ->> '$.url' as url, endpoint.body ->> '$.api_version' as api_version,
                (select count(*) from deliveries
                 where event_id = event.id and manual = 0 and state <> 'delivered') as pending_webhooks,
                (select json_group_array(secret) from
                   (select secret from webhook_secrets
                    where endpoint_id = endpoint.id and (expires_at is null or expires_at > $3)
                    order by id desc)) as secrets
         from objects event, objects endpoint
         where event.id = $1 and event.kind = 'event' and event.deleted = 0
           and endpoint.id = $2 and endpoint.kind = 'webhook_endpoint' and endpoint.deleted = 0",
    )
    .bind(event_id)
    .bind(endpoint_id)
    .bind(now)
    .fetch_optional(reader)
    .await?;
    let Some(contents) = contents else {
        return Ok(None);
    };
    let mut event: Value = serde_json::from_str(&contents.event)?;
    objects::set(
        &mut event,
        "pending_webhooks",
        contents.pending_webhooks.into(),
    );
    if let Some(version) = contents.api_version {
        objects::set(&mut event, "api_version", version.into());
    }
    Ok(Some(Letter {
        endpoint_id: endpoint_id.to_owned(),
        url: contents.url,
        secrets: serde_json::from_str(&contents.secrets)?,
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
