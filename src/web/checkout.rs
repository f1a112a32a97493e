//! The checkout form, and what becomes of it.

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Redirect, Response},
};

use super::{
    address::ClientAddress, checkout_form::CheckoutForm, error::PageError, fields::Fields, forward,
    show, views, visitor::Visitor,
};
use crate::{
    app::App,
    cart::{self, Cart},
    checkout::{
        self, Browser, Checkout, SubmitError,
        earlier::{self, Earlier},
        limits::TooMany,
        model,
        submit_error::Short,
    },
    db::retrying,
    ids::CartId,
    refunds::late,
};

/// `GET /checkout`: a form with a fresh key, unless this cart is being bought already.
pub async fn form(State(app): State<App>, visitor: Visitor) -> Result<Response, PageError> {
    let failed = match visitor.cart {
        Some(cart) => model::last_failed(&app.till.db, cart).await?,
        None => None,
    };
    let form = match &failed {
        Some(failed) => CheckoutForm::again(failed),
        None => CheckoutForm::empty(),
    };
    let declined = match &failed {
        Some(failed) => why_declined(&app, failed).await?,
        None => None,
    };
    form_page(&app, &visitor, form, StatusCode::OK, |page, _| {
        page.declined = declined;
    })
    .await
}

/// Why nothing was charged at the last attempt; `None` when something was after all, which the attempt's own page tells.
async fn why_declined(app: &App, failed: &Checkout) -> Result<Option<String>, PageError> {
    let too_late = late::of_checkout(&app.till.db, failed.id).await?;
    let reason = show::reason(failed.failure_code.as_deref());
    Ok(too_late.is_none().then(|| reason.to_owned()))
}

/// `POST /checkout`. Answers a purchase with a redirect, always: a reload then repeats a harmless GET.
pub async fn submit(
    State(app): State<App>,
    visitor: Visitor,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    fields: Fields,
) -> Result<Response, PageError> {
    let mut form = CheckoutForm::posted(&fields);
    // A visitor without a cart may still repeat a purchase: the key is looked up before the cart.
    let cart = visitor.cart.unwrap_or_else(CartId::new);
    let browser = Browser {
        address,
        agent: agent(&headers),
    };
    let currency = app.till.pricing.currency;
    let Some(purchase) = form.parse(visitor.id, cart, browser, currency) else {
        return refuse(&app, &visitor, form).await;
    };
    match checkout::submit(&app.till, &purchase).await {
        Ok(submitted) => {
            let id = forward::submitted(&app, submitted).await;
            Ok(Redirect::to(&format!("/checkouts/{id}")).into_response())
        }
        Err(error) => explain(&app, &visitor, form, error).await,
    }
}

/// What the browser calls itself, up to the length that the longest of them need.
fn agent(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent.and_then(|agent| agent.to_str().ok());
    agent.unwrap_or("unknown").chars().take(300).collect()
}

/// The form with an error beside each field that has one.
async fn refuse(app: &App, visitor: &Visitor, form: CheckoutForm) -> Result<Response, PageError> {
    let tampered = form.is_tampered_with(app.till.pricing.currency);
    form_page(
        app,
        visitor,
        form,
        StatusCode::UNPROCESSABLE_ENTITY,
        |page, _| {
            if tampered {
                let problem =
                    "The form did not arrive as we sent it. Check it here and send it again.";
                page.problem = Some(problem.to_owned());
            }
        },
    )
    .await
}

