//! The ground that worlds stand on, one after the other: a scratch database, and a provider in memory.
//!
//! A world has to begin with nothing, and cheaply. On SQLite that is a copy of a file that was migrated once, in memory where
//! the system has a file system there: a commit then costs no disk. On PostgreSQL it is a database of its own, which is
//! emptied in between.

mod folder;
mod server;

use std::{sync::Arc, time::Duration};

use chrono::Utc;
use serde_json::Value;

use self::{folder::Folder, server::Postgres};
use crate::{
    catalog,
    db::Db,
    lab::{bank::Bank, flow::Failed, naive},
    money::Currency,
    provider::Provider,
    secret::Secret,
    simulator::{Control, Simulator},
};

/// The shop's key at the provider.
pub const PROVIDER_KEY: &str = "sk_test_boring";

/// Signs the provider's webhooks.
pub const WEBHOOK_SECRET: &str = "whsec_boring";

/// Nothing here takes as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// What worlds stand on.
pub struct Ground {
    database: Scratch,
    simulator: Simulator,
    provider: Provider,
    bank: Bank,
}

enum Scratch {
    Sqlite(Folder),
    Postgres(Postgres),
}

impl Ground {
    /// One on SQLite.
    pub async fn sqlite() -> Result<Self, Failed> {
        Self::with(Scratch::Sqlite(Folder::make().await?)).await
    }

    /// One on a PostgreSQL server, in a database that is made there and [removed](Self::remove) at the end.
    pub async fn postgres(server: &Secret) -> Result<Self, Failed> {
        Self::with(Scratch::Postgres(Postgres::make(server).await?)).await
    }

    async fn with(database: Scratch) -> Result<Self, Failed> {
        let simulator = Simulator::start().await?;
        let key = Secret::new(PROVIDER_KEY);
        let provider = Provider::new(&simulator.url(), key, PATIENCE)?;
        Ok(Self {
            bank: Bank::at(simulator.url(), PROVIDER_KEY.into())?,
            provider,
            simulator,
            database,
        })
    }

    /// Clears away what the world before has left, and says where the database is.
    pub(super) async fn clear(&self) -> Result<String, Failed> {
        self.control().reset().await?;
        match &self.database {
            Scratch::Sqlite(folder) => folder.clear(),
            Scratch::Postgres(postgres) => postgres.clear().await,
        }
    }

    /// Removes the database. Nobody stands on it any more.
    pub async fn remove(self) -> Result<(), Failed> {
        self.simulator.stop().await;
        match self.database {
            Scratch::Sqlite(folder) => {
                drop(folder);
                Ok(())
            }
            Scratch::Postgres(postgres) => postgres.remove().await,
        }
    }

    /// Connections that the processes of a world hand on to each other, on PostgreSQL: as many of them as there may be are open.
    pub(super) async fn connections(&self) -> Result<Option<Db>, Failed> {
        match &self.database {
            Scratch::Sqlite(_) => Ok(None),
            Scratch::Postgres(postgres) => Ok(Some(postgres.connections().await?)),
        }
    }

    /// Waits until nobody is at work on a connection that processes hand on to each other.
    pub(super) async fn rest(&self) {
        if let Scratch::Postgres(postgres) = &self.database {
            postgres.rest().await;
        }
    }

    /// Waits until the database has noticed that a process has died, and has rolled back what it was at.
    pub(super) async fn notice_the_dead(&self) -> Result<(), Failed> {
        match &self.database {
            // The system lets go of the locks of the dead, and whoever comes next waits for them.
            Scratch::Sqlite(_) => Ok(()),
            Scratch::Postgres(postgres) => postgres.notice_the_dead().await,
        }
    }

    /// Where the provider is.
    pub fn provider_url(&self) -> String {
        self.simulator.url()
    }

    /// The levers of the provider.
    pub fn control(&self) -> Control {
        self.simulator.control()
    }

    /// All that the provider has to tell, the oldest first.
    pub async fn events(&self) -> Result<Vec<Arc<Value>>, Failed> {
        let page = self.provider.events_since(0, &[]).await?;
        Ok(page.events.into_iter().map(Arc::new).collect())
    }

    /// Approves what the bank asks at `page`.
    pub(super) async fn approve(&self, page: &str) -> Result<(), Failed> {
        self.bank.approve(page).await
    }

    /// Confirms the newest payment with `card`.
    pub(super) async fn confirm_newest(&self, card: &str) -> Result<(), Failed> {
        let intents = self.provider.list(0).await?;
        let newest = intents.first().ok_or("there is no payment to confirm")?;
        self.bank.confirm(&newest.id, card).await
    }
}

/// Brings the schema up to date, and fills the shelves.
async fn prepare(url: &str) -> Result<(), Failed> {
    let db = Db::open(url).await?;
    catalog::demo::seed_when_empty(&db, Currency::Eur, Utc::now()).await?;
    naive::create_tables(&db).await?;
    db.close().await;
    Ok(())
}
