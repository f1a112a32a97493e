//! What of the shop can be asked: its router, called as the server calls it, with the cookies and the signatures that
//! browsers and the provider send along.

use async_trait::async_trait;
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{self, StatusCode, header},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use tower::ServiceExt as _;

use super::requests::{Page, filled_in, get, hidden, post, post_form, signature};
use crate::{
    app::App,
    lab::flow::{Answer, Customer, Front, NoAnswer, Request},
    money::Money,
    secret::Secret,
    web::{
        self,
        admin::access::{Access, USER, make_up},
    },
};

/// The longest page that is read.
const PAGE_MAX: usize = 1 << 20;

/// The pages and the webhook of a shop.
pub(in crate::lab) struct Shopfront {
    app: App,
    router: Router,
    /// Of the operator, made up for this front alone.
    password: Secret,
}

impl Shopfront {
    /// Of a shop in this process.
    pub(in crate::lab) fn of(app: &App) -> Self {
        let password = make_up();
        let app = App {
            access: Access::by(&password),
            ..app.clone()
        };
        Self {
            router: web::router(app.clone()),
            app,
            password,
        }
    }

    /// Sends a request as the server hands it on, and reads the answer. An error of ours is no answer.
    async fn send(&self, request: http::Request<Body>) -> Result<Page, NoAnswer> {
        let response = self.router.clone().oneshot(request).await;
        let (parts, body) = response.map_err(|never| match never {})?.into_parts();
        let body = to_bytes(body, PAGE_MAX).await.map_err(|_| NoAnswer)?;
        if parts.status.is_server_error() {
            return Err(NoAnswer);
        }
        let text = |name| {
            let value: Option<&http::HeaderValue> = parts.headers.get(name);
            value.and_then(|value| value.to_str().ok())
        };
        Ok(Page {
            status: parts.status,
            location: text(header::LOCATION).unwrap_or_default().to_owned(),
            cookie: text(header::SET_COOKIE).map(str::to_owned),
            html: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    /// As the browser of `customer` does, which keeps the cookie that comes back.
    async fn browse(
        &self,
        customer: &Customer,
        request: http::Request<Body>,
    ) -> Result<Page, NoAnswer> {
        let mut request = request;
        if let Some(cookie) = customer.cookie() {
            let cookie = cookie.parse().map_err(|_| NoAnswer)?;
            request.headers_mut().insert(header::COOKIE, cookie);
        }
        let page = self.send(request).await?;
        if let Some((cookie, _)) = page.cookie.as_deref().and_then(|it| it.split_once(';')) {
            customer.keep(cookie);
        }
        Ok(page)
    }

    async fn as_operator(&self, request: http::Request<Body>) -> Result<Page, NoAnswer> {
        let mut request = request;
        let who = STANDARD.encode(format!("{USER}:{}", self.password.expose()));
        let who = format!("Basic {who}").parse().map_err(|_| NoAnswer)?;
        request.headers_mut().insert(header::AUTHORIZATION, who);
        self.send(request).await
    }

    async fn deliver(&self, event: &Value) -> Result<Answer, NoAnswer> {
        let body = event.to_string();
        let at = self.app.till.clock.now().timestamp();
        let mut request = post("/webhooks/provider", body.clone());
        let secret = self.app.webhook_secrets.first().ok_or(NoAnswer)?;
        let signature = signature(secret.expose(), at, &body);
        let signature = signature.parse().map_err(|_| NoAnswer)?;
        request.headers_mut().insert("stripe-signature", signature);
        let page = self.send(request).await?;
        if page.status == StatusCode::OK {
            Ok(Answer::Done)
        } else {
            Ok(Answer::Refused(None))
        }
    }
}

#[async_trait]
impl Front for Shopfront {
    async fn answer(&self, request: Request) -> Result<Answer, NoAnswer> {
        let page = match &request {
            Request::Add(customer, sku, quantity) => {
                let fields = [("sku", *sku), ("quantity", &quantity.to_string())];
                let request = post_form("/cart/items", &fields);
                self.browse(customer, request).await?
            }
            Request::Keep(customer, sku, quantity) => {
                let fields = [("quantity", quantity.to_string())];
                let request = post_form(&format!("/cart/items/{sku}"), &fields);
                self.browse(customer, request).await?
            }
            Request::OpenForm(customer) => self.browse(customer, get("/checkout")).await?,
            Request::Submit(customer, form, method) => {
                let request = post_form("/checkout", &filled_in(customer, form, method));
                self.browse(customer, request).await?
            }
            Request::Look(customer, place) => self.browse(customer, get(place)).await?,
            Request::OpenRefund(order) => {
                let form = format!("/admin/orders/{order}/refunds/new");
                self.as_operator(get(&form)).await?
            }
            Request::Refund {
                order,
                form,
                minor,
                restock,
            } => {
                let amount = Money::new(*minor, self.app.till.pricing.currency)
                    .in_units()
                    .to_string();
                let mut fields: Vec<(&str, &str)> = hidden(form);
                fields.push(("amount", &amount));
                fields.extend(restock.then_some(("restock", "yes")));
                let path = format!("/admin/orders/{order}/refunds");
                self.as_operator(post_form(&path, &fields)).await?
            }
            Request::Deliver(event) => return self.deliver(event).await,
        };
        Ok(page.answer(&request))
    }
}
