//! What customers do at the provider's own pages, of which the shop learns later.

use reqwest::{Client, redirect};

use super::flow::Failed;
use crate::secret::Secret;

/// The pages of a provider.
pub struct Bank {
    client: Client,
    url: String,
    key: Secret,
}

impl Bank {
    /// Those of the provider at `url`.
    pub fn at(url: String, key: Secret) -> Result<Self, Failed> {
        // Two crates in the tree could each be the one that encrypts, and a client cannot be built without one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .tls_certs_only([])
            .build()?;
        Ok(Self { client, url, key })
    }

    /// Approves what the bank asks at `page`.
    pub async fn approve(&self, page: &str) -> Result<(), Failed> {
        self.post(page, "verdict=approve".to_owned()).await
    }

    /// Refuses what the bank asks at `page`.
    pub async fn refuse(&self, page: &str) -> Result<(), Failed> {
        self.post(page, "verdict=refuse".to_owned()).await
    }

    /// Pays the payment intent with `card`, on a page of the provider's that is still open.
    pub async fn confirm(&self, intent: &str, card: &str) -> Result<(), Failed> {
        let page = format!("{}/v1/payment_intents/{intent}/confirm", self.url);
        let body = format!("payment_method={card}&return_url=http://shop.example");
        self.post(&page, body).await
    }

    async fn post(&self, page: &str, body: String) -> Result<(), Failed> {
        let kind = "application/x-www-form-urlencoded";
        let request = self.client.post(page).header("content-type", kind);
        let request = request.bearer_auth(self.key.expose()).body(body);
        let answer = request.send().await?;
        // The bank's page leads back to the shop, where nobody follows.
        if answer.status().is_redirection() {
            return Ok(());
        }
        answer.error_for_status()?;
        Ok(())
    }
}
