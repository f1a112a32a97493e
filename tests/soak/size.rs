//! How long it takes, and how hard it is.

use std::{env, fmt::Debug, str::FromStr};

use rand::RngExt as _;

/// What the environment asks for; the test run asks for nothing.
#[derive(Clone, Debug)]
pub struct Size {
    /// `SOAK_PURCHASES`: how many customers come, in all.
    pub purchases: usize,
    /// `SOAK_CUSTOMERS`: how many at a time.
    pub customers: usize,
    /// `SOAK_PURCHASES_PER_BLOW`: something is killed or frozen once for so many purchases.
    pub purchases_per_blow: usize,
    /// `SOAK_SEED`: who does what, and what is hit. When, the machine decides.
    pub seed: u64,
    /// `SOAK_POSTGRES_RESTART`: a command that kills PostgreSQL and starts it again, when that is allowed.
    pub postgres_restart: Option<String>,
}

impl Size {
    pub fn of_environment() -> Self {
        Self {
            purchases: number("SOAK_PURCHASES").unwrap_or(200),
            customers: number("SOAK_CUSTOMERS").unwrap_or(16),
            purchases_per_blow: number("SOAK_PURCHASES_PER_BLOW").unwrap_or(12),
            seed: number("SOAK_SEED").unwrap_or_else(|| rand::rng().random()),
            postgres_restart: env::var("SOAK_POSTGRES_RESTART").ok(),
        }
    }
}

fn number<N: FromStr<Err: Debug>>(name: &str) -> Option<N> {
    let text = env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is a number, and not {text}")))
}
