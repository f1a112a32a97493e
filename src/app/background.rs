//! What goes on without being asked. Any number of processes may do it at once.

use std::sync::Arc;

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{App, StartError};
use crate::{
    checkout::{Till, reconciler},
    config::ServeArgs,
    mail::{compose::Composer, post::Post, postman::Postman},
    outbox::{
        bus::{Bus, InProcess},
        inbox::CONSUMERS,
        nats::{Nats, consume::Consuming},
        relay::Relay,
    },
    pruner::{Pruner, Retention},
    refunds::refunder::Refunder,
    webhooks::missed,
    workers::Workers,
};

/// The workers of a shop, before they are started.
#[derive(Debug)]
pub struct Background {
    /// For the reconciler, and for whoever reads what the provider could not deliver.
    pub till: Till,
    /// Publishes.
    pub relay: Relay,
    /// Consumes, where the bus is one between processes.
    pub consuming: Vec<Consuming>,
    /// Sends mails.
    pub postman: Postman,
    /// Gives money back.
    pub refunder: Refunder,
    /// Deletes what is old.
    pub pruner: Pruner,
}

impl Background {
    /// Those that `args` ask for. It connects to the bus.
    pub(super) async fn of(app: &App, args: &ServeArgs) -> Result<Self, StartError> {
        let post = match &args.smtp_url {
            Some(url) => Post::smtp(url)?,
            None => Post::Folder(args.mail_folder.clone()),
        };
        let alone = Self::alone(app, post, args.mail_from.clone(), args.keep.clone());
        let Some(url) = &args.bus_url else {
            return Ok(alone);
        };
        let nats = Nats::connect(url).await?;
        let consuming = CONSUMERS.map(|consumer| Consuming {
            nats: nats.clone(),
            consumer,
            db: app.till.db.clone(),
            clock: app.till.clock.clone(),
        });
        Ok(Self {
            consuming: consuming.into(),
            relay: Relay::to(Arc::new(nats), &app.till.db, &app.till.clock),
            ..alone
        })
    }

    /// Those of a shop whose bus is within its own process.
    pub fn alone(app: &App, post: Post, from: lettre::message::Mailbox, keep: Retention) -> Self {
        let till = app.till.clone();
        let (db, clock) = (till.db.clone(), till.clock.clone());
        let bus: Arc<dyn Bus> = Arc::new(InProcess::new(db.clone(), clock.clone()));
        let composer = Composer {
            db: db.clone(),
            from,
            links: app.till.links.clone(),
        };
        // Where the lab is on, it can let the mail server be down.
        let postmans_db = match &app.lab {
            Some(lab) => db.with_probe(lab.postmans_probe()),
            None => db.clone(),
        };
        Self {
            relay: Relay::to(bus, &db, &clock),
            consuming: Vec::new(),
            postman: Postman::new(&postmans_db, &clock, composer, post),
            refunder: Refunder { till: till.clone() },
            pruner: Pruner { db, clock, keep },
            till,
        }
    }

    /// Starts all of them.
    pub(super) fn start(
        self,
        workers: &Workers,
        tasks: &TaskTracker,
        stopping: &CancellationToken,
    ) {
        tasks.spawn(reconciler::run(self.till.clone(), stopping.clone()));
        tasks.spawn(missed::run(self.till, stopping.clone()));
        tasks.spawn(self.pruner.run(stopping.clone()));
        for consuming in self.consuming {
            tasks.spawn(consuming.run(stopping.clone()));
        }
        workers.start(self.relay);
        workers.start(self.postman);
        workers.start(self.refunder);
    }
}
