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
//!     └ payment_intents, charges, refunds, disputes, customers, payment_methods, events, webhook_endpoints, …
//! webhooks    the worker that delivers events at least once
//! schedule    the worker that does what happens by itself later
//! control     faults, chaos, clock, ledger, journals (`/_control`)
//! page        the same for people (`/`); three_d_secure, the bank's page
//! ```
//!
//! In a test, [`Simulator::start`] gives one that runs, and [`Simulator::control`] its levers. As a process it is
//! `boring-checkout provider`, and the levers are under `/_control`.
//!
//! Two processes cannot serve the same database: which keys are in use is known to one process only. The first
//! locks it (`lock`), and the second refuses to start.

mod addresses;
mod answer;
mod api;
mod auth;
mod balance;
mod balance_transactions;
mod call;
mod changes;
mod charges;
mod clock;
mod config;
mod control;
mod currencies;
mod customers;
mod disputes;
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
mod lock;
mod mandates;
mod objects;
mod operations;
mod page;
mod params;
mod path_id;
mod payment_intents;
mod payment_methods;
mod place;
mod refunds;
mod refused;
mod request;
mod schedule;
mod search;
mod server;
mod store;
mod three_d_secure;
mod transaction;
mod webhook_endpoints;
mod webhooks;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, middleware, routing::any};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{
    auth::SecretKey, clock::Clock, error::ApiError, faults::Faults, idempotency::InFlight,
    journal::Journal, store::Store, webhooks::Post,
};
pub use self::{
    config::{SimulatorConfig, SimulatorError, WebhookTarget},
    control::{ClockReading, Control, ControlError, Redelivery},
    faults::{ArmedFault, Chaos, ChaosRates, Fault, OnRequests, OnWebhooks},
    journal::LoggedRequest,
    ledger::{Ledger, LedgerOfIntents, LedgerOfRefunds},
    refused::Refused,
    store::StoreError,
    webhook_endpoints::RolledSecret,
    webhooks::LoggedDelivery,
};

/// The version of the API that answers and events are in, whatever version a request asks for.
const API_VERSION: &str = "2026-10-28.endive";

/// How long requests in flight may take to finish once the simulator stops.
const GRACE: Duration = Duration::from_secs(10);

/// A running simulator. Dropped, it stops accepting; [`stop`](Simulator::stop) also waits for what is in flight.
///
/// A purchase whose answer is lost, and what was really paid:
///
/// ```
/// use boring_checkout::simulator::{Fault, Simulator};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let simulator = Simulator::start().await?;
/// let control = simulator.control();
/// control.arm(Fault::on_operation("payment_intents.create").drop_response())?;
///
/// let client = reqwest::Client::builder().no_proxy().build()?;
/// let purchase = || {
///     client
///         .post(format!("{}/v1/payment_intents", simulator.url()))
///         .bearer_auth("sk_test_boring")
///         .header("Idempotency-Key", "order-17")
///         .body("amount=4200&currency=usd&confirm=true&payment_method=pm_card_visa&payment_method_types[]=card")
///         .send()
/// };
/// assert!(purchase().await.is_err(), "the connection ends without an answer");
/// let again = purchase().await?;
/// assert_eq!(again.status(), 200);
/// assert_eq!(again.headers()["idempotent-replayed"], "true");
///
/// let ledger = control.ledger().await?;
/// assert_eq!(ledger.payment_intents.succeeded, 1, "paid once");
/// assert_eq!(ledger.payment_intents.amount_succeeded, 4200, "in cents");
/// assert_eq!(control.requests().len(), 2);
/// simulator.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Simulator {
    shared: Arc<Shared>,
}

/// What every request and the workers share.
#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    base_url: String,
    key: SecretKey,
    store: Store,
    clock: Clock,
    faults: Faults,
    /// What it was started with, and is reset to.
    chaos: Option<Chaos>,
    in_flight: InFlight,
    journal: Journal,
    post: Post,
    /// The endpoints that the command line names.
    webhooks: Vec<WebhookTarget>,
    /// Changes whenever the workers have reason to look again.
    wake: watch::Sender<()>,
    tasks: TaskTracker,
    /// Finish what you are doing.
    stopping: CancellationToken,
    /// Do not even finish.
    killed: CancellationToken,
}

impl Simulator {
    /// Starts one on any free port of this machine, in memory, with the key `sk_test_boring` and without webhooks.
    pub async fn start() -> Result<Simulator, SimulatorError> {
        Self::start_with(SimulatorConfig::default()).await
    }

    /// Opens the database, binds the address and serves. When this returns, requests are answered.
    pub async fn start_with(config: SimulatorConfig) -> Result<Simulator, SimulatorError> {
        config.check()?;
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
            address,
            base_url: format!("http://{address}"),
            key: SecretKey::new(&config.key),
            store,
            clock,
            faults: Faults::with_chaos(config.chaos.clone()),
            chaos: config.chaos,
            in_flight: InFlight::default(),
            journal: Journal::default(),
            post: Post::new(config.webhook_timeout)?,
            webhooks: config.webhooks,
            wake: watch::Sender::new(()),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            killed: CancellationToken::new(),
        });
        shared.tasks.spawn(webhooks::work(Arc::clone(&shared)));
        shared.tasks.spawn(schedule::work(Arc::clone(&shared)));
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

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.shared.address.port()
    }

    /// Its levers: faults, chaos, clock, ledger, journals.
    pub fn control(&self) -> Control {
        Control::new(Arc::clone(&self.shared))
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

impl Shared {
    /// Something was committed or the clock was moved: perhaps there is an event to deliver, or something is due.
    fn wake_workers(&self) {
        self.wake.send_replace(());
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.shared.stopping.cancel();
    }
}

fn router(shared: &Arc<Shared>) -> Router {
    let beside_the_api = Router::new()
        .nest("/_control", control::http::router(shared))
        .merge(page::router(shared))
        .merge(page::assets())
        .merge(three_d_secure::router(shared))
        .fallback(control::http::unknown)
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
    let clock = Clock::new(clock::load(tx.conn().await?).await?);
    webhook_endpoints::configure(&mut tx, targets, clock.now()).await?;
    tx.commit().await?;
    Ok(clock)
}
