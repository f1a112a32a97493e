//! The naive twin, as a flow: its router is called as a server calls it. It has no workers.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{self, StatusCode, header},
};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use tower::ServiceExt as _;

use super::{
    Naive, audit, fill_shelves,
    http::{form_path, router},
};
use crate::{
    lab::{
        flow::{Answer, Books, Failed, Flow, Form, NoAnswer, Opening, Premises, Request, Standing},
        safe::requests::{get, post, post_form, signature},
    },
    mail::post::{Post, Tray},
    provider::Provider,
    secret::Secret,
};

/// Where the shop thinks that customers reach it.
const PUBLIC_URL: &str = "http://naive.example";

/// Nothing in the lab takes as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest page that is read.
const PAGE_MAX: usize = 1 << 20;

/// What is not done a day after everything has come to rest never will be: nobody is there to do it.
const REST: TimeDelta = TimeDelta::hours(25);

/// A process of the naive shop.
struct Process {
    router: Router,
    /// The same shop, of whose work nobody is told.
    quiet: Naive,
    tray: Tray,
    secret: &'static str,
}

/// Opens a process of the naive shop.
pub fn open(premises: Premises) -> Opening {
    Box::pin(async move {
        let quiet = Naive {
            db: premises.database().await?,
            provider: Provider::new(
                &premises.provider_url,
                Secret::new(premises.provider_key),
                PATIENCE,
            )?,
            post: Arc::new(Post::Tray(premises.tray.clone())),
            mail_from: "The Naive Shop <shop@naive.example>".parse()?,
            clock: premises.clock,
            webhook_secrets: [Secret::new(premises.webhook_secret)].into(),
            public_url: PUBLIC_URL.to_owned(),
        };
        fill_shelves(&quiet.db).await?;
        let watched = Naive {
            db: quiet.db.with_probe(premises.probe.clone()),
            provider: quiet.provider.clone().with_probe(premises.probe),
            ..quiet.clone()
        };
        let process: Arc<dyn Flow> = Arc::new(Process {
            router: router(watched),
            quiet,
            tray: premises.tray,
            secret: premises.webhook_secret,
        });
        Ok(process)
    })
}

impl Process {
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
        let signed = signature(self.secret, self.quiet.clock.now().timestamp(), &body);
        let mut request = post("/naive/webhook", body);
        let signed = signed.parse().map_err(|_| NoAnswer)?;
        request.headers_mut().insert("stripe-signature", signed);
        self.send(request).await
    }
}

#[async_trait]
impl Flow for Process {
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

    async fn idle(&self) {}

    async fn work(&self) {}

    async fn next_due(&self) -> Result<Option<DateTime<Utc>>, Failed> {
        Ok(None)
    }

    async fn stock(&self, sku: &str, units: i64) -> Result<(), Failed> {
        let mut tx = self.quiet.db.begin().await?;
        tx.query("update naive_products set stock = $2, stocked = $2 where sku = $1")
            .bind(sku)
            .bind(units)
            .execute()
            .await?;
        Ok(tx.commit().await?)
    }

    async fn price(&self, sku: &str, minor: i64) -> Result<(), Failed> {
        let mut tx = self.quiet.db.begin().await?;
        tx.query("update naive_products set price_minor = $2 where sku = $1")
            .bind(sku)
            .bind(minor)
            .execute()
            .await?;
        Ok(tx.commit().await?)
    }

    async fn books(&self) -> Result<Books, Failed> {
        let Naive {
            db,
            provider,
            clock,
            ..
        } = &self.quiet;
        let report = audit(db, provider, &self.tray, clock.now() + REST).await?;
        let sold = "select cast(coalesce(sum(stocked - stock), 0) as bigint) from naive_products";
        Ok(Books::of(report, db.query(sold).fetch_scalar().await?))
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
