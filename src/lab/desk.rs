//! The lab of a running shop: what its pages have at hand.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use tokio_util::sync::CancellationToken;

use super::{bank::Bank, flow::Failed, runs::Runs};
use crate::{
    probe::{Boundary, Failure, Probe},
    secret::Secret,
    simulator::Control,
};

/// The lab; cheap to clone.
#[derive(Clone, Debug)]
pub struct Lab(Arc<Desk>);

#[derive(Debug)]
struct Desk {
    provider: Option<OwnProvider>,
    /// So many mails find the mail server down.
    failing_mails: Arc<AtomicU32>,
    runs: Runs,
    stopping: CancellationToken,
}

/// The simulator that this process runs, and how it is reached.
#[derive(Clone, Debug)]
pub struct OwnProvider {
    /// Its levers.
    pub control: Control,
    /// Where it is.
    pub url: String,
    /// Our key there.
    pub key: Secret,
    /// Where it delivers our events.
    pub webhook: Option<String>,
}

impl Lab {
    /// One with this provider, until `stopping` is cancelled.
    pub fn open(provider: Option<OwnProvider>, stopping: CancellationToken) -> Self {
        Self(Arc::new(Desk {
            provider,
            failing_mails: Arc::default(),
            runs: Runs::default(),
            stopping,
        }))
    }

    /// The levers of the simulator that this process runs.
    pub fn simulator(&self) -> Result<&Control, NotOurs> {
        Ok(&self.provider()?.control)
    }

    /// The page of that simulator.
    pub fn provider_url(&self) -> Option<&str> {
        Some(self.0.provider.as_ref()?.url.as_str())
    }

    /// Where it delivers the shop's events.
    pub(super) fn webhook(&self) -> Option<String> {
        self.0.provider.as_ref()?.webhook.clone()
    }

    pub(super) fn bank(&self) -> Result<Bank, Failed> {
        let provider = self.provider()?;
        Bank::at(provider.url.clone(), provider.key.clone())
    }

    pub(super) fn runs(&self) -> &Runs {
        &self.0.runs
    }

    /// Cancelled when the shop stops.
    pub fn stopping(&self) -> CancellationToken {
        self.0.stopping.clone()
    }

    /// The next mails, so many, find the mail server down.
    pub fn fail_mails(&self, number: u32) {
        self.0.failing_mails.store(number, Ordering::SeqCst);
    }

    /// How many mails will still find it down.
    pub fn failing_mails(&self) -> u32 {
        self.0.failing_mails.load(Ordering::SeqCst)
    }

    /// The probe of the shop's postman.
    pub fn postmans_probe(&self) -> Probe {
        let failing = Arc::clone(&self.0.failing_mails);
        Probe::new(move |boundary| {
            let one_less = |number: u32| number.checked_sub(1);
            let is_down = matches!(boundary, Boundary::BeforeMail(_))
                && failing
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                    .is_ok();
            async move { if is_down { Err(Failure::Lost) } else { Ok(()) } }
        })
    }

    fn provider(&self) -> Result<&OwnProvider, NotOurs> {
        self.0.provider.as_ref().ok_or(NotOurs)
    }
}

/// The provider is not the simulator that this process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider is not the simulator that this shop has started")]
pub struct NotOurs;
