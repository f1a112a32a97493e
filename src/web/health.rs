//! For the machines that watch over this one.

use axum::{extract::State, http::StatusCode};

use super::problem::Problem;
use crate::{app::App, catalog};

/// `GET /healthz`: the process answers.
pub async fn alive() -> &'static str {
    "alive\n"
}

/// `GET /readyz`: a purchase could be made now. Migrations were applied before the first request was accepted.
pub async fn ready(State(app): State<App>) -> Result<&'static str, Problem> {
    let currency = app.till.pricing.currency;
    let catalog = catalog::other_currency(&app.till.db, currency);
    let (catalog, provider) = tokio::join!(catalog, app.till.provider.ping());
    let detail = match (catalog, provider) {
        (Ok(None), Ok(())) => return Ok("ready\n"),
        (Err(_), _) => "the database does not answer".to_owned(),
        // Somebody may have imported it since the shop was started, which refuses such a catalog.
        (Ok(Some(catalog)), _) => {
            format!("the catalog has prices in {catalog}, and the shop sells in {currency}")
        }
        (Ok(None), Err(doubt)) => {
            format!("the payment provider does not answer as it should: {doubt:?}")
        }
    };
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail))
}
