//! How a purchase stands. Looking at it drives it forward.

use axum::{
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
};
use chrono::{DateTime, Utc};
use url::form_urlencoded;

use super::{error::PageError, forward, path::Path, show, views, visitor::Visitor};
use crate::{
    app::App,
    checkout::{Checkout, Status, model},
    clock,
    orders::{self, Bought, Order},
    refunds::late::{self, TooLate},
};

/// `GET /checkouts/{id}`, for the visitor who submitted it, and for whoever has the link that the provider was given when a
/// program did. To everybody else it is as good as none.
pub async fn status(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = query.unwrap_or_default();
    let key = key_in(&query);
    let mut bought = find(&app, &visitor, &id, key.as_deref()).await?;
    if forward::looked_at(&app, &bought.checkout).await {
        bought = find(&app, &visitor, &id, key.as_deref()).await?;
    }
    let order = bought.order();
    let mut checkout = bought.checkout;
    // Back from the bank's page, as the provider's addition to the address tells, there is nothing left to confirm.
    // What the bank was told we learn in a moment.
    if query.contains("redirect_status=") {
        checkout.next_action_url = None;
    }
    let has_cart = checkout.visitor_id == visitor.id;
    let lines = model::lines(&app.till.db, checkout.id).await?;
    let page = views::StatusPage {
        chrome: if checkout.status == Status::Paid && visitor.cart == Some(checkout.cart_id) {
            // Nothing of a bought cart is counted, and most who come here have just bought theirs.
            Visitor::chrome_of(&app, 0)
        } else {
            visitor.chrome(&app).await?
        },
        checkout_id: checkout.id.to_string(),
        again_url: match (has_cart, key) {
            (false, Some(key)) => format!("/checkouts/{}?key={key}", checkout.id),
            _ => format!("/checkouts/{}", checkout.id),
        },
        has_cart,
        refresh_seconds: refresh_seconds(&checkout, app.till.clock.now()),
        lines: lines
            .iter()
            .map(|line| show::checkout_line(line, checkout.amount().currency))
            .collect(),
        shipping: show::unless_zero(checkout.shipping()),
        total: checkout.amount().to_string(),
        tax: show::tax(checkout.tax()),
        address: match checkout.status {
            Status::Pending | Status::Paid => checkout.buyer.address_lines(),
            Status::Declined | Status::Canceled => Vec::new(),
        },
        status: view(&app, &visitor, checkout, order).await?,
    };
    show::page(StatusCode::OK, &page)
}

/// What the link adds to the address.
fn key_in(query: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find_map(|(name, value)| (name == "key").then(|| value.into_owned()))
}

async fn find(
    app: &App,
    visitor: &Visitor,
    id: &str,
    key: Option<&str>,
) -> Result<Bought, PageError> {
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    let now = app.till.clock.now();
    let has_link = key.is_some_and(|key| app.till.links.open_checkout(id, key, now));
    orders::with_checkout(&app.till.db, id)
        .await?
        .filter(|bought| has_link || bought.checkout.visitor_id == visitor.id)
        .ok_or(PageError::NotFound)
}

fn refresh_seconds(checkout: &Checkout, now: DateTime<Utc>) -> Option<u32> {
    if checkout.status != Status::Pending {
        return None;
    }
    // Not while somebody reads what they have to do, and looks for the button.
    let is_read = checkout.next_action_url.is_some();
    let seconds = show::refresh_seconds(now - checkout.created_at);
    Some(if is_read { 10 } else { seconds })
}

async fn view(
    app: &App,
    visitor: &Visitor,
    checkout: Checkout,
    order: Option<Order>,
) -> Result<views::Status, PageError> {
    if matches!(checkout.status, Status::Declined | Status::Canceled)
        && let Some(too_late) = late::of_checkout(&app.till.db, checkout.id).await?
    {
        return Ok(views::Status::TooLate(match too_late {
            TooLate::GoingBack => views::TooLate::GoingBack,
            TooLate::GivenBack { at } => views::TooLate::GivenBack {
                at: clock::in_words(at),
            },
            TooLate::LookedInto => views::TooLate::LookedInto,
        }));
    }
    Ok(match checkout.status {
        Status::Pending => match checkout.next_action_url {
            Some(url) => views::Status::NeedsAuthentication { url },
            None => views::Status::Processing,
        },
        Status::Paid => {
            let order = order.ok_or(sqlx::Error::RowNotFound)?;
            views::Status::Paid {
                order_url: if checkout.visitor_id == visitor.id {
                    format!("/orders/{}", order.number)
                } else {
                    app.till.links.to_order(&order.number, order.created_at)
                },
                order_number: order.number.to_string(),
            }
        }
        Status::Declined => views::Status::Declined {
            reason: show::reason(checkout.failure_code.as_deref()).to_owned(),
            cart_kept: visitor.cart == Some(checkout.cart_id),
        },
        Status::Canceled => views::Status::Canceled,
    })
}
