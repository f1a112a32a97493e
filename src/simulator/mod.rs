//! The payment provider simulator: the other side of the wire.
//!
//! It speaks the part of the Stripe API that a checkout uses, closely enough for the official SDKs, and fails on
//! request in all the ways a real provider fails by chance: it loses requests and answers, delays them, answers
//! 500 after it took the money, and sends webhooks twice, late, or out of order. It shares no type, table or
//! state with the shop, keeps its ledger in a database of its own, and is as useful to any other program.
//!
//! ```text
//! server      one TCP connection; hangs up when a fault says so
//! └ api       one request: admit, faults, execute, journal, answer
//!   ├ auth, form, params        what was asked, and by whom
//!   ├ execute, idempotency      one transaction, with its answer in it
//!   └ operations                what is done
//!     └ payment_intents, payment_methods, charges, events, webhook_endpoints, currencies
//! webhooks    the worker that delivers events at least once
//! control     faults, clock, ledger, journals (`/_control`)
//! ```
//!
//! Two processes must not serve the same database: which keys are in use is known to one process only.

mod addresses;
mod answer;
mod api;
mod auth;
mod call;
mod charges;
mod clock;
mod control;
mod currencies;
mod error;
mod event_types;
mod events;
mod execute;
mod expand;
mod faults;
mod form;
mod idempotency;
mod ids;
mod journal;
mod ledger;
mod lists;
mod objects;
mod operations;
mod params;
mod payment_intents;
mod payment_methods;
mod server;
mod store;
mod three_d_secure;
mod webhook_endpoints;
mod webhooks;

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, middleware, routing::any};
use tokio::{net::TcpListener, sync::Notify};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::store::StoreError;
use self::{
    auth::SecretKey, clock::Clock, error::ApiError, faults::Faults, idempotency::InFlight,
    journal::Journal, store::Store, webhooks::Post,
};

/// The version of the API that answers and events are in, whatever version a request asks for.
const API_VERSION: &str = "2026-10-28.endive";

/// How long requests in flight may take to finish once the simulator stops.
const GRACE: Duration = Duration::from_secs(10);

/// How to run a simulator.
#[derive(Clone)]
pub struct SimulatorConfig {
    /// Where to listen. Port 0 takes any free one: see [`Simulator::url`].
    pub listen: SocketAddr,
    /// `sqlite://path/to/file.db`, created when missing with its folder, or `sqlite::memory:`.
    pub database_url: String,
    /// The secret key that requests must carry.
    pub key: String,
    /// Where events are delivered.
    pub webhooks: Vec<WebhookTarget>,
    /// How long a webhook's receiver may take to answer.
    pub webhook_timeout: Duration,
}

/// An endpoint that wants every event.
#[derive(Clone)]
pub struct WebhookTarget {
    /// Identifies the endpoint: the same URL again only changes the secret.
    pub url: String,
    /// Signs the deliveries: `whsec_…`, used as it stands.
    pub secret: String,
}

