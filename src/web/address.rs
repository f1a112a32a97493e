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
        let peer = extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.ip());
        let client = forwarded_for(headers, app.proxies).or(peer);
        // Who is not connected is in this process.
        let client = client.unwrap_or(Ipv4Addr::LOCALHOST.into());
        Self(client.to_canonical())
    }
}

impl FromRequestParts<App> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions, &parts.headers, app))
    }
}

/// What the outermost of so many proxies saw. Each of them adds the address that it was called from.
fn forwarded_for(headers: &HeaderMap, proxies: usize) -> Option<IpAddr> {
    let lines = headers.get_all("x-forwarded-for").iter();
    let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
    let seen: Vec<&str> = lines.iter().flat_map(|line| line.split(',')).collect();
    let outermost = seen.iter().rev().nth(proxies.checked_sub(1)?)?;
    outermost.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_our_own_proxies_wrote_is_believed() {
        let cases: [(&[&str], usize, Option<&str>); 8] = [
            (&[], 1, None),
            (&["192.0.2.1"], 0, None),
            (&["192.0.2.1"], 1, Some("192.0.2.1")),
            (&["10.0.0.1, 192.0.2.1"], 1, Some("192.0.2.1")),
            (&["10.0.0.1, 192.0.2.1 ,172.16.0.1"], 2, Some("192.0.2.1")),
            (&["10.0.0.1", "192.0.2.1"], 1, Some("192.0.2.1")),
            (&["192.0.2.1"], 2, None),
            (&["nonsense"], 1, None),
        ];
        for (lines, proxies, address) in cases {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", line.parse().expect("a value"));
            }
            let address = address.map(|text| text.parse().expect("an address"));
            assert_eq!(forwarded_for(&headers, proxies), address, "{lines:?}");
        }
    }
}
