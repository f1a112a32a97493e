//! The yardstick: what one purchase commits, and nothing else of the shop.
//!
//! [`script`] says what that is. On [`postgres`] pgbench runs it, with as many connections as there are clients; on [`sqlite`] a loop
//! on one connection does, which commits each step by itself: the cheapest way to be safe that does not wait for company.

pub mod postgres;
pub mod script;
pub mod sqlite;
mod values;

use std::path::Path;

use serde::Serialize;

use self::{postgres::Pgbench, sqlite::Loop};
use crate::{
    Args,
    database::{Engine, Ground},
    disk::{self, Syncs},
};

/// How often it is run to find out how often it can be run.
const FIRST: usize = 20;

/// The yardstick of an engine.
pub enum Yardstick {
    Sqlite(Loop),
    Postgres(Pgbench),
}

/// How long it was, and how long a sync took at the time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Reading {
    /// Purchases a second.
    pub rate: f64,
    /// Milliseconds.
    pub sync: f64,
}

impl Yardstick {
    /// In a database of its own.
    pub async fn of(args: &Args, ground: &Ground, engine: Engine, syncs: &Syncs) -> Self {
        let folder = ground.folder.clone();
        let database = ground.database(engine, "yardstick").await;
        match engine {
            Engine::Postgres => Self::Postgres(Pgbench {
                program: args.pgbench.clone(),
                database,
                folder,
            }),
            Engine::Sqlite => {
                let url = database.url.clone();
                database.db.close().await;
                Self::Sqlite(Loop {
                    url,
                    syncs: syncs.clone(),
                })
            }
        }
    }

    /// The same one on another disk. pgbench's is the server's.
    pub fn on(self, syncs: &Syncs) -> Self {
        match self {
            Self::Sqlite(own) => Self::Sqlite(Loop {
                syncs: syncs.clone(),
                ..own
            }),
            postgres @ Self::Postgres(_) => postgres,
        }
    }

    /// Reads it for so many seconds, with so many clients where it has any.
    pub async fn read(&self, folder: &Path, clients: usize, seconds: u32) -> Reading {
        let sync = disk::sync_milliseconds(folder);
        let rate = match self {
            Self::Sqlite(own) => {
                let rate = own.run(FIRST);
                own.run(so_many(rate, seconds))
            }
            Self::Postgres(pgbench) => {
                let rate = pgbench.run(clients, FIRST).await;
                pgbench
                    .run(clients, so_many(rate, seconds).div_ceil(clients))
                    .await
            }
        };
        Reading { rate, sync }
    }
}

/// What can be done in so many seconds.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is positive, and no million"
)]
pub fn so_many(rate: f64, seconds: u32) -> usize {
    (rate * f64::from(seconds)).ceil() as usize
}
