//! One attempt to deliver an event: write it, sign it, post it, record what came of it.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::join_all, stream};

use super::{
    MAX_PER_ENDPOINT,
    deliveries::{Delivery, Outcome, conclude, wanted_by},
    journal::{Line, Reception, write_down},
    post::{self, Letter},
};
use crate::simulator::{Shared, error::ApiError, faults::WebhookFault, objects};

/// Before a delivery that could not be recorded is attempted again.
const PAUSE: Duration = Duration::from_secs(1);

/// Attempts one due delivery. `fault` is what goes wrong with it. Says whether there is something to look for now.
pub(super) async fn attempt(
    shared: Arc<Shared>,
    delivery: Delivery,
    fault: Option<WebhookFault>,
) -> bool {
    let fault_name = fault.map(WebhookFault::name).or(delivery.fault.as_deref());
    let attempted = async {
        let mut reader = shared.store.reader().await?;
        let now = shared.clock.now();
        let (event, endpoint) = (&delivery.event_id, &delivery.endpoint_id);
        let written = post::write(&mut reader, event, endpoint, now).await?;
        drop(reader);
        // Deleted a moment ago, and the delivery with it.
        let Some(letter) = written else {
            return Ok(false);
        };
        let receptions = if delivery.is_wanted {
            send(&shared, &letter, fault).await
        } else {
            vec![Err("the endpoint is disabled".to_owned())]
        };
        for reception in &receptions {
            tracing::info!(
                event = delivery.event_id,
                kind = delivery.event_type,
                endpoint = delivery.endpoint_id,
                fault = fault_name,
                ?reception,
                "webhook"
            );
        }
        let mut tx = shared.store.turn().await?;
        let outcome = Outcome {
            url: &letter.url,
            receptions: &receptions,
            fault: fault_name,
        };
        let has_news = conclude(&mut tx, &delivery, &outcome, shared.clock.now_ms()).await?;
        tx.commit().await?;
        Ok::<bool, ApiError>(has_news)
    };
    match attempted.await {
        Ok(has_news) => has_news,
        Err(error) => {
            // It stays pending and will be sent again: at least once, then.
            let error = error.into_cause();
            tracing::error!(%error, event = delivery.event_id, "cannot attempt or record a delivery");
            tokio::time::sleep(PAUSE).await;
            true
        }
    }
}

/// Sends a letter as `fault` has it, and returns what became of each copy.
async fn send(shared: &Shared, letter: &Letter, fault: Option<WebhookFault>) -> Vec<Reception> {
    match fault {
        Some(WebhookFault::Drop) => vec![Err("dropped by a fault".to_owned())],
        Some(WebhookFault::Duplicate(number)) => {
            join_all((0..number).map(|_| shared.post.send(letter))).await
        }
        Some(WebhookFault::BadSignature) => {
            let forged = Letter {
                secrets: vec!["not the secret".to_owned()],
                ..letter.clone()
            };
            vec![shared.post.send(&forged).await]
        }
        // These two have made it wait, and now it has waited.
        Some(WebhookFault::Delay(_) | WebhookFault::Reorder) | None => {
            vec![shared.post.send(letter).await]
        }
    }
}

/// Sends an event again, now, to every endpoint that wants it, whatever became of it before; `None` when there is no
/// such event.
///
/// This stands beside the automatic deliveries, as at Stripe: it neither ends their retries nor meets their faults.
/// As with those, a few are under way at a time to one endpoint, and none waits for another endpoint.
pub(in crate::simulator) async fn send_now(
    shared: &Shared,
    event_id: &str,
    number: u32,
) -> Result<Option<Vec<(String, Reception)>>, ApiError> {
    let mut tx = shared.store.read().await?;
    if objects::find(tx.conn().await?, "event", event_id)
        .await?
        .is_none()
    {
        return Ok(None);
    }
    let mut letters = Vec::new();
    for endpoint_id in wanted_by(tx.conn().await?, event_id).await? {
        letters.extend(
            post::write(tx.conn().await?, event_id, &endpoint_id, shared.clock.now()).await?,
        );
    }
    drop(tx);
    let sends = letters.iter().map(|letter| async move {
        let copies = (0..number).map(|_| shared.post.send(letter));
        let receptions = stream::iter(copies).buffered(MAX_PER_ENDPOINT);
        (letter, receptions.collect::<Vec<_>>().await)
    });
    let receptions_by_letter = join_all(sends).await;
    let mut sent = Vec::new();
    let mut tx = shared.store.begin().await?;
    for (letter, receptions) in receptions_by_letter {
        for reception in receptions {
            let line = Line {
                event_id,
                endpoint_id: &letter.endpoint_id,
                url: &letter.url,
                reception: &reception,
                fault: None,
                next_attempt_at: None,
            };
            write_down(&mut tx, line, shared.clock.now_ms());
            sent.push((letter.url.clone(), reception));
        }
    }
    tx.commit().await?;
    Ok(Some(sent))
}
