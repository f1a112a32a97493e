//! Somebody who runs the shop, with a browser without scripts.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::{Client, Method, RequestBuilder};

use super::{
    client,
    page::{Form, Page},
};

/// The password of the operator's pages of every shop in this process, unless its flags say otherwise.
pub const PASSWORD: &str = "the operator's password";

/// Somebody who knows a password, the right one or another.
pub struct Operator {
    client: Client,
    shop: String,
    password: String,
}

impl Operator {
    pub fn at(shop: &str, password: &str) -> Self {
        Self {
            client: client(),
            shop: shop.to_owned(),
            password: password.to_owned(),
        }
    }

    pub async fn sees(&self, path: &str) -> Page {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn posts(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.send(self.post(path, fields)).await
    }

    pub async fn submits(&self, path: &str, form: &Form) -> Page {
        self.send(self.submission(path, form)).await
    }

    pub fn submission(&self, path: &str, form: &Form) -> RequestBuilder {
        let fields = form.0.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        self.post(path, &fields.collect::<Vec<_>>())
    }

    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let credentials = STANDARD.encode(format!("admin:{}", self.password));
        self.client
            .request(method, format!("{}{path}", self.shop))
            .header("authorization", format!("Basic {credentials}"))
    }

    pub async fn send(&self, request: RequestBuilder) -> Page {
        Page::of(request.send().await.expect("an answer")).await
    }
}
