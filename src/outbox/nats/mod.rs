//! The bus between processes: NATS JetStream, chosen by `--bus-url`.
//!
//! ```text
//! relay ── publish, with Nats-Msg-Id ──> stream BORING_CHECKOUT ──┬── consumer fulfilment ── inbox row + effect ── commit
//!   │                                      (files, 14 days)       ├── consumer mailer                               │
//! published_at <── acknowledged: stored ───────┘                  └── consumer refunds  <── acknowledged: consumed ─┘
//! ```
//!
//! Both acknowledgements come after what they acknowledge is safe, so whoever dies before one of them causes a
//! repetition and never a loss. The stream recognises a repetition by its `Nats-Msg-Id`, a consumer by its inbox.
//!
//! 1. here: the connection, which is made again for ever, and what is created on the server.
//! 2. [`publish`](self): a message is on the bus once the stream has stored it.
//! 3. [`consume`]: a durable consumer's messages are pulled, acted on and acknowledged.
//!
//! Everything that is missing on the server is created when the connection is made: a server whose store was lost has it
//! again at once, and what was lost with it comes back from the outbox ([`comeback`](super::comeback)). `docs/bus.md`
//! tells the same to operators.

pub mod consume;
mod publish;

use std::{
    future::{Future, ready},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_nats::{
    ConnectOptions, Event, ServerAddr,
    jetstream::{
        self,
        consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull},
        stream,
    },
};
use percent_encoding::percent_decode_str;
use tokio::sync::watch;

use super::{bus::KEPT, inbox::Consumer};
use crate::secret::Secret;

/// What the stream is called on the server.
pub const STREAM: &str = "BORING_CHECKOUT";

/// What all subjects begin with; the event type follows, as in `boring_checkout.order.placed`.
pub const SUBJECT: &str = "boring_checkout";

/// How long the stream recognises what it has stored already. Longer than any relay takes from one try to the next.
const DUPLICATE_WINDOW: Duration = Duration::from_hours(1);

/// When a message that was not acknowledged is delivered again. Longer than it can be in the hands of a process, which
/// is for [`consume`] to keep; and not much longer, since the messages of a process that died wait for it.
pub const ACK_WAIT: Duration = Duration::from_secs(30);

/// How long the server may take over one request. Less than the relay's patience.
const REQUEST: Duration = Duration::from_secs(5);

/// How often the server is asked for a sign of life. After two without an answer the connection is made again.
const PING: Duration = Duration::from_secs(10);

/// The longest wait before the connection is tried again: a server that is back is used within this time.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// A connection to a NATS server; clones share it.
#[derive(Clone, Debug)]
pub struct Nats {
    jetstream: jetstream::Context,
    is_up: watch::Receiver<bool>,
}

impl Nats {
    /// Connects in the background. A server that is down is no error, now or later: it is connected to once it is there.
    pub async fn connect(url: &Secret) -> Result<Self, UnusableBusUrl> {
        let (server, options) = read(url)?;
        let up = watch::Sender::new(false);
        let is_up = up.subscribe();
        let is_told = AtomicBool::new(false);
        let client = options
            .name("boring-checkout")
            .retry_on_initial_connect()
            .max_reconnects(None)
            .reconnect_delay_callback(reconnect_delay)
            .ping_interval(PING)
            .request_timeout(Some(REQUEST))
            .event_callback(move |event| {
                match event {
                    Event::Connected => _ = up.send_replace(true),
                    Event::Disconnected => _ = up.send_replace(false),
                    _ => {}
                }
                tell(&event, &is_told);
                ready(())
            })
            .connect(server)
            .await
            .map_err(|_| UnusableBusUrl)?;
        let jetstream = jetstream::context::ContextBuilder::new()
            .timeout(REQUEST)
            .build(client);
        Ok(Self { jetstream, is_up })
    }

