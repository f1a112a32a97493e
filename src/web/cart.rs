//! The cart's page and its forms.

use std::ops::RangeInclusive;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};
use tower_sessions::Session;

use super::{catalog, error::PageError, fields::Fields, path::Path, show, views, visitor::Visitor};
use crate::{
    app::App,
    cart::{self, Cart, CartError, ClosedBy, Line, QUANTITY_MAX},
    catalog::Sku,
};

/// `GET /cart`.
pub async fn cart(State(app): State<App>, visitor: Visitor) -> Result<Response, PageError> {
    cart_page(&app, &visitor, StatusCode::OK, |line| {
        let typed = line.quantity.to_string();
        (typed, too_few(line))
    })
    .await
}

/// `POST /cart/items`: puts more of a product into the cart.
pub async fn add(
    State(app): State<App>,
    visitor: Visitor,
    session: Session,
    fields: Fields,
) -> Result<Response, PageError> {
    let product = catalog::find(&app, fields.text("sku")).await?;
    let typed = fields.text("quantity");
    let added = match quantity(typed, 1..=QUANTITY_MAX) {
        Some(quantity) => {
            let now = app.till.clock.now();
            cart::add(&app.till.db, visitor.cart, &product.sku, quantity, now).await
        }
        None => return not_added(&app, &visitor, &product, typed, &must_be(1)).await,
    };
    match added {
        Ok(cart) => {
            visitor.takes(cart, &session).await?;
            Ok(Redirect::to("/cart").into_response())
        }
        Err(error @ (CartError::TooMany | CartError::TooManyLines | CartError::OtherCurrency)) => {
            not_added(&app, &visitor, &product, typed, &error.to_string()).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /cart/items/{sku}`: sets how many are wanted; 0 removes the product.
pub async fn set_quantity(
    State(app): State<App>,
    visitor: Visitor,
    Path(sku): Path<String>,
    fields: Fields,
) -> Result<Response, PageError> {
    let sku: Sku = sku.parse().map_err(|_| PageError::NotFound)?;
    let typed = fields.text("quantity");
    let Some(quantity) = quantity(typed, 0..=QUANTITY_MAX) else {
        return cart_page(&app, &visitor, StatusCode::UNPROCESSABLE_ENTITY, |line| {
            if line.sku == sku {
                (typed.to_owned(), Some(must_be(0)))
            } else {
                (line.quantity.to_string(), too_few(line))
            }
        })
        .await;
    };
    if let Some(cart) = visitor.cart {
        let now = app.till.clock.now();
        match cart::set_quantity(&app.till.db, cart, &sku, quantity, now).await {
            // A cart that is being paid is shown as such by the page that follows.
            Ok(()) | Err(CartError::Closed) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Redirect::to("/cart").into_response())
}

fn quantity(typed: &str, allowed: RangeInclusive<i64>) -> Option<i64> {
    typed.parse().ok().filter(|number| allowed.contains(number))
}

fn must_be(least: i64) -> String {
    format!("Enter a whole number from {least} to {QUANTITY_MAX}.")
}

fn too_few(line: &Line) -> Option<String> {
    (line.quantity > line.stock).then(|| show::left(line.stock))
}

async fn cart_page(
    app: &App,
    visitor: &Visitor,
    status: StatusCode,
    input: impl Fn(&Line) -> (String, Option<String>),
) -> Result<Response, PageError> {
    let cart = match visitor.cart {
        Some(cart) => cart::find(&app.till.db, cart).await?,
        None => None,
    };
    // A cart that was bought is empty, however its payment was learned of.
    let cart = cart.filter(|cart| !matches!(cart.closed_by, Some(ClosedBy::Paid(_))));
    let page = views::CartPage {
        chrome: visitor.chrome(app).await?,
        lines: cart
            .iter()
            .flat_map(|cart| &cart.lines)
            .map(|line| {
                let (typed, error) = input(line);
                let line = show::cart_line(line);
                views::CartLine { line, typed, error }
            })
            .collect(),
        shipping: show::unless_zero(app.till.pricing.shipping),
        total: cart
            .as_ref()
            .and_then(Cart::total)
            .and_then(|goods| app.till.pricing.total(goods))
            .map(|total| total.to_string())
            .unwrap_or_default(),
        in_payment: cart.and_then(|cart| match cart.closed_by {
            Some(ClosedBy::Pending(checkout)) => Some(format!("/checkouts/{checkout}")),
            _ => None,
        }),
    };
    show::page(status, &page)
}

async fn not_added(
    app: &App,
    visitor: &Visitor,
    product: &crate::catalog::Product,
    typed: &str,
    error: &str,
) -> Result<Response, PageError> {
    let page = views::ProductPage {
        chrome: visitor.chrome(app).await?,
        product: catalog::view(product),
        quantity: typed.to_owned(),
        error: Some(error.to_owned()),
    };
    show::page(StatusCode::UNPROCESSABLE_ENTITY, &page)
}
