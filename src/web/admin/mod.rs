//! The operator's pages: what happened, what is stuck, and the few things that a person has to do.
//!
//! They are for one user, by a password ([`access`]). What they show comes from the domain's own `operator` modules, which
//! the command line shares. They set no cookie and know no visitor.

pub mod access;
mod chrome;
mod error;
mod failures;
mod overview;
mod refund;
mod refund_form;
mod refund_status;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::from_fn_with_state,
    routing::{get, post},
};

use super::{FORM_MAX, same_origin};
use crate::app::App;

/// All of them, to be nested at `/admin`.
pub fn router(app: &App) -> Router<App> {
    Router::new()
        .route("/", get(overview::overview))
        .route("/orders/{number}/refunds", post(refund::ask))
        .route("/orders/{number}/refunds/new", get(refund::form))
        .route("/orders/{number}/refunds/{id}", get(refund_status::status))
        .fallback(error::not_found)
        .method_not_allowed_fallback(error::wrong_method)
        .layer(DefaultBodyLimit::max(FORM_MAX))
        // A browser sends the password along with whatever another site makes it send.
        .layer(from_fn_with_state(app.clone(), same_origin::require))
        .layer(from_fn_with_state(app.clone(), access::require))
}
