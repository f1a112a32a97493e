//! Where the worlds stand: on SQLite or, when `TEST_DATABASE_URL` names a PostgreSQL server, on that.

use std::env;

use boring_checkout::{lab::world::Ground, secret::Secret};

pub async fn ground() -> Ground {
    let ground = match env::var("TEST_DATABASE_URL") {
        Ok(server) => Ground::postgres(&Secret::new(&server)).await,
        Err(_) => Ground::sqlite().await,
    };
    ground.expect("a scratch database")
}

pub fn is_on_postgres() -> bool {
    env::var_os("TEST_DATABASE_URL").is_some()
}

/// A number from the environment, for longer runs.
pub fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number, not {text}")),
    )
}
