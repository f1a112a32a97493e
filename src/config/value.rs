//! How the values of flags are read. What cannot be used is refused here, in a few words that say what can.

use std::{net::SocketAddr, time::Duration};

use crate::{
    mail::post::{Post, UnusableSmtpUrl},
    outbox::nats::{self, UnusableBusUrl},
    secret::Secret,
};

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text)
        .map_err(|_| "not a time such as 10s, 500ms or 2min".to_owned())?;
    if duration.is_zero() || duration > Duration::from_hours(24) {
        return Err("must be more than nothing and at most a day".to_owned());
    }
    Ok(duration)
}

pub(super) fn attempts(text: &str) -> Result<usize, &'static str> {
    let attempts = text.parse().ok().filter(|n| (1..=1_000_000).contains(n));
    attempts.ok_or("must be a number from 1 to 1000000")
}

pub(super) fn proxies(text: &str) -> Result<usize, &'static str> {
    let proxies = text.parse().ok().filter(|n| *n <= 10);
    proxies.ok_or("must be a number from 0 to 10")
}

pub(super) fn secret(text: &str) -> Result<Secret, String> {
    if text.trim().is_empty() {
        return Err("must not be empty".to_owned());
    }
    Ok(Secret::new(text.trim()))
}

pub(super) fn database_url(text: &str) -> Result<Secret, String> {
    let known = ["sqlite:", "postgres:", "postgresql:"];
    if known.iter().any(|scheme| text.starts_with(scheme)) {
        Ok(Secret::new(text))
    } else {
        Err("must begin with sqlite: or postgres:".to_owned())
    }
}

pub(super) fn bus_url(text: &str) -> Result<Secret, UnusableBusUrl> {
    let url = Secret::new(text);
    nats::check(&url)?;
    Ok(url)
}

pub(super) fn smtp_url(text: &str) -> Result<Secret, UnusableSmtpUrl> {
    let url = Secret::new(text);
    Post::smtp(&url)?;
    Ok(url)
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let said = "not an address with a port, such as 127.0.0.1:8080 (port 0: any free one)";
    text.parse().map_err(|_| said.to_owned())
}

const NO_HTTP_URL: &str = "not an http:// or https:// URL";

/// Where a server is, to be continued by a path.
pub(super) fn http_url(text: &str) -> Result<String, String> {
    match parse_http(text)?.query() {
        None => Ok(text.trim_end_matches('/').to_owned()),
        Some(_) => Err(NO_HTTP_URL.to_owned()),
    }
}

/// The URL stays exactly as it is given: a slash at its end or a query is the receiver's own affair.
pub(super) fn webhook(text: &str) -> Result<(String, Secret), String> {
    // The secret has no equals sign; a URL may.
    let (url, key) = text.rsplit_once('=').ok_or("must be URL=SECRET")?;
    parse_http(url)?;
    Ok((url.to_owned(), secret(key)?))
}

fn parse_http(text: &str) -> Result<url::Url, String> {
    url::Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| NO_HTTP_URL.to_owned())
}

/// Whether the host of a URL is this machine itself.
pub(super) fn is_loopback(url: &str) -> bool {
    match url::Url::parse(url).ok().as_ref().and_then(url::Url::host) {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
