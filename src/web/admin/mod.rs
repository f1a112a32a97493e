//! The operator's pages: what happened, what is stuck, and the few things that a person has to do.
//!
//! They are for one user, by a password ([`access`]). What they show comes from the domain's own `operator` modules, which
//! the command line shares. They set no cookie and know no visitor.

pub mod access;
mod audit;
mod checkouts;
mod chrome;
mod customers;
mod discrepancies;
mod error;
mod events;
mod list;
mod listing;
mod mail;
mod orders;
mod outbox;
mod overview;
mod params;
mod refund;
mod refund_form;
mod refund_status;
mod refunds;
mod story;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::from_fn_with_state,
    routing::{get, post},
};

use super::{FORM_MAX, same_origin};
use crate::app::App;

/// All of them, at `/admin`.
pub fn router(app: &App) -> Router<App> {
    let pages = Router::new()
        .route("/", get(overview::overview))
        .route("/checkouts", get(checkouts::list))
        .route("/checkouts/{id}", get(story::story))
        .route("/orders", get(orders::list))
        .route("/orders/{number}", get(orders::order))
        .route("/orders/{number}/refunds", post(refund::ask))
        .route("/orders/{number}/refunds/new", get(refund::form))
        .route("/orders/{number}/refunds/{id}", get(refund_status::status))
        .route("/customers", get(customers::list))
        .route("/refunds", get(refunds::list))
        .route("/events", get(events::list))
        .route("/outbox", get(outbox::list))
        .route("/outbox/retry", post(outbox::retry_all))
        .route("/outbox/{id}/retry", post(outbox::retry_one))
        .route("/mail", get(mail::list))
        .route("/mail/retry", post(mail::retry_all))
        .route("/mail/{about}/retry", post(mail::retry_one))
        .route("/mail/{about}/{kind}/resend", post(mail::resend))
        .route("/discrepancies", get(discrepancies::list))
        .route("/discrepancies/{id}", get(discrepancies::one))
        .route("/discrepancies/{id}/resolve", post(discrepancies::resolve))
        .route("/audit", get(audit::ask).post(audit::run))
        .fallback(error::not_found);
    // To a nested router this is another address than the one without the slash.
    let with_slash = Router::new().route("/admin/", get(overview::overview));
    let guarded = |router: Router<App>| {
        router
            .method_not_allowed_fallback(error::wrong_method)
            .layer(DefaultBodyLimit::max(FORM_MAX))
            // A browser sends the password along with whatever another site makes it send.
            .layer(same_origin::layer(app))
            .layer(from_fn_with_state(app.clone(), access::require))
    };
    guarded(with_slash).nest("/admin", guarded(pages))
}
