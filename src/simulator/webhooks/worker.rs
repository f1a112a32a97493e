//! The delivery worker: one loop that starts what is due and sleeps until the next is.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use reqwest::redirect::Policy;
use tokio::task::{Id, JoinSet};

use super::{
    attempt::attempt,
    deliveries::{Delivery, due, hold, next_due_at},
};
use crate::simulator::{Shared, faults::WebhookFault};

/// Deliveries under way at a time. A slow endpoint uses these up for one timeout at most.
const MAX_IN_FLIGHT: usize = 16;

/// What is due is read together with what is under way, so this many rows hold enough that are not.
const BATCH: i64 = 32;

/// Nobody has to wake the worker for it to look again.
const MAX_NAP: Duration = Duration::from_mins(1);

/// How long the attempts under way may go on once the simulator stops. Those cut short are repeated later.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The client that delivers: what an endpoint answers is final, whether a redirect or not.
///
/// Without an `https:` endpoint it needs no certificates of the system's, which a small image may lack.
pub(in crate::simulator) fn client(
    timeout: Duration,
    needs_tls: bool,
) -> reqwest::Result<reqwest::Client> {
    // Fails when a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .timeout(timeout);
    if needs_tls {
        client.build()
    } else {
        client.tls_certs_only([]).build()
    }
}

/// The attempts under way, by task.
#[derive(Default)]
struct UnderWay {
    tasks: JoinSet<()>,
    deliveries: HashMap<Id, i64>,
}

/// Delivers until the simulator stops. Whoever writes an event or moves the clock wakes it.
pub(in crate::simulator) async fn work(shared: Arc<Shared>) {
    let mut under_way = UnderWay::default();
    while !shared.stopping.is_cancelled() {
        let nap = match start_what_is_due(&shared, &mut under_way).await {
            Ok(nap) => nap,
            Err(error) => {
                tracing::error!(%error, "cannot read what is to be delivered");
                Duration::from_secs(1)
            }
        };
        tokio::select! {
            () = shared.stopping.cancelled() => {}
            () = shared.wake.notified() => {}
            () = tokio::time::sleep(nap) => {}
            Some(ended) = under_way.tasks.join_next_with_id() => {
                let task = ended.map_or_else(|panicked| panicked.id(), |(task, ())| task);
                under_way.deliveries.remove(&task);
            }
        }
    }
    let finish = async { while under_way.tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(LAST_WORDS, finish).await.is_err() {
        under_way.tasks.shutdown().await;
    }
}

/// Starts as much as there is room for, and says how long nothing else will be due.
async fn start_what_is_due(
    shared: &Arc<Shared>,
    under_way: &mut UnderWay,
) -> sqlx::Result<Duration> {
    let now_ms = shared.clock.now_ms();
    let mut tx = shared.store.read().await?;
    let mut due = due(&mut tx, now_ms, BATCH).await?;
    let next_due_at = next_due_at(&mut tx, now_ms).await?;
    drop(tx);
    let busy: HashSet<i64> = under_way.deliveries.values().copied().collect();
    due.retain(|delivery| !busy.contains(&delivery.id));
    due.truncate(MAX_IN_FLIGHT.saturating_sub(busy.len()));
    // Faults strike in the order of events, before anything is sent: what is to be overtaken is held by then.
    let mut starting: Vec<(Delivery, Option<WebhookFault>)> = Vec::new();
    for delivery in due {
        let fault = shared
            .faults
            .strike_webhook(&delivery.event_type, &delivery.url);
        if fault == Some(WebhookFault::Reorder) {
            let mut tx = shared.store.begin().await?;
            hold(&mut tx, &delivery, now_ms).await?;
            tx.commit().await?;
        } else {
            starting.push((delivery, fault));
        }
    }
    for (delivery, fault) in starting {
        let id = delivery.id;
        let task = under_way
            .tasks
            .spawn(attempt(Arc::clone(shared), delivery, fault));
        under_way.deliveries.insert(task.id(), id);
    }
    let nap = next_due_at
        .and_then(|at| u64::try_from(at - now_ms).ok())
        .map(Duration::from_millis);
    Ok(nap.unwrap_or(MAX_NAP).min(MAX_NAP))
}
