//! How a purchase stands. Looking at it drives it forward.

use axum::{
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
};
use chrono::{DateTime, Utc};

use super::{error::PageError, forward, path::Path, show, views, visitor::Visitor};
use crate::{
    app::App,
    checkout::{Checkout, Status, model},
    clock, orders,
    refunds::late::{self, TooLate},
};

/// `GET /checkouts/{id}`. Another visitor's checkout is as good as none.
pub async fn status(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let mut checkout = find(&app, &visitor, &id).await?;
    if forward::looked_at(&app, &checkout).await {
        checkout = find(&app, &visitor, &id).await?;
    }
    // Back from the bank's page, as the provider's addition to the address tells, there is nothing left to confirm.
    // What the bank was told we learn in a moment.
    let is_back = query.is_some_and(|query| query.contains("redirect_status="));
    if is_back {
        checkout.next_action_url = None;
    }
    let lines = model::lines(&app.till.db, checkout.id).await?;
    let page = views::StatusPage {
        chrome: visitor.chrome(&app).await?,
        checkout_id: checkout.id.to_string(),
        refresh_seconds: refresh_seconds(&checkout, app.till.clock.now()),
        lines: lines
            .iter()
            .map(|line| show::checkout_line(line, checkout.amount().currency))
            .collect(),
        shipping: show::unless_zero(checkout.shipping()),
        total: checkout.amount().to_string(),
        tax: show::tax(checkout.tax()),
        status: view(&app, &visitor, checkout).await?,
    };
    show::page(StatusCode::OK, &page)
}

async fn find(app: &App, visitor: &Visitor, id: &str) -> Result<Checkout, PageError> {
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    model::find(&app.till.db, id)
        .await?
        .filter(|checkout| checkout.visitor_id == visitor.id)
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
            let order = orders::of_checkout(&app.till.db, checkout.id).await?;
            let number = order.ok_or(sqlx::Error::RowNotFound)?.number;
            views::Status::Paid {
                order_url: format!("/orders/{number}"),
                order_number: number.to_string(),
            }
        }
        Status::Declined => views::Status::Declined {
            reason: show::reason(checkout.failure_code.as_deref()).to_owned(),
            cart_kept: visitor.cart == Some(checkout.cart_id),
        },
        Status::Canceled => views::Status::Canceled,
    })
}
