//! Wiring: from a configuration to a running shop, and to its orderly end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::{net::TcpListener, sync::Mutex, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    catalog,
    checkout::{Till, reconciler},
    clock::Clock,
    config::ServeArgs,
    db::Db,
    mail::{
        compose::Composer,
        mailbox::Mailbox,
        post::{Post, UnusableSmtpUrl},
        postman::Postman,
    },
    money::{Currency, NotAnAmount},
    order_links::OrderLinks,
    outbox::{
        bus::{Bus, InProcess},
        inbox::CONSUMERS,
        nats::{Nats, UnusableBusUrl, consume::Consuming},
        relay::Relay,
    },
    provider::{Provider, UnusableUrl},
    pruner::Pruner,
    refunds::refunder::Refunder,
    secret::Secret,
    simulator::{Simulator, SimulatorConfig, SimulatorError, WebhookTarget},
    web::{
        self,
        admin::access::{self, Access},
        api::ApiKeys,
        metrics::Metrics,
    },
    webhooks::missed,
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
    /// The links to orders that mails carry.
    pub order_links: OrderLinks,
    /// The keys of the programs that buy through the API.
    pub api_keys: ApiKeys,
    /// The mails that were written, where anybody who sees the shop may see them.
    pub mailbox: Option<Mailbox>,
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
        fill_catalog(&db, pricing.currency, clock.now()).await?;
        let listener = TcpListener::bind(args.listen)
            .await
            .map_err(|error| StartError::Listen(args.listen, error))?;
        let address = listener
            .local_addr()
            .map_err(|error| StartError::Listen(args.listen, error))?;
        let public_url = match &args.public_url {
            Some(url) => url.clone(),
            None => format!("http://{address}"),
        };
        let (provider_url, simulator) = if let Some(url) = &args.provider_url {
            (url.clone(), None)
        } else {
            let simulator = start_simulator(args, address).await?;
            (simulator.url(), Some(simulator))
        };
        let order_links = OrderLinks::open(&db, &public_url, clock.now())
            .await
            .map_err(StartError::Database)?;
        let (password, made_up_password) = if let Some(password) = &args.admin_password {
            (password.clone(), None)
        } else {
            let password = access::make_up();
            (password.clone(), Some(password))
        };
        let app = App {
            order_links,
            access: Access::by(&password),
            metrics: Metrics::default(),
            auditing: Arc::default(),
            till: Till {
                provider: Provider::new(
                    &provider_url,
                    args.provider_key.key.clone(),
                    args.provider_timeout,
                )?,
                db,
                clock,
                lease: TimeDelta::from_std(args.lease).unwrap_or(TimeDelta::MAX),
                authentication_time: TimeDelta::from_std(args.authentication_time)
                    .unwrap_or(TimeDelta::MAX),
                public_url,
                pricing: Arc::new(pricing),
            },
            webhook_secrets: args.webhook_secret.clone().into(),
            api_keys: ApiKeys::new(&args.api_keys()),
            mailbox: mailbox(args),
            tasks: TaskTracker::new(),
        };
        let workers = Workers::on(&app.till.db);
        let stopping = CancellationToken::new();
        if args.workers {
            start_workers(&workers, &app, args, &stopping).await?;
        }
        let router = web::router(app.clone()).into_make_service_with_connect_info::<SocketAddr>();
        let serving = tokio::spawn(
            axum::serve(listener, router)
                .with_graceful_shutdown(stopping.clone().cancelled_owned())
                .into_future(),
        );
        Ok(Self {
            app,
            simulator,
            made_up_password,
            workers,
            address,
            stopping,
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

/// Fills an empty catalog. A full one must be priced in the shop's currency: a figure would be right in no other.
async fn fill_catalog(db: &Db, currency: Currency, now: DateTime<Utc>) -> Result<(), StartError> {
    catalog::demo::seed_when_empty(db, currency, now)
        .await
        .map_err(StartError::Database)?;
    let other = catalog::other_currency(db, currency).await;
    match other.map_err(StartError::Database)? {
        None => Ok(()),
        Some(catalog) => Err(StartError::OtherCurrency { catalog, currency }),
    }
}

/// A part of the lab, as long as mails are files.
fn mailbox(args: &ServeArgs) -> Option<Mailbox> {
    (args.is_lab_on() && args.smtp_url.is_none()).then(|| Mailbox::at(&args.mail_folder))
}

/// Starts what works without being asked. Any number of processes may do so.
async fn start_workers(
    workers: &Workers,
    app: &App,
    args: &ServeArgs,
    stopping: &CancellationToken,
) -> Result<(), StartError> {
    let (till, tasks) = (&app.till, &app.tasks);
    tasks.spawn(reconciler::run(till.clone(), stopping.clone()));
    tasks.spawn(missed::run(till.clone(), stopping.clone()));
    let (db, clock) = (till.db.clone(), till.clock.clone());
    let pruner = Pruner {
        db: db.clone(),
        clock: clock.clone(),
        keep: args.keep.clone(),
    };
    tasks.spawn(pruner.run(stopping.clone()));
    let bus: Arc<dyn Bus> = match &args.bus_url {
        Some(url) => Arc::new(join_bus(url, app, stopping).await?),
        None => Arc::new(InProcess {
            db: db.clone(),
            clock: clock.clone(),
        }),
    };
    let composer = Composer {
        db: db.clone(),
        from: args.mail_from.clone(),
        links: app.order_links.clone(),
    };
    let post = match &args.smtp_url {
        Some(url) => Post::smtp(url)?,
        None => Post::Folder(args.mail_folder.clone()),
    };
    workers.start(Relay {
        db: db.clone(),
        clock: clock.clone(),
        bus,
    });
    workers.start(Postman {
        db,
        clock,
        composer,
        post,
    });
    workers.start(Refunder { till: till.clone() });
    Ok(())
}

/// Connects to the bus between processes, and lets every consumer consume from it.
async fn join_bus(
    url: &Secret,
    app: &App,
    stopping: &CancellationToken,
) -> Result<Nats, UnusableBusUrl> {
    let nats = Nats::connect(url).await?;
    for consumer in CONSUMERS {
        let consuming = Consuming {
            nats: nats.clone(),
            consumer,
            db: app.till.db.clone(),
            clock: app.till.clock.clone(),
        };
        app.tasks.spawn(consuming.run(stopping.clone()));
    }
    Ok(nats)
}

/// Starts the simulator with a webhook endpoint that points back at the shop.
async fn start_simulator(args: &ServeArgs, shop: SocketAddr) -> Result<Simulator, StartError> {
    let secret = args.webhook_secret.first();
    let webhooks = secret.map(|secret| WebhookTarget {
        url: format!("http://{shop}/webhooks/provider"),
        secret: secret.expose().to_owned(),
    });
    let simulator = Simulator::start_with(SimulatorConfig {
        listen: args.provider_listen,
        database_url: args.provider_database_url.clone(),
        key: args.provider_key.key.expose().to_owned(),
        webhooks: webhooks.into_iter().collect(),
        ..SimulatorConfig::default()
    });
    Ok(simulator.await?)
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
