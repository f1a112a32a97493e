//! The shop over HTTP: pages for people, for its [operator](admin), and a few addresses for machines.
//!
//! A handler is a table of contents: extract, parse, decide, answer. What goes wrong is turned into an answer in
//! one place, [`error`].

mod address;
pub mod admin;
pub mod api;
pub mod assets;
mod cart;
mod catalog;
mod checkout;
pub mod checkout_form;
pub mod error;
pub mod fields;
mod forward;
mod headers;
mod health;
mod lab;
mod mailbox;
pub mod metrics;
mod orders;
mod own_name;
mod path;
mod problem;
mod run_to_end;
mod same_origin;
mod sessions;
mod show;
mod status;
mod typed;
pub mod views;
mod visitor;
mod webhooks;

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    middleware::from_fn_with_state,
    routing::{any, get, post},
};
use tower_http::trace::{DefaultOnResponse, TraceLayer};
use tracing::{Level, Span};

use crate::app::App;

/// The longest form that is read. A checkout's is under two kilobytes.
const FORM_MAX: usize = 64 * 1024;

/// All of it.
pub fn router(app: App) -> Router {
    let behind = mailbox::router(&app)
        .merge(lab::router(&app))
        .layer(from_fn_with_state(app.clone(), own_name::only));
    let pages = Router::new()
        .route("/", get(catalog::list))
        .route("/products/{sku}", get(catalog::product))
        .route("/cart", get(cart::cart))
        .route("/cart/items", post(cart::add))
        .route("/cart/items/{sku}", post(cart::set_quantity))
        .route("/checkout", get(checkout::form).post(checkout::submit))
        .route("/checkouts/{id}", get(status::status))
        .route("/orders/{number}", get(orders::order))
        .merge(behind)
        .fallback(error::not_found)
        .method_not_allowed_fallback(error::wrong_method)
        .layer(DefaultBodyLimit::max(FORM_MAX))
        .layer(sessions::layer(&app))
        .layer(same_origin::layer(&app));
    let machines = Router::new()
        .route("/webhooks/provider", post(webhooks::receive))
        .route("/webhooks/provider/", post(webhooks::receive))
        .layer(DefaultBodyLimit::max(webhooks::BODY_MAX))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .route("/static/{*path}", get(assets::serve));
    let all = machines
        .nest(api::PATH, api::router(&app))
        // Which is not a part of what is nested.
        .route(&format!("{}/", api::PATH), any(api::not_found))
        .merge(pages)
        .merge(admin::router(&app))
        .layer(from_fn_with_state(app.clone(), run_to_end::run_to_end))
        // Around it, since the page of a handler that panicked comes from there.
        .layer(from_fn_with_state(app.clone(), headers::set))
        .with_state(app);
    traced(all)
}

/// The same, with each request and its answer in the log.
pub fn traced(router: Router) -> Router {
    router.layer(
        TraceLayer::new_for_http()
            .make_span_with(span)
            .on_response(DefaultOnResponse::new().level(Level::INFO))
            .on_failure(()),
    )
}

/// What each line of a request's log begins with. The path alone: what the provider adds to the way back from the
/// bank's page, behind the question mark, has a secret in it.
fn span(request: &Request) -> Span {
    tracing::info_span!("request", method = %request.method(), path = request.uri().path())
}