/// Why a simulator could not start.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    /// The database cannot be opened.
    #[error("the simulator cannot open its database: {0}")]
    Database(StoreError),
    /// The address is in use, or not ours.
    #[error("the simulator cannot listen on {address}: {source}")]
    Listen {
        /// As configured.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// A webhook's URL is not one.
    #[error("the webhook URL {url} is not valid: {reason}")]
    WebhookUrl {
        /// As configured.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The HTTP client that delivers webhooks cannot be built.
    #[error("the simulator cannot deliver webhooks: {0}")]
    Client(#[from] reqwest::Error),
}

/// A running simulator. Dropped, it stops accepting; [`stop`](Simulator::stop) also waits for what is in flight.
#[derive(Debug)]
pub struct Simulator {
    shared: Arc<Shared>,
}

/// What every request and the delivery worker share.
#[derive(Debug)]
struct Shared {
    base_url: String,
    key: SecretKey,
    store: Store,
    clock: Clock,
    faults: Faults,
    in_flight: InFlight,
    journal: Journal,
    post: Post,
    /// The endpoints that the command line names.
    webhooks: Vec<WebhookTarget>,
    /// Wakes the delivery worker.
    wake: Notify,
    tasks: TaskTracker,
    /// Finish what you are doing.
    stopping: CancellationToken,
    /// Do not even finish.
    killed: CancellationToken,
}

impl Simulator {
    /// Opens the database, binds the address and serves. When this returns, requests are answered.
    pub async fn start(config: SimulatorConfig) -> Result<Simulator, SimulatorError> {
        for target in &config.webhooks {
            target.check()?;
        }
        let opening = SimulatorError::Database;
        let store = Store::open(&config.database_url).await.map_err(opening)?;
        let clock = prepare(&store, &config.webhooks)
            .await
            .map_err(|error| opening(StoreError::Endpoints(error.into_cause())))?;
        let listening = |source| SimulatorError::Listen {
            address: config.listen,
            source,
        };
        let listener = TcpListener::bind(config.listen).await.map_err(listening)?;
        let address = listener.local_addr().map_err(listening)?;
        let shared = Arc::new(Shared {
            base_url: format!("http://{address}"),
            key: SecretKey::new(&config.key),
            store,
            clock,
            faults: Faults::default(),
            in_flight: InFlight::default(),
            journal: Journal::default(),
            post: Post::new(config.webhook_timeout)?,
            webhooks: config.webhooks,
            wake: Notify::new(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            killed: CancellationToken::new(),
        });
        shared.tasks.spawn(webhooks::work(Arc::clone(&shared)));
        shared.tasks.spawn(server::accept(
            listener,
            router(&shared),
            Arc::clone(&shared),
        ));
        Ok(Simulator { shared })
    }

    /// Where it is reached: `http://127.0.0.1:12111`, without a slash at the end.
    pub fn url(&self) -> String {
        self.shared.base_url.clone()
    }

    /// Stops accepting, lets what is in flight finish (ten seconds at most), and closes the database.
    pub async fn stop(self) {
        self.shared.stopping.cancel();
        self.shared.tasks.close();
        if tokio::time::timeout(GRACE, self.shared.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("requests were still in flight when the simulator stopped");
            self.shared.killed.cancel();
        }
        // Waits for connections in use, which a request cut short may never give back.
        let _ = tokio::time::timeout(GRACE, self.shared.store.close()).await;
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.shared.stopping.cancel();
    }
}

fn router(shared: &Arc<Shared>) -> Router {
    let beside_the_api = Router::new()
        .nest("/_control", control::router(shared))
        .merge(three_d_secure::router())
        .fallback(control::unknown)
        .layer(middleware::from_fn_with_state(
            Arc::clone(shared),
            server::in_a_task,
        ));
    Router::new()
        .route("/v1", any(api::serve))
        .route("/v1/{*path}", any(api::serve))
        .merge(beside_the_api)
        .with_state(Arc::clone(shared))
}

/// Takes over the configured endpoints, and reads how far the clock is ahead.
async fn prepare(store: &Store, targets: &[WebhookTarget]) -> Result<Clock, ApiError> {
    let mut tx = store.begin().await?;
    let clock = Clock::new(clock::load(&mut tx).await?);
    webhook_endpoints::configure(&mut tx, targets, clock.now()).await?;
    tx.commit().await?;
    Ok(clock)
}

impl Default for SimulatorConfig {
    /// Any free port of this machine, in memory, without webhooks.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            database_url: "sqlite::memory:".to_owned(),
            key: "sk_test_boring".to_owned(),
            webhooks: Vec::new(),
            webhook_timeout: Duration::from_secs(10),
        }
    }
}

impl WebhookTarget {
    fn check(&self) -> Result<(), SimulatorError> {
        webhook_endpoints::check_url(&self.url).map_err(|reason| SimulatorError::WebhookUrl {
            url: self.url.clone(),
            reason,
        })
    }
}

impl fmt::Debug for SimulatorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatorConfig")
            .field("listen", &self.listen)
            .field("database_url", &self.database_url)
            .field("webhooks", &self.webhooks)
            .field("webhook_timeout", &self.webhook_timeout)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for WebhookTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookTarget")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
