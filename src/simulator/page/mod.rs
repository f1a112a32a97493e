//! The page at `/`: what the simulator knows and waits for, and its levers as forms.
//!
//! Everything works without JavaScript: forms post, answers redirect, and `/?refresh=5` looks again every five
//! seconds. With it, the parts that change are replaced every second while somebody looks.
//!
//! On this machine no key is asked for, since whoever sits here owns the simulator. From elsewhere the key is the
//! user name of Basic authentication.

mod forms;
mod layout;
mod view;

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, Query, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use serde::Deserialize;
use url::Host;

pub(super) use self::layout::{Message, assets, page, same_origin, with_headers};
use self::{forms::Typed, view::Overview};
use super::{Shared, control::Control, error::ApiError};

/// The longest form is a few hundred bytes.
const FORM_MAX: usize = 16 * 1024;

/// How often a page may ask to be looked at again, in seconds.
const REFRESH: std::ops::RangeInclusive<u32> = 1..=3600;

pub(super) fn router(shared: &Arc<Shared>) -> Router<Arc<Shared>> {
    Router::new()
        .route("/", get(show))
        .route("/faults", post(forms::arm_on_requests))
        .route("/faults/webhooks", post(forms::arm_on_webhooks))
        .route("/faults/clear", post(forms::clear_faults))
        .route("/chaos", post(forms::start_chaos))
        .route("/chaos/end", post(forms::end_chaos))
        .route("/clock", post(forms::advance))
        .route("/events/deliver", post(forms::redeliver))
        .route("/settle", post(forms::settle))
        .route("/reset", post(forms::reset))
        // Whoever follows the address of a form is looking for the page.
        .method_not_allowed_fallback(async || Redirect::to("/"))
        .layer(DefaultBodyLimit::max(FORM_MAX))
        .layer(from_fn_with_state(Arc::clone(shared), require_key))
        .layer(same_origin(shared))
        .layer(from_fn(with_headers))
}

#[derive(Deserialize)]
struct Asked {
    /// Anything, since what is no number of seconds is passed over.
    refresh: Option<String>,
}

/// `GET /`
async fn show(
    State(control): State<Control>,
    Query(Asked { refresh }): Query<Asked>,
) -> Result<Response, ApiError> {
    let seconds = refresh.and_then(|text| text.parse().ok());
    let refresh_seconds = seconds.filter(|seconds| REFRESH.contains(seconds));
    overview(&control, Typed::default(), refresh_seconds).await
}

/// The page; with a refusal and what was typed, when a form could not be done as asked.
async fn overview(
    control: &Control,
    typed: Typed,
    refresh_seconds: Option<u32>,
) -> Result<Response, ApiError> {
    let status = match typed.refusal {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    page(
        status,
        &Overview::of(control, typed, refresh_seconds).await?,
    )
}

/// Lets in whoever sits at this machine, and who has the key.
async fn require_key(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let is_local = shared.address.ip().is_loopback() && is_loopback(request.headers());
    if is_local || shared.key.check(request.headers()).is_ok() {
        return next.run(request).await;
    }
    let told = Message {
        title: "The key is needed",
        text: "From another machine, or by another name than localhost, this page asks for the simulator's key. \
               It is the user name; the password stays empty.",
    };
    let challenge = [(
        header::WWW_AUTHENTICATE,
        "Basic realm=\"The key is the user name\"",
    )];
    let refusal = page(StatusCode::UNAUTHORIZED, &told);
    (challenge, refusal.into_response()).into_response()
}

/// Whether the browser believes to speak to its own machine. Any site can have its name resolve to 127.0.0.1, and
/// its scripts would then count as ours: they are told by the name.
fn is_loopback(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let url = host.and_then(|host| url::Url::parse(&format!("http://{host}/")).ok());
    match url.as_ref().and_then(url::Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
