//! Somebody with a browser without scripts.

use std::sync::Mutex;

use reqwest::{Body, Client, RequestBuilder};

use super::{
    client, eventually,
    page::{Form, Page},
};

/// Somebody with a cookie jar of their own.
pub struct Visitor {
    client: Client,
    shop: String,
    cookie: Mutex<Option<String>>,
}

impl Visitor {
    pub fn at(shop: &str) -> Self {
        Self {
            client: client(),
            shop: shop.to_owned(),
            cookie: Mutex::new(None),
        }
    }

    /// The same person at another address of the shop, with the same cookie.
    pub fn moved_to(&self, shop: &str) -> Self {
        let moved = Self::at(shop);
        *moved.cookie.lock().expect("not poisoned") = self.cookie();
        moved
    }

    pub async fn with_cart(self, sku: &str, quantity: i64) -> Self {
        self.adds(sku, quantity).await;
        self
    }

    pub async fn adds(&self, sku: &str, quantity: i64) {
        let quantity = quantity.to_string();
        let page = self
            .posts("/cart/items", &[("sku", sku), ("quantity", &quantity)])
            .await;
        assert_eq!(page.location(), "/cart");
    }

    pub async fn sees(&self, path: &str) -> Page {
        self.send(self.get(path)).await
    }

    pub async fn posts(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.send(self.post(path, fields)).await
    }

    /// The checkout form with a fresh key, filled in.
    pub async fn opens_checkout(&self) -> Form {
        self.sees("/checkout").await.form().filled()
    }

    pub async fn submits(&self, form: &Form) -> Page {
        self.send(self.submission(form)).await
    }

    /// A whole purchase of what is in the cart; ends at the status page's address.
    pub async fn buys(&self) -> String {
        let form = self.opens_checkout().await;
        self.submits(&form).await.location().to_owned()
    }

    /// Reloads a status page until it says something else than that it is being checked.
    pub async fn waits_at(&self, path: &str) -> String {
        eventually("the status page decides", || async {
            self.sees(path).await.heading() != "We are checking your payment"
        })
        .await;
        self.sees(path).await.heading()
    }

    pub fn submission(&self, form: &Form) -> RequestBuilder {
        let fields: Vec<_> = form
            .0
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        self.post("/checkout", &fields)
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.with_cookie(self.client.get(format!("{}{path}", self.shop)))
    }

    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.post_body(path, "application/x-www-form-urlencoded", body)
    }

    /// A form in a body that is none, perhaps.
    pub fn post_body(&self, path: &str, kind: &str, body: impl Into<Body>) -> RequestBuilder {
        self.with_cookie(self.client.post(format!("{}{path}", self.shop)))
            .header("content-type", kind)
            .body(body)
    }

    /// Sends a request and keeps the cookie that comes back.
    pub async fn send(&self, request: RequestBuilder) -> Page {
        let page = Page::of(request.send().await.expect("an answer")).await;
        if let Some((cookie, _)) = page.header("set-cookie").split_once(';') {
            *self.cookie.lock().expect("not poisoned") = Some(cookie.to_owned());
        }
        page
    }

    pub fn cookie(&self) -> Option<String> {
        self.cookie.lock().expect("not poisoned").clone()
    }

    fn with_cookie(&self, request: RequestBuilder) -> RequestBuilder {
        match self.cookie() {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        }
    }
}
