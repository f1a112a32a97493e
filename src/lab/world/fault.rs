//! What can go wrong, and where.

use std::{fmt, str::FromStr};

use crate::probe::Boundary;

/// What happens at a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The process dies, with all that it has in memory.
    Crash,
    /// The connection breaks: before the boundary nothing was done, after it only the answer is lost.
    Lost,
    /// The provider answers 500, and has done nothing.
    ErrorBefore,
    /// The provider does what it was asked for, answers 500, and will answer so again.
    ErrorAfter,
    /// The provider asks to come again later.
    RateLimit,
    /// The same request comes again, and runs until it ends or has to wait.
    Again,
    /// The provider delivers what it has to tell, or tells it again.
    Webhook,
    /// Whoever sent the request goes away.
    Leave,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Crash,
        Self::Lost,
        Self::ErrorBefore,
        Self::ErrorAfter,
        Self::RateLimit,
        Self::Again,
        Self::Webhook,
        Self::Leave,
    ];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Lost => "lost",
            Self::ErrorBefore => "error-before",
            Self::ErrorAfter => "error-after",
            Self::RateLimit => "rate-limit",
            Self::Again => "again",
            Self::Webhook => "webhook",
            Self::Leave => "leave",
        }
    }

    /// Whether it can happen at `boundary`. What comes in between can come anywhere.
    pub fn fits(self, boundary: Boundary) -> bool {
        match self {
            Self::ErrorBefore | Self::ErrorAfter | Self::RateLimit => {
                matches!(boundary, Boundary::BeforeSend(_))
            }
            Self::Crash | Self::Lost | Self::Again | Self::Webhook | Self::Leave => true,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = NotAFault;
    fn from_str(name: &str) -> Result<Self, NotAFault> {
        let known = Self::ALL.into_iter().find(|fault| fault.name() == name);
        known.ok_or(NotAFault)
    }
}

/// The text names no fault.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a fault is one of crash, lost, error-before, error-after, rate-limit, again, webhook, leave"
)]
pub struct NotAFault;
