//! The delivery worker: one loop that starts what is due and sleeps until the next is.
//!
//! Two bounds keep it fair. No endpoint has more than its share under way, so one that never answers fills its own
//! places for a timeout at a time and nobody else's; and each looks for its own deliveries (see `pending`), so one with
//! a long backlog hides nobody else's.

use std::{collections::HashMap, future, sync::Arc, time::Duration};

use tokio::task::{Id, JoinSet};

use super::{
    MAX_PER_ENDPOINT,
    attempt::attempt,
    deliveries::{self, Delivery},
};
use crate::simulator::{Shared, faults::WebhookFault};

/// Deliveries under way at a time in all: a full share for each of the sixteen endpoints that an account may have.
const MAX_IN_FLIGHT: usize = 16 * MAX_PER_ENDPOINT;

/// How long a delivery waits to be overtaken (`reorder`) before it is sent anyway.
const MAX_HOLD: Duration = Duration::from_mins(1);

/// Nobody has to wake the worker for it to look again.
const MAX_NAP: Duration = Duration::from_mins(1);

/// How long the attempts under way may go on once the simulator stops. Those cut short are repeated later.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The attempts under way, by task: which delivery, to which endpoint.
#[derive(Default)]
struct UnderWay {
    /// Each tells whether there is something to look for now that it has ended.
    tasks: JoinSet<bool>,
    deliveries: HashMap<Id, (i64, String)>,
}

/// Delivers until the simulator stops. Whoever writes an event or moves the clock wakes it.
pub(in crate::simulator) async fn work(shared: Arc<Shared>) {
    let mut under_way = UnderWay::default();
    let mut woken = shared.wake.subscribe();
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
            _ = woken.changed() => {}
            () = tokio::time::sleep(nap) => {}
            () = under_way.makes_room() => {}
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
    let mut reader = shared.store.reader().await?;
    let pending = deliveries::pending(&mut reader, &under_way.ids(), MAX_PER_ENDPOINT).await?;
    drop(reader);
    let (due, to_come): (Vec<_>, Vec<_>) = pending
        .into_iter()
        .partition(|delivery| delivery.next_attempt_at <= now_ms);
    // Faults strike in the order of events, before anything is sent: what is to be overtaken is held by then.
    let mut starting = Vec::new();
    let mut somebody_waits = false;
    for delivery in under_way.with_room(due) {
        let fault = strike(shared, &delivery);
        if let Some((fault, wait)) = fault.and_then(makes_wait) {
            let until_ms = now_ms.saturating_add(wait);
            let mut tx = shared.store.begin().await?;
            deliveries::postpone(&mut tx, &delivery, fault, until_ms);
            tx.commit().await?;
            somebody_waits = true;
        } else {
            starting.push((delivery, fault));
        }
    }
    for (delivery, fault) in starting {
        under_way.start(shared, delivery, fault);
    }
    if somebody_waits {
        // There is room for the next ones in their places.
        return Ok(Duration::ZERO);
    }
    let nap = to_come
        .iter()
        .map(|delivery| delivery.next_attempt_at - now_ms)
        .min()
        .and_then(|wait_ms| u64::try_from(wait_ms).ok())
        .map(Duration::from_millis);
    Ok(nap.unwrap_or(MAX_NAP).min(MAX_NAP))
}

/// An attempt meets one fault at most. One that somebody asked for meets none, nor does one that is not made.
fn strike(shared: &Shared, delivery: &Delivery) -> Option<WebhookFault> {
    if delivery.manual || delivery.fault.is_some() || !delivery.is_wanted {
        return None;
    }
    shared
        .faults
        .strike_webhook(&delivery.event_type, &delivery.url)
}

/// The fault's name and how many milliseconds of the simulator's clock, if all it does is to make the attempt wait.
fn makes_wait(fault: WebhookFault) -> Option<(&'static str, i64)> {
    let wait = match fault {
        WebhookFault::Delay(delay) => delay,
        WebhookFault::Reorder => MAX_HOLD,
        WebhookFault::Drop | WebhookFault::Duplicate(_) | WebhookFault::BadSignature => {
            return None;
        }
    };
    Some((fault.name(), i64::try_from(wait.as_millis()).ok()?))
}

impl UnderWay {
    fn ids(&self) -> Vec<i64> {
        self.deliveries.values().map(|(id, _)| *id).collect()
    }

    /// Waits until one has ended that leaves something to look for. Wherever there was room when it was looked last,
    /// nothing that was due has been left.
    async fn makes_room(&mut self) {
        loop {
            let Some(ended) = self.tasks.join_next_with_id().await else {
                return future::pending().await;
            };
            let (task, has_news) = ended.unwrap_or_else(|panicked| (panicked.id(), true));
            let was_full = self.is_full(task);
            self.deliveries.remove(&task);
            if has_news || was_full {
                return;
            }
        }
    }

    /// Whether there is no room for another one at the endpoint of this one, or at all.
    fn is_full(&self, task: Id) -> bool {
        let endpoint = self.deliveries.get(&task).map(|(_, endpoint)| endpoint);
        let endpoints = self.deliveries.values().map(|(_, endpoint)| endpoint);
        let of_endpoint = endpoints.filter(|it| Some(*it) == endpoint).count();
        of_endpoint >= MAX_PER_ENDPOINT || self.deliveries.len() >= MAX_IN_FLIGHT
    }

    /// As many of those that are due as there is room for.
    fn with_room(&self, due: Vec<Delivery>) -> Vec<Delivery> {
        let mut in_all = self.deliveries.len();
        let mut by_endpoint: HashMap<String, usize> = HashMap::new();
        for (_, endpoint) in self.deliveries.values() {
            *by_endpoint.entry(endpoint.clone()).or_default() += 1;
        }
        due.into_iter()
            .filter(|delivery| {
                let of_endpoint = by_endpoint.entry(delivery.endpoint_id.clone()).or_default();
                let has_room = in_all < MAX_IN_FLIGHT && *of_endpoint < MAX_PER_ENDPOINT;
                if has_room {
                    in_all += 1;
                    *of_endpoint += 1;
                }
                has_room
            })
            .collect()
    }

    fn start(&mut self, shared: &Arc<Shared>, delivery: Delivery, fault: Option<WebhookFault>) {
        let who = (delivery.id, delivery.endpoint_id.clone());
        let task = self
            .tasks
            .spawn(attempt(Arc::clone(shared), delivery, fault));
        self.deliveries.insert(task.id(), who);
    }
}
