//! The provider, past the shop.

use std::time::Duration;

use boring_checkout::{
    lab::flow::{Failed, Premises},
    provider::Provider,
    secret::Secret,
};

/// A client of its API.
pub fn client(premises: &Premises) -> Result<Provider, Failed> {
    let (key, patience) = (Secret::new(premises.provider_key), Duration::from_secs(10));
    Ok(Provider::new(&premises.provider_url, key, patience)?)
}

/// Somebody does something there. A refusal is an answer.
pub async fn post(premises: &Premises, url: &str, body: &str) -> Result<String, Failed> {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let request = client.tls_certs_only([]).build()?.post(url);
    let request = request
        .bearer_auth(premises.provider_key)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body.to_owned());
    Ok(request.send().await?.status().to_string())
}
