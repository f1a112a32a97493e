//! Where a request comes from, as far as that can be told.
//!
//! The address at the other end of the connection is the client's, unless a proxy stands before the shop: then it is the
//! proxy's, and the client's is in `X-Forwarded-For`, which each proxy continues at its right end. Whatever stands further
//! left was written by the client, who may write what they like. So the shop has to be told how many proxies there are.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{Extensions, HeaderMap, request::Parts},
};

use crate::app::App;

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// Of a request with these headers, on the connection that its extensions know of.
    pub fn of(extensions: &Extensions, headers: &HeaderMap, app: &App) -> Self {
        let client = match app.proxies.checked_sub(1) {
            None => {
                let peer = extensions.get::<ConnectInfo<SocketAddr>>();
                // Who is not connected is in this process.
                let peer = peer.map_or(Ipv4Addr::LOCALHOST.into(), |ConnectInfo(peer)| peer.ip());
                peer.to_canonical()
            }
            // Who comes through a proxy is never at this machine, whatever was written: they are counted, all together
            // when it cannot be told where they are.
            Some(inner) => forwarded_for(headers, inner)
                .filter(|address| !address.is_loopback())
                .unwrap_or(Ipv4Addr::UNSPECIFIED.into()),
        };
        Self(client)
    }
}

impl FromRequestParts<App> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions, &parts.headers, app))
    }
}

/// What the outermost of our proxies saw, with so many behind it. Each of them adds the address that it was called from, some
/// with the port. Nothing else of the line is read: a client may write there what it likes.
fn forwarded_for(headers: &HeaderMap, inner: usize) -> Option<IpAddr> {
    let lines = headers.get_all("x-forwarded-for").iter();
    let seen: Vec<&[u8]> = lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .collect();
    let outermost = seen.iter().rev().nth(inner)?;
    let text = std::str::from_utf8(outermost.trim_ascii()).ok()?;
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    let address = bare.parse().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|it| it.ip());
    address
        .or_else(with_port)
        .map(|it: IpAddr| it.to_canonical())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_what_our_own_proxies_wrote_is_believed() {
        /// The lines, how many proxies are behind the outermost, and what that one saw.
        type Case = (&'static [&'static [u8]], usize, Option<&'static str>);
        let cases: [Case; 13] = [
            (&[], 0, None),
            (&[b"192.0.2.1"], 0, Some("192.0.2.1")),
            (&[b"10.0.0.1, 192.0.2.1"], 0, Some("192.0.2.1")),
            (&[b"10.0.0.1, 192.0.2.1 ,172.16.0.1"], 1, Some("192.0.2.1")),
            (&[b"10.0.0.1", b"192.0.2.1"], 0, Some("192.0.2.1")),
            (&[b"\xff, 192.0.2.1"], 0, Some("192.0.2.1")),
            (&[b"\xff", b"192.0.2.1"], 0, Some("192.0.2.1")),
            (&[b"192.0.2.1:5555"], 0, Some("192.0.2.1")),
            (&[b"[2001:db8::1]:5555"], 0, Some("2001:db8::1")),
            (&[b"[2001:db8::1]"], 0, Some("2001:db8::1")),
            (&[b"::ffff:192.0.2.1"], 0, Some("192.0.2.1")),
            (&[b"192.0.2.1"], 1, None),
            (&[b"192.0.2.1,"], 0, None),
        ];
        for (lines, inner, address) in cases {
            let mut headers = HeaderMap::new();
            for line in lines {
                let value = HeaderValue::from_bytes(line).expect("a value");
                headers.append("x-forwarded-for", value);
            }
            let address = address.map(|text| text.parse().expect("an address"));
            assert_eq!(forwarded_for(&headers, inner), address, "{lines:?}");
        }
    }
}
