//! One attempt to deliver an event: read it, sign it, post it, record what came of it.

use std::sync::Arc;

use chrono::Utc;
use futures_util::future::join_all;
use reqwest::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, USER_AGENT};

use super::{
    deliveries::{Delivery, Reception, conclude, write_down},
    signature::sign,
};
use crate::simulator::{Shared, error::ApiError, events, faults::WebhookFault, objects};

/// What is sent, and where.
#[derive(Debug)]
struct Letter {
    url: String,
    secret: String,
    body: Vec<u8>,
}

/// Attempts one due delivery. `fault` is what goes wrong with it.
pub(super) async fn attempt(shared: Arc<Shared>, delivery: Delivery, fault: Option<WebhookFault>) {
    let receptions = match fault {
        Some(WebhookFault::Drop) => vec![Err("dropped by a fault".to_owned())],
        Some(WebhookFault::Delay(delay)) => {
            tokio::time::sleep(delay).await;
            copies(&shared, &delivery, 1).await
        }
        Some(WebhookFault::Duplicate(number)) => copies(&shared, &delivery, number).await,
        Some(WebhookFault::BadSignature) => match letter(&shared, &delivery).await {
            Ok(letter) => {
                let forged = Letter {
                    secret: format!("not {}", letter.secret),
                    ..letter
                };
                vec![post(&shared, &forged).await]
            }
            Err(error) => vec![Err(error.to_string())],
        },
        // A delivery that is held is not attempted; should one get here, it is late enough.
        Some(WebhookFault::Reorder) | None => copies(&shared, &delivery, 1).await,
    };
    for reception in &receptions {
        tracing::info!(
            event = delivery.event_id,
            kind = delivery.event_type,
            ?reception,
            "webhook"
        );
    }
    if let Err(error) = record(&shared, &delivery, &receptions).await {
        // It stays pending and will be sent again: at least once, then.
        tracing::error!(%error, event = delivery.event_id, "cannot record a delivery");
    }
}

/// The same letter `number` times at once, each with a signature of its own.
async fn copies(shared: &Shared, delivery: &Delivery, number: u32) -> Vec<Reception> {
    match letter(shared, delivery).await {
        Ok(letter) => join_all((0..number).map(|_| post(shared, &letter))).await,
        Err(error) => vec![Err(error.to_string())],
    }
}

async fn record(
    shared: &Shared,
    delivery: &Delivery,
    receptions: &[Reception],
) -> sqlx::Result<()> {
    let mut tx = shared.store.begin().await?;
    conclude(&mut tx, delivery, receptions, shared.clock.now_ms()).await?;
    tx.commit().await
}

async fn letter(shared: &Shared, delivery: &Delivery) -> sqlx::Result<Letter> {
    let mut tx = shared.store.read().await?;
    let secret = sqlx::query_scalar("select secret from webhook_endpoints where id = $1")
        .bind(&delivery.endpoint_id)
        .fetch_one(&mut *tx)
        .await?;
    let body = payload(&mut tx, &delivery.event_id)
        .await
        .ok()
        .flatten()
        .ok_or(sqlx::Error::RowNotFound)?;
    Ok(Letter {
        url: delivery.url.clone(),
        secret,
        body,
    })
}

/// The event as it is sent.
async fn payload(
    tx: &mut sqlx::SqliteConnection,
    event_id: &str,
) -> Result<Option<Vec<u8>>, ApiError> {
    let Some(mut event) = objects::find(tx, "event", event_id).await? else {
        return Ok(None);
    };
    events::show_pending_webhooks(tx, &mut event).await?;
    Ok(Some(serde_json::to_vec(&event)?))
}

async fn post(shared: &Shared, letter: &Letter) -> Reception {
    // The wall's time, not the simulator's: the receiver compares it with its own clock.
    let signature = sign(&letter.secret, Utc::now().timestamp(), &letter.body);
    let answered = shared
        .http
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

/// Sends an event to every endpoint again, now, whatever became of it before; `None` when there is no such event.
///
/// This stands beside the automatic deliveries, as at Stripe: it neither ends their retries nor meets their faults.
pub(in crate::simulator) async fn send_now(
    shared: &Shared,
    event_id: &str,
    number: u32,
) -> Result<Option<Vec<(String, Reception)>>, ApiError> {
    let mut tx = shared.store.read().await?;
    let Some(body) = payload(&mut tx, event_id).await? else {
        return Ok(None);
    };
    let endpoints: Vec<(String, String)> = sqlx::query_as(
        "select url, secret from webhook_endpoints where enabled = 1 order by created, id",
    )
    .fetch_all(&mut *tx)
    .await?;
    drop(tx);
    let letters: Vec<Letter> = endpoints
        .into_iter()
        .map(|(url, secret)| Letter {
            url,
            secret,
            body: body.clone(),
        })
        .collect();
    let sends = letters
        .iter()
        .flat_map(|letter| (0..number).map(move |_| post(shared, letter)));
    let receptions = join_all(sends).await;
    let urls = letters
        .iter()
        .flat_map(|letter| (0..number).map(move |_| letter.url.clone()));
    let sent: Vec<(String, Reception)> = urls.zip(receptions).collect();
    let mut tx = shared.store.begin().await?;
    for (url, reception) in &sent {
        write_down(
            &mut tx,
            event_id,
            url,
            reception,
            shared.clock.now_ms(),
            None,
        )
        .await?;
    }
    tx.commit().await?;
    Ok(Some(sent))
}