    /// Runs `work` on the connection; `None` when there is none, or it breaks before the end.
    async fn connected<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut is_up = self.is_up.clone();
        if !*is_up.borrow_and_update() {
            return None;
        }
        tokio::select! {
            biased;
            done = work => Some(done),
            _ = is_up.changed() => None,
        }
    }

    /// The durable consumer of that name, as it is on the server; it and the stream are created when they are missing.
    /// What is there stays as it is: an operator may have given it more replicas.
    async fn open(&self, consumer: Consumer) -> Result<PullConsumer, async_nats::Error> {
        let stream = self
            .jetstream
            .get_or_create_stream(stream::Config {
                name: STREAM.to_owned(),
                description: Some("What happened in the shop".to_owned()),
                subjects: vec![format!("{SUBJECT}.>")],
                retention: stream::RetentionPolicy::Limits,
                storage: stream::StorageType::File,
                max_age: Duration::from_secs(KEPT.num_seconds().unsigned_abs()),
                duplicate_window: DUPLICATE_WINDOW,
                ..stream::Config::default()
            })
            .await?;
        let config = pull::Config {
            durable_name: Some(consumer.name().to_owned()),
            ack_policy: AckPolicy::Explicit,
            deliver_policy: DeliverPolicy::All,
            ack_wait: ACK_WAIT,
            max_deliver: -1,
            // Those that wait for their next delivery count as well, and must not keep the others away.
            max_ack_pending: -1,
            ..pull::Config::default()
        };
        Ok(stream
            .get_or_create_consumer(consumer.name(), config)
            .await?)
    }
}

/// Twice as long each time, from a hundredth of the longest on.
fn reconnect_delay(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).min(10);
    (LONGEST_WAIT / 100 * 2_u32.pow(doublings)).min(LONGEST_WAIT)
}

/// Says once that the server is not there, however often it is tried, and once that it is.
fn tell(event: &Event, is_told: &AtomicBool) {
    match event {
        Event::Connected => {
            is_told.store(false, Ordering::Relaxed);
            tracing::info!("connected to the bus");
        }
        Event::Disconnected | Event::ClientError(_) if !is_told.swap(true, Ordering::Relaxed) => {
            tracing::warn!(%event, "the bus is not there; messages wait in the outbox until it is");
        }
        Event::ServerError(error) => tracing::warn!(%error, "the bus reports an error"),
        _ => {}
    }
}

/// Whether `url` can be used: `nats://` or `tls://`, and a user and password, or a token, percent-encoded, if need be.
pub fn check(url: &Secret) -> Result<(), UnusableBusUrl> {
    read(url).map(drop)
}

fn read(url: &Secret) -> Result<(ServerAddr, ConnectOptions), UnusableBusUrl> {
    let mut url = url::Url::parse(url.expose()).map_err(|_| UnusableBusUrl)?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let user = decoded(url.username());
    let options = match (user.is_empty(), url.password().map(decoded)) {
        (true, _) => ConnectOptions::new(),
        (false, Some(password)) => ConnectOptions::with_user_and_password(user, password),
        (false, None) => ConnectOptions::with_token(user),
    };
    let is_address = matches!(url.scheme(), "nats" | "tls")
        && url.has_host()
        && matches!(url.path(), "" | "/")
        && url.query().is_none();
    // They are in the options now, and nobody can print them with the address.
    let is_clean = url.set_username("").is_ok() && url.set_password(None).is_ok();
    if !is_address || !is_clean {
        return Err(UnusableBusUrl);
    }
    let server = ServerAddr::from_url(url).map_err(|_| UnusableBusUrl)?;
    Ok((server, options))
}

/// The URL does not name a NATS server.
#[derive(Debug, thiserror::Error)]
#[error("not a nats:// or tls:// URL with a host, such as nats://127.0.0.1:4222")]
pub struct UnusableBusUrl;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_down_is_tried_less_and_less_often_up_to_a_bound() {
        let delays = [0, 1, 6, 7, usize::MAX].map(reconnect_delay);
        let expected = [20, 40, 1280, 2000, 2000].map(Duration::from_millis);
        assert_eq!(delays, expected);
    }

    #[test]
    fn a_url_names_a_server_and_perhaps_who_calls_and_nothing_else() {
        for url in [
            "nats://127.0.0.1",
            "nats://127.0.0.1:4222/",
            "tls://broker.example:4222",
            "nats://shop:t%C3%B6p@broker.example",
            "nats://token@broker.example",
        ] {
            assert!(check(&url.into()).is_ok(), "{url}");
        }
        for url in [
            "",
            "broker.example",
            "nats:broker.example",
            "nats:///",
            "http://broker.example",
            "nats://broker.example/jetstream",
            "nats://broker.example?tls=true",
            "http://broker.example/jetstream?tls=true",
        ] {
            assert!(check(&url.into()).is_err(), "{url}");
        }
    }
}
