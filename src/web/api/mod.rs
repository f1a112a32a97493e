//! The JSON API, for programs that buy. It is the pages without the paper: the same purchase, the same one path of a payment.
//!
//! ```text
//! POST /api/v1/checkouts ── client: whose API key ── key: which wish ── body: what ──┐
//! POST /checkout ─────────── the visitor's session ── the form ──────────────────────┴── submit ── drive ── …
//! ```
//!
//! There are no cookies, so no other site can make a browser send anything in somebody's name.

mod bodies;
mod checkouts;
mod client;
mod examples;
mod kinds;
mod new_checkout;
mod openapi;
mod orders;
mod page;
mod refunds;
mod request;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    routing::{get, post},
};

pub use self::client::ApiKeys;
use super::problem::Problem;
use crate::app::App;

/// Where all of it is.
pub const PATH: &str = "/api/v1";

/// The longest body that is read. One with fifty products has three kilobytes.
const BODY_MAX: usize = 64 * 1024;

/// What is under [`PATH`]: nothing, as long as there is no API key.
pub fn router(app: &App) -> Router<App> {
    let router = if app.api_keys.is_empty() {
        Router::new()
    } else {
        operations()
    };
    router
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_MAX))
}

fn operations() -> Router<App> {
    Router::new()
        .route("/checkouts", post(checkouts::create))
        .route("/checkouts/{id}", get(checkouts::show))
        .route("/orders/{number}", get(orders::show))
        .route("/orders/{number}/refunds", post(refunds::create))
        .route("/refunds/{id}", get(refunds::show))
        .route("/docs", get(page::serve))
        .route("/openapi.json", get(openapi::serve))
}

/// Everything that has no address of its own.
pub async fn not_found() -> Problem {
    kinds::NOT_FOUND.problem()
}

async fn wrong_method() -> Problem {
    kinds::WRONG_METHOD.problem()
}

/// A handler panicked, which is a mistake of ours.
pub fn panicked() -> Problem {
    kinds::INTERNAL.problem()
}
