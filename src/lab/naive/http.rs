//! Its pages, as plain as can be, and its webhook.
//!
//! A browser that goes away takes its request with it, wherever that is: nobody thinks of this, and axum, like most, drops the
//! handler.

use askama::Template;
use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use serde::Deserialize;
use uuid::Uuid;

use super::{
    Buyer, Event, Failed, Naive, Status, buy,
    buy::{Line, lines, order_of, total},
    look, put_in_cart, receive, refund,
};
use crate::{checkout::PaymentMethod, money::Money, webhooks::signature};

/// All of it.
pub fn router(shop: Naive) -> Router {
    Router::new()
        .route("/naive/carts/{cart}", get(form).post(submit))
        .route("/naive/carts/{cart}/items", post(add))
        .route(DECLINED, get(declined))
        .route("/naive/orders/{order}", get(status))
        .route("/naive/orders/{order}/refunds", post(give_back))
        .route("/naive/webhook", post(webhook))
        .with_state(shop)
}

/// Where those end whose card was declined.
const DECLINED: &str = "/naive/declined";

impl Naive {
    /// Where an order is looked at.
    pub fn url_of_order(&self, order: Uuid) -> String {
        format!("{}{}", self.public_url, order_path(order))
    }
}

pub(super) fn form_path(cart: Uuid) -> String {
    format!("/naive/carts/{cart}")
}

fn order_path(order: Uuid) -> String {
    format!("/naive/orders/{order}")
}

#[derive(Deserialize)]
struct Item {
    sku: String,
    quantity: i64,
}

async fn add(
    State(shop): State<Naive>,
    Path(cart): Path<Uuid>,
    axum::Form(item): axum::Form<Item>,
) -> Result<Redirect, Failed> {
    put_in_cart(&shop.db, cart, &item.sku, item.quantity).await?;
    Ok(Redirect::to(&form_path(cart)))
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Checkout</title>
<h1>Checkout</h1>
<ul>{% for line in lines %}<li>{{ line.quantity }} × {{ line.name }}</li>{% endfor %}</ul>
<p>Total: {{ total }}</p>
{% if has_changed %}<p>The total has changed.</p>{% endif %}
<form method="post">
<input type="hidden" name="total" value="{{ total.minor }}">
<label>E-mail <input type="email" name="email" required></label>
<label>Pay with <select name="payment_method">
{% for method in methods %}<option value="{{ method.as_str() }}">{{ method.label }}, {{ method.note }}</option>
{% endfor %}</select></label>
<button>Pay</button>
</form></html>"#
)]
struct FormPage {
    lines: Vec<Line>,
    total: Money,
    methods: Vec<PaymentMethod>,
    has_changed: bool,
}

async fn form(State(shop): State<Naive>, Path(cart): Path<Uuid>) -> Result<Response, Failed> {
    if let Some(order) = order_of(&shop, cart).await? {
        return Ok(Redirect::to(&order_path(order.id)).into_response());
    }
    Ok(page(&form_page(&shop, cart, false).await?))
}

async fn form_page(shop: &Naive, cart: Uuid, has_changed: bool) -> Result<FormPage, Failed> {
    let lines = lines(shop, cart).await?;
    let total = total(&lines).ok_or(Failed::NothingToBuy)?;
    Ok(FormPage {
        lines,
        total,
        methods: PaymentMethod::offered(total.currency).collect(),
        has_changed,
    })
}

#[derive(Deserialize)]
struct Submitted {
    email: String,
    payment_method: String,
    total: i64,
}

async fn submit(
    State(shop): State<Naive>,
    Path(cart): Path<Uuid>,
    axum::Form(form): axum::Form<Submitted>,
) -> Result<Response, Failed> {
    let method = form.payment_method.parse();
    let buyer = Buyer {
        email: form.email,
        payment_method: method.map_err(|_| Failed::Declined)?,
        quoted_minor: form.total,
    };
    match buy(&shop, cart, &buyer).await {
        Ok(order) => Ok(Redirect::to(&order_path(order)).into_response()),
        Err(Failed::TotalChanged) => {
            let form = page(&form_page(&shop, cart, true).await?);
            Ok((StatusCode::CONFLICT, form).into_response())
        }
        Err(failed) => Err(failed),
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Your order</title>
<h1>{{ heading }}</h1>
{% if let Some(url) = link %}<p><a href="{{ url }}">Confirm the payment with your bank</a></p>{% endif %}
</html>"#
)]
struct StatusPage {
    heading: &'static str,
    link: Option<String>,
}

async fn status(State(shop): State<Naive>, Path(id): Path<Uuid>) -> Result<Response, Failed> {
    let Some(order) = look(&shop, id).await? else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let (heading, link) = match order.status {
        Status::Pending => ("Being paid", order.next_action_url),
        Status::Paid => ("Paid, thank you", None),
        Status::Failed => ("Payment failed, please try again", None),
    };
    Ok(page(&StatusPage { heading, link }))
}

async fn declined() -> Response {
    let heading = "Your card was declined, please try another one";
    page(&StatusPage {
        heading,
        link: None,
    })
}

#[derive(Deserialize)]
struct Wish {
    amount: i64,
    #[serde(default)]
    restock: bool,
}

async fn give_back(
    State(shop): State<Naive>,
    Path(order): Path<Uuid>,
    axum::Form(wish): axum::Form<Wish>,
) -> Result<Redirect, Failed> {
    refund(&shop, order, wish.amount, wish.restock).await?;
    Ok(Redirect::to(&order_path(order)))
}

/// The provider sends again what is not answered with 200, for days. Nobody likes that in their log.
async fn webhook(State(shop): State<Naive>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let signature = headers.get("stripe-signature");
    let signature = signature.and_then(|value| value.to_str().ok());
    let (signature, now) = (signature.unwrap_or_default(), shop.clock.now().timestamp());
    if signature::verify(signature, &body, &shop.webhook_secrets, now).is_err() {
        return StatusCode::BAD_REQUEST;
    }
    let Ok(event) = serde_json::from_slice::<Event>(&body) else {
        return StatusCode::BAD_REQUEST;
    };
    if let Err(error) = receive(&shop, &event).await {
        tracing::error!(event.id, %error, "webhook not processed");
    }
    StatusCode::OK
}

fn page(page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => Html(html).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Declined => return Redirect::to(DECLINED).into_response(),
            Self::NothingToBuy | Self::NothingToRefund => StatusCode::UNPROCESSABLE_ENTITY,
            Self::SoldOut(_) | Self::TotalChanged => StatusCode::CONFLICT,
            Self::NotPaid | Self::NotRefunded => StatusCode::BAD_GATEWAY,
            Self::Db(error) => {
                tracing::error!(%error, "a request failed");
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        (status, self.to_string()).into_response()
    }
}