/// The form with the reason why it was not accepted. Nothing was stored, and nothing is charged.
async fn explain(
    app: &App,
    visitor: &Visitor,
    form: CheckoutForm,
    error: SubmitError,
) -> Result<Response, PageError> {
    let status = match &error {
        SubmitError::BoughtBefore(_) | SubmitError::NotChargeable(_) => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        SubmitError::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
        SubmitError::CartEmpty => return Ok(Redirect::to("/cart").into_response()),
        _ => StatusCode::CONFLICT,
    };
    match error {
        SubmitError::TotalChanged { .. } => {
            let was = form
                .quoted_total(app.till.pricing.currency)
                .map(|total| total.to_string())
                .unwrap_or_default();
            form_page(app, visitor, form, status, |page, _| {
                let now = page.total.clone();
                page.total_changed = Some(views::TotalChange { was, now });
            })
            .await
        }
        SubmitError::GoodsChanged => {
            let problem = "Your cart has changed since you saw this form. Check what is in it now.";
            form_page(app, visitor, form, status, |page, _| {
                page.problem = Some(problem.to_owned());
            })
            .await
        }
        // The form says so by itself.
        SubmitError::NotChargeable(_) => form_page(app, visitor, form, status, |_, _| {}).await,
        SubmitError::OutOfStock(short) => {
            let problem = short.iter().map(sentence).collect::<Vec<_>>().join(" ");
            form_page(app, visitor, form, status, |page, _| {
                page.problem = Some(problem);
            })
            .await
        }
        SubmitError::TooMany(TooMany { wait }) => {
            let seconds = wait.num_seconds() + 1;
            let problem = format!(
                "That was more attempts to pay than we take in ten minutes. This one was not made and costs nothing. \
                 You can try again in {}.",
                show::minutes(seconds)
            );
            let mut response = form_page(app, visitor, form, status, |page, _| {
                page.problem = Some(problem);
            })
            .await?;
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            Ok(response)
        }
        SubmitError::BoughtBefore(_) => {
            form_page(app, visitor, form, status, |page, earlier| {
                page.buy_again_error = earlier.then(|| {
                    "Tick this if it is another purchase. If not, look at the earlier one first."
                        .to_owned()
                });
            })
            .await
        }
        error => Err(error.into()),
    }
}

fn sentence(short: &Short) -> String {
    format!("{}: {}", short.name, show::left(short.left))
}

/// The form for the visitor's cart, or the way to where that cart is. `adapt` gets the page, and whether it shows
/// earlier purchases.
async fn form_page(
    app: &App,
    visitor: &Visitor,
    form: CheckoutForm,
    status: StatusCode,
    adapt: impl FnOnce(&mut views::CheckoutPage, bool),
) -> Result<Response, PageError> {
    let cart = match visitor.cart {
        Some(cart) => cart::find(&app.till.db, cart).await?,
        None => None,
    };
    if let Some(bought) = cart.as_ref().and_then(|cart| cart.closed_by) {
        let to = format!("/checkouts/{}", bought.checkout());
        return Ok(Redirect::to(&to).into_response());
    }
    let pricing = &app.till.pricing;
    let total = |cart: &Cart| cart.total().and_then(|goods| pricing.total(goods));
    let Some((cart, total)) = cart.and_then(|cart| total(&cart).map(|total| (cart, total))) else {
        return Ok(Redirect::to("/cart").into_response());
    };
    let mut page = views::CheckoutPage {
        chrome: visitor.chrome(app).await?,
        quoted_total: total.minor,
        quoted_cart: cart.digest(),
        lines: cart.lines.iter().map(show::cart_line).collect(),
        shipping: show::unless_zero(pricing.shipping),
        total: total.to_string(),
        tax: show::tax(pricing.tax(total, form.country())),
        problem: total
            .check_chargeable()
            .err()
            .map(|error| error.to_string()),
        earlier: earlier_purchases(app, visitor, &cart).await?,
        ..form.view(total.currency)
    };
    let shows_earlier = !page.earlier.is_empty();
    adapt(&mut page, shows_earlier);
    show::page(status, &page)
}

async fn earlier_purchases(
    app: &App,
    visitor: &Visitor,
    cart: &Cart,
) -> Result<Vec<views::EarlierPurchase>, PageError> {
    let now = app.till.clock.now();
    let db = &app.till.db;
    let read = || earlier::read(db, visitor.id, cart.id, &cart.lines, now);
    let earlier = retrying(read).await?;
    let view = |earlier: &Earlier| views::EarlierPurchase {
        url: format!("/checkouts/{}", earlier.id),
        state: match earlier.status {
            model::Status::Paid => views::EarlierState::Paid {
                ago: show::ago(now - earlier.created_at),
            },
            _ => views::EarlierState::BeingChecked,
        },
        lines: earlier
            .lines
            .iter()
            .map(|line| show::checkout_line(line, earlier.amount.currency))
            .collect(),
        total: earlier.amount.to_string(),
    };
    Ok(earlier.iter().map(view).collect())
}
