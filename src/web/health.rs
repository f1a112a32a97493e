//! For the machines that watch over this one.

use axum::{extract::State, http::StatusCode};

use super::problem::Problem;
use crate::app::App;

/// `GET /healthz`: the process answers.
pub async fn alive() -> &'static str {
    "alive\n"
}

/// `GET /readyz`: a purchase could be made now. Migrations were applied before the first request was accepted.
pub async fn ready(State(app): State<App>) -> Result<&'static str, Problem> {
    let database = app
        .till
        .db
        .query("select count(*) from products")
        .fetch_scalar::<i64>();
    let (database, provider) = tokio::join!(database, app.till.provider.ping());
    let detail = match (database, provider) {
        (Ok(_), Ok(())) => return Ok("ready\n"),
        (Err(_), _) => "the database does not answer".to_owned(),
        (Ok(_), Err(doubt)) => {
            format!("the payment provider does not answer as it should: {doubt:?}")
        }
    };
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail))
}
