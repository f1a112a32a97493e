//! A shop and its provider, as they are run: a process each, and a database.

use std::{
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use boring_checkout::webhooks::KINDS;

use super::{
    buyers::{self, Form, Manner},
    database::Database,
    disk::Syncs,
    forms::{self, Goods, Sessions},
    http::{Connection, get, post},
    processes::{PROGRAM, Process, WEBHOOK_SECRET, command, free_address},
};

/// What follows a payment is through within this time, or the run ends.
const PATIENCE: Duration = Duration::from_mins(2);

/// To the provider.
const AUTHORIZATION: &str = "Authorization: Bearer sk_test_boring\r\n";

/// How often it is looked whether it is.
const LOOKS: Duration = Duration::from_millis(20);

/// How many events the provider tells of a purchase: there are more, to which nobody has subscribed.
pub const EVENTS: i64 = 1;

/// The provider counts the money of a payment after a second, and that takes it a while.
pub const LATE: Duration = Duration::from_millis(1500);

/// Which checkout serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Safe,
    Naive,
}

/// How a shop is run.
#[derive(Clone, Debug)]
pub struct Premises {
    pub folder: PathBuf,
    pub flow: Flow,
    pub syncs: Syncs,
    pub log: String,
}

/// A shop that is open.
pub struct World<'d> {
    pub premises: Premises,
    pub database: &'d Database,
    pub shop: Process,
    pub simulator: Process,
    sessions: Option<Sessions>,
}

impl<'d> World<'d> {
    pub async fn open(database: &'d Database, premises: Premises) -> Self {
        let address = free_address();
        let simulator = start_simulator(&premises, address);
        subscribe(simulator.address);
        let shop = start_shop(&premises, database, address, simulator.address);
        let sessions = match premises.flow {
            Flow::Safe => {
                let mut connection = Connection::to(address);
                Some(Sessions::like_those_of(&mut connection, database).await)
            }
            Flow::Naive => None,
        };
        let world = Self {
            premises,
            database,
            shop,
            simulator,
            sessions,
        };
        if let Flow::Safe = world.premises.flow {
            let forms = world.forms(Goods::All, 1).await;
            forms::check(&mut Connection::to(address), &forms[0]);
        }
        world
    }

    /// So many filled in forms.
    pub async fn forms(&self, goods: Goods, count: usize) -> Vec<Form> {
        match &self.sessions {
            Some(sessions) => forms::safe(self.database, sessions, goods, count).await,
            None => forms::naive(self.database, goods, count).await,
        }
    }

    /// How many events the shop has heard of.
    pub async fn heard(&self) -> i64 {
        let sql = match self.premises.flow {
            Flow::Safe => "select count(*) from processed_events",
            Flow::Naive => "select count(*) from naive_events",
        };
        self.database.count(sql).await
    }

    /// How many events of our kinds the provider has made so far. It counts them one by one, so this is not for a busy one.
    fn told(&self) -> i64 {
        let mut provider = Connection::to(self.simulator.address);
        let ledger = provider
            .send(&get("/_control/ledger", AUTHORIZATION))
            .json();
        let told = KINDS
            .iter()
            .map(|kind| ledger["events_by_type"][kind].as_i64());
        told.map(Option::unwrap_or_default).sum()
    }

    /// Waits until so many events were heard of, all messages are published and all mails are sent.
    pub async fn is_through(&self, heard: i64) {
        eventually(async || self.rests().await && self.heard().await >= heard).await;
    }

    /// Buys a few things, to get warm, and checks what the provider tells of each.
    pub async fn warms_up(&self) {
        let forms = self.forms(Goods::All, 64).await;
        let heard = self.heard().await;
        let manner = Manner {
            clients: 8,
            rate: None,
            follows: true,
        };
        buyers::buy(self.shop.address, &forms, manner);
        self.is_through(heard + 64 * EVENTS).await;
        assert_eq!(self.told(), 64 * EVENTS, "events of each purchase");
    }

    async fn rests(&self) -> bool {
        if self.premises.flow == Flow::Naive {
            return true; // It sends its mails where they fall due.
        }
        let left = "select (select count(*) from outbox where published_at is null)
                         + (select count(*) from emails where sent_at is null and given_up_at is null)";
        self.database.count(left).await == 0
    }

    /// Stops the shop and starts it again. Returns how long it took from there to a purchase that could be made.
    pub fn reopen(&mut self) -> Duration {
        let address = self.shop.address;
        self.shop.end();
        let began = Instant::now();
        self.shop = start_shop(
            &self.premises,
            self.database,
            address,
            self.simulator.address,
        );
        let ready = Connection::to(address).send(&get("/readyz", "")).status;
        assert_eq!(ready, 200);
        began.elapsed()
    }
}

async fn eventually(is_so: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < PATIENCE, "work is left over");
        tokio::time::sleep(LOOKS).await;
    }
}

fn start_simulator(premises: &Premises, shop: SocketAddr) -> Process {
    let path = match premises.flow {
        Flow::Safe => "/webhooks/provider",
        Flow::Naive => "/naive/webhook",
    };
    let mut simulator = command(PROGRAM, None);
    simulator
        .args(["provider", "--ephemeral", "--listen", "127.0.0.1:0"])
        .args(["--log", &premises.log])
        .args([
            "--webhook",
            &format!("http://{shop}{path}={WEBHOOK_SECRET}"),
        ]);
    Process::start(&mut simulator, &premises.folder, "simulator")
}

/// To what a checkout has to hear of, as docs/running.md says, and not to all that there is.
fn subscribe(provider: SocketAddr) {
    const ENDPOINTS: &str = "/v1/webhook_endpoints";
    let mut provider = Connection::to(provider);
    let endpoints = provider.send(&get(ENDPOINTS, AUTHORIZATION)).json();
    let endpoint = endpoints["data"][0]["id"].as_str().unwrap();
    let kinds = KINDS.map(|kind| ("enabled_events[]", kind));
    let path = format!("{ENDPOINTS}/{endpoint}");
    let answer = provider.send(&post(&path, AUTHORIZATION, &kinds));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn start_shop(
    premises: &Premises,
    database: &Database,
    address: SocketAddr,
    provider: SocketAddr,
) -> Process {
    let (program, more): (_, &[&str]) = match premises.flow {
        Flow::Safe => (
            PathBuf::from(PROGRAM),
            &[
                "--no-lab",
                "--webhook-secret",
                WEBHOOK_SECRET,
                "--log",
                &premises.log,
            ],
        ),
        Flow::Naive => (std::env::current_exe().unwrap(), &[]),
    };
    let mut shop = command(program, Some(&premises.syncs));
    shop.arg(match premises.flow {
        Flow::Safe => "serve",
        Flow::Naive => "naive",
    })
    .args(["--listen", &address.to_string()])
    .args(["--database-url", &database.url])
    .args(["--provider-url", &format!("http://{provider}")])
    .arg("--mail-folder")
    .arg(premises.folder.join("mail"))
    .args(more);
    Process::start(&mut shop, &premises.folder, "shop")
}
