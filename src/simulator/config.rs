//! How a simulator is to be run, and why one could not be started.

use std::{collections::HashSet, fmt, net::SocketAddr, time::Duration};

use super::{
    faults::Chaos, place::without_secrets, refused::Refused, store::StoreError, webhook_endpoints,
};

/// How to run a simulator.
#[derive(Clone)]
pub struct SimulatorConfig {
    /// Where to listen. Port 0 takes any free one: see [`Simulator::url`](super::Simulator::url).
    pub listen: SocketAddr,
    /// `sqlite://path/to/file.db`, created when missing with its folder, or `sqlite::memory:`.
    pub database_url: String,
    /// The secret key that requests must carry.
    pub key: String,
    /// Where events are delivered: each URL once.
    pub webhooks: Vec<WebhookTarget>,
    /// How long a webhook's receiver may take to answer.
    pub webhook_timeout: Duration,
    /// Random faults, from the first request on.
    pub chaos: Option<Chaos>,
}

/// An endpoint that wants every event.
#[derive(Clone)]
pub struct WebhookTarget {
    /// Identifies the endpoint: with the same URL at the next start, only the secret changes.
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
    #[error(
        "the simulator cannot listen on {address}: {source}; choose another address, port 0 for any free one"
    )]
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
    /// Two targets have the same URL: which of their secrets would sign?
    #[error("the webhook URL {} is given twice", without_secrets(url))]
    WebhookTwice {
        /// As configured.
        url: String,
    },
    /// The rates of chaos are none.
    #[error("the simulator cannot play chaos: {0}")]
    Chaos(Refused),
    /// The HTTP client that delivers webhooks cannot be built.
    #[error("the simulator cannot deliver webhooks: {0}")]
    Client(#[from] reqwest::Error),
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
            chaos: None,
        }
    }
}

impl SimulatorConfig {
    /// Refuses what can be seen to be wrong without trying.
    pub(super) fn check(&self) -> Result<(), SimulatorError> {
        let mut urls = HashSet::new();
        for target in &self.webhooks {
            target.check()?;
            if !urls.insert(&target.url) {
                let url = target.url.clone();
                return Err(SimulatorError::WebhookTwice { url });
            }
        }
        if let Some(chaos) = &self.chaos {
            chaos.check().map_err(SimulatorError::Chaos)?;
        }
        Ok(())
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
            .field("chaos", &self.chaos)
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
