//! What of the naive shop can be asked: its router, called as a server calls it.

use async_trait::async_trait;
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{self, StatusCode, header},
};
use serde_json::Value;
use tower::ServiceExt as _;

use super::{
    Naive,
    http::{form_path, router},
};
use crate::{
    lab::{
        flow::{Answer, Form, Front, NoAnswer, Request, Standing},
        safe::requests::{get, post, post_form, signature},
    },
    web,
};

/// The longest page that is read.
const PAGE_MAX: usize = 1 << 20;

/// Its pages and its webhook.
pub(in crate::lab) struct Shopfront {
    shop: Naive,
    router: Router,
}

impl Shopfront {
    /// Of a shop in this process.
    pub(in crate::lab) fn of(shop: Naive) -> Self {
        let router = web::traced(router(shop.clone()));
        Self { shop, router }
    }

    async fn send(&self, request: http::Request<Body>) -> Result<Page, NoAnswer> {
        let response = self.router.clone().oneshot(request).await;
        let (parts, body) = response.map_err(|never| match never {})?.into_parts();
        let body = to_bytes(body, PAGE_MAX).await.map_err(|_| NoAnswer)?;
        let location = parts.headers.get(header::LOCATION);
        let location = location.and_then(|value| value.to_str().ok());
        Ok(Page {
            status: parts.status,
            location: location.unwrap_or_default().to_owned(),
            html: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    async fn deliver(&self, event: &Value) -> Result<Page, NoAnswer> {
        let body = event.to_string();
        let secret = self.shop.webhook_secrets.first().ok_or(NoAnswer)?;
        let signed = signature(secret.expose(), self.shop.clock.now().timestamp(), &body);
        let mut request = post("/naive/webhook", body);
        let signed = signed.parse().map_err(|_| NoAnswer)?;
        request.headers_mut().insert("stripe-signature", signed);
        self.send(request).await
    }
}

#[async_trait]
impl Front for Shopfront {
    async fn answer(&self, request: Request) -> Result<Answer, NoAnswer> {
        let page = match &request {
            Request::Add(customer, sku, quantity) | Request::Keep(customer, sku, quantity) => {
                let path = format!("{}/items", form_path(customer.id));
                let fields = [("sku", *sku), ("quantity", &quantity.to_string())];
                self.send(post_form(&path, &fields)).await?
            }
            Request::OpenForm(customer) => self.send(get(&form_path(customer.id))).await?,
            Request::Submit(customer, form, method) => {
                let email = customer.email();
                let fields = [
                    ("total", form.field("total")),
                    ("email", email.as_str()),
                    ("payment_method", *method),
                ];
                self.send(post_form(&form_path(customer.id), &fields))
                    .await?
            }
            Request::Look(_, place) => self.send(get(place)).await?,
            // The operator types the amount beside the order.
            Request::OpenRefund(_) => return Ok(Answer::Form(Form::default())),
            Request::Refund {
                order,
                minor,
                restock,
                ..
            } => {
                let path = format!("/naive/orders/{order}/refunds");
                let fields = [
                    ("amount", minor.to_string()),
                    ("restock", restock.to_string()),
                ];
                self.send(post_form(&path, &fields)).await?
            }
            Request::Deliver(event) => self.deliver(event).await?,
        };
        page.answer(&request)
    }
}

/// What came back.
struct Page {
    status: StatusCode,
    location: String,
    html: String,
}

impl Page {
    fn answer(self, to: &Request) -> Result<Answer, NoAnswer> {
        if self.status.is_server_error() {
            return Err(NoAnswer);
        }
        Ok(match (self.status, to) {
            (StatusCode::SEE_OTHER, Request::Add(..) | Request::Keep(..)) => Answer::Done,
            (StatusCode::SEE_OTHER, _) => Answer::Place(self.location),
            (StatusCode::OK, Request::OpenForm(_)) => {
                form(&self.html).map_or(Answer::Refused(None), Answer::Form)
            }
            (StatusCode::OK, Request::Look(_, place)) => {
                standing(&self.html, place).map_or(Answer::Refused(None), Answer::Standing)
            }
            (StatusCode::OK, _) => Answer::Done,
            _ => Answer::Refused(form(&self.html)),
        })
    }
}

/// The hidden field of the form on a page; `None` when there is none.
fn form(html: &str) -> Option<Form> {
    let total = html.split("name=\"total\" value=\"").nth(1)?;
    let total = total.split('"').next()?.to_owned();
    Some(Form([("total".to_owned(), total)].into()))
}

/// What a status page says; `None` for a page that is none.
fn standing(html: &str, place: &str) -> Option<Standing> {
    let heading = html.split("<h1>").nth(1)?.split("</h1>").next()?;
    Some(match heading {
        "Being paid" => match html.split("<a href=\"").nth(1) {
            Some(link) => Standing::Asked(link.split('"').next()?.replace("&#38;", "&")),
            None => Standing::Processing,
        },
        "Paid, thank you" => Standing::Paid(place.rsplit('/').next()?.to_owned()),
        "Payment failed, please try again" => Standing::Ended,
        "Your card was declined, please try another one" => Standing::Declined,
        _ => return None,
    })
}
