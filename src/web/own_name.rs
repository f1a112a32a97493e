//! What is behind the shop is shown by a name of ours only.
//!
//! Any site can have its name resolve to 127.0.0.1 all of a sudden. A browser then takes that site's scripts for ours: they
//! read our pages, and [`same_origin`](super::same_origin) accepts their forms. Nothing but the name tells.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use url::{Host, Url};

use super::error::PageError;
use crate::app::App;

/// Answers 421 by any other name.
pub async fn only(State(app): State<App>, request: Request, next: Next) -> Response {
    if is_ours(request.headers(), app.till.links.shop()) {
        next.run(request).await
    } else {
        PageError::OtherName.into_response()
    }
}

/// An address in figures cannot be made to mean another machine, and `localhost` is this one everywhere.
fn is_ours(headers: &HeaderMap, public_url: &str) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let url = host.and_then(|host| Url::parse(&format!("http://{host}/")).ok());
    let public = Url::parse(public_url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain("localhost") | Host::Ipv4(_) | Host::Ipv6(_)) => true,
        name @ Some(_) => name == public.as_ref().and_then(Url::host),
        None => false,
    }
}
