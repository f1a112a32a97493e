//! Wiring: from a configuration to a running shop, and to its orderly end.
//!
//! 1. here: what a request has at hand, and the shop that serves them.
//! 2. `parts`: what it is put together from.
//! 3. [`background`]: what goes on without being asked.

pub mod background;
mod parts;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum_server::{Handle, accept::NoDelayAcceptor};
use tokio::{net::TcpListener, sync::Mutex, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::background::Background;
use crate::{
    checkout::Till,
    clock::Clock,
    config::ServeArgs,
    db::Db,
    lab::Lab,
    links::Links,
    mail::{mailbox::Mailbox, post::UnusableSmtpUrl},
    money::{Currency, NotAnAmount},
    outbox::nats::UnusableBusUrl,
    provider::UnusableUrl,
    secret::Secret,
    simulator::{Simulator, SimulatorError},
    web::{
        self,
        admin::access::{self, Access},
        api::ApiKeys,
        metrics::Metrics,
    },
    workers::Workers,
};

/// How long what is in flight may take to finish once the shop is asked to stop.
const GRACE: Duration = Duration::from_secs(30);

/// What every request has at hand; cheap to clone.
#[derive(Clone, Debug)]
pub struct App {
    /// Where purchases are made.
    pub till: Till,
    /// All secrets that a webhook may be signed with.
    pub webhook_secrets: Arc<[Secret]>,
    /// The keys of the programs that buy through the API.
    pub api_keys: ApiKeys,
    /// The mails that were written, where anybody who sees the shop may see them.
    pub mailbox: Option<Mailbox>,
    /// The lab, where it is shown.
    pub lab: Option<Lab>,
    /// How long a client may take to send a request, and to wait for its answer.
    pub answer_within: Duration,
    /// How many proxies stand before the shop.
    pub proxies: usize,
    /// Who may see the operator's pages.
    pub access: Access,
    /// What this process has counted.
    pub metrics: Metrics,
    /// Held by the audit that an operator has asked for: one at a time.
    pub auditing: Arc<Mutex<()>>,
    /// The work that outlives the connection it came from. Stopping waits for it.
    pub tasks: TaskTracker,
}

/// A running shop.
#[derive(Debug)]
pub struct Shop {
    /// What its requests have at hand.
    pub app: App,
    /// The simulator beside it, unless it uses another provider.
    pub simulator: Option<Simulator>,
    /// The password of the operator's pages, where none was given.
    pub made_up_password: Option<Secret>,
    workers: Workers,
    address: SocketAddr,
    stopping: CancellationToken,
    connections: Handle<SocketAddr>,
    serving: JoinHandle<io::Result<()>>,
}

impl Shop {
    /// Starts the shop, and the simulator when no other provider is named. It serves when this returns.
    pub async fn start(args: &ServeArgs) -> Result<Self, StartError> {
        let pricing = args.prices.pricing().map_err(StartError::Shipping)?;
        let clock = Clock::default();
        let db = Db::open(args.database.url.expose())
            .await
            .map_err(StartError::Database)?;
        parts::fill_catalog(&db, pricing.currency, clock.now()).await?;
        let listening = |error| StartError::Listen(args.listen, error);
        let listener = TcpListener::bind(args.listen).await.map_err(listening)?;
        let address = listener.local_addr().map_err(listening)?;
        let public_url = match &args.public_url {
            Some(url) => url.clone(),
            None => format!("http://{address}"),
        };
        let (provider_url, simulator) = if let Some(url) = &args.provider_url {
            (url.clone(), None)
        } else {
            let simulator = parts::start_simulator(args, address).await?;
            (simulator.url(), Some(simulator))
        };
        let links = Links::open(&db, &public_url, clock.now())
            .await
            .map_err(StartError::Database)?;
        let (password, made_up_password) = if let Some(password) = &args.admin_password {
            (password.clone(), None)
        } else {
            let password = access::make_up();
            (password.clone(), Some(password))
        };
        let stopping = CancellationToken::new();
        let app = App {
            lab: parts::lab(args, simulator.as_ref(), address, &stopping),
            access: Access::by(&password),
            metrics: Metrics::default(),
            auditing: Arc::default(),
            till: parts::till(args, db, clock, pricing, links, &provider_url)?,
            webhook_secrets: args.webhook_secret.clone().into(),
            api_keys: ApiKeys::new(&args.api_keys()),
            mailbox: parts::mailbox(args),
            answer_within: args.request_timeout,
            proxies: args.proxies,
            tasks: TaskTracker::new(),
        };
        let workers = Workers::on(&app.till.db);
        if args.workers {
            let background = Background::of(&app, args).await?;
            background.start(&workers, &app.tasks, &stopping);
        }
        let connections = Handle::new();
        let serving = tokio::spawn(serve(listener, app.clone(), connections.clone()));
        Ok(Self {
            app,
            simulator,
            made_up_password,
            workers,
            address,
            stopping,
            connections,
            serving,
        })
    }

    /// Where it can be reached on this machine, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops accepting, finishes what is in flight (30 seconds at most), and stops the simulator last, since a
    /// charge under way still needs it.
    pub async fn stop(self) {
        self.stopping.cancel();
        self.connections.graceful_shutdown(Some(GRACE));
        let finish = async {
            let _ = self.serving.await;
            self.app.tasks.close();
            self.app.tasks.wait().await;
            self.workers.stop().await;
        };
        if tokio::time::timeout(GRACE, finish).await.is_err() {
            tracing::warn!(
                "stopped with work in flight; open checkouts are taken up by their next request, webhook or reconciler"
            );
        }
        if let Some(simulator) = self.simulator {
            simulator.stop().await;
        }
        self.app.till.db.close().await;
    }
}

/// Serves until it is asked to stop. A client that connects and says nothing, or not all, is hung up on.
async fn serve(listener: TcpListener, app: App, connections: Handle<SocketAddr>) -> io::Result<()> {
    let mut server = axum_server::Server::from_listener(listener)
        .acceptor(NoDelayAcceptor::new())
        .first_request_timeout(app.answer_within)
        .http1_only()
        .handle(connections);
    server
        .http_builder()
        .http1()
        .header_read_timeout(app.answer_within);
    let router = web::router(app).into_make_service_with_connect_info::<SocketAddr>();
    server.serve(router).await
}

/// Why the shop did not start, in one line.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The database cannot be opened or brought up to date.
    #[error("cannot open the database: {0}")]
    Database(sqlx::Error),
    /// The configured amount is none.
    #[error("--shipping: {0}")]
    Shipping(NotAnAmount),
    /// The catalog is not priced in the configured currency.
    #[error(
        "the catalog is priced in {catalog}, and --currency is {currency}: sell in {catalog}, or import all goods with new prices"
    )]
    OtherCurrency {
        /// Of some goods at least.
        catalog: Currency,
        /// What is configured.
        currency: Currency,
    },
    /// The provider's URL is of no use.
    #[error("cannot use the provider's URL: {0}")]
    Provider(#[from] UnusableUrl),
    /// The URL of the bus is of no use.
    #[error("cannot use the bus's URL: {0}")]
    Bus(#[from] UnusableBusUrl),
    /// The mail server's URL is of no use.
    #[error("cannot use the mail server's URL: {0}")]
    Smtp(#[from] UnusableSmtpUrl),
    /// The simulator did not start.
    #[error("cannot start the simulator: {0}")]
    Simulator(#[from] SimulatorError),
}
