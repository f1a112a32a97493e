//! `/api/v1/checkouts`: the form of the pages, for programs. What becomes of it is the same.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};

use super::{
    super::{
        forward,
        problem::{self, Invalid, Problem},
        show,
    },
    PATH,
    bodies::{self, Failure},
    client::Client,
    examples, kinds,
    new_checkout::NewCheckout,
    request::{Body, Key, Named, invalid},
};
use crate::{
    app::App,
    checkout::{self, Checkout, Status, SubmitError, Submitted, model, submit_error::Short},
    ids::CheckoutId,
    orders::{self, Bought},
    refunds::late::{self, TooLate},
};

/// Whether this is the answer to a request that was here before.
pub const REPLAYED: &str = "idempotent-replayed";

/// Buy something.
///
/// The goods are held, and the payment method is charged, once for each key however often the request arrives. 201 says that
/// the end is known: `paid`, or `declined`, and then nothing was charged. 202 says that it is not yet: the customer has to
/// authenticate the payment at `next_action_url`, or the payment provider has not answered. Send the same request again, or
/// ask for the checkout, until its `status` is another than `pending`.
#[utoipa::path(
    post,
    path = "/api/v1/checkouts",
    operation_id = "createCheckout",
    tag = "Checkouts",
    params(Key),
    request_body(content = NewCheckout, description = "What to buy, for whom, and how it is paid.", example = json!(examples::new_checkout())),
    responses(
        (status = 201, description = "The checkout has ended: see its `status`.", body = bodies::Checkout, headers(
            ("Location" = String, description = "Where to ask for it."),
            ("Idempotent-Replayed" = String, description = "`true` when the key was here before."),
        ), links(
            ("look" = (operation_id = "getCheckout", parameters(("id" = "$response.body#/id")))),
            ("order" = (operation_id = "getOrder", parameters(("number" = "$response.body#/order_number")))),
            ("refund" = (operation_id = "createRefund", parameters(("number" = "$response.body#/order_number")))),
        ), example = json!(examples::checkout())),
        (status = 202, description = "The checkout is `pending`.", body = bodies::Checkout, headers(
            ("Location" = String, description = "Where to ask for it."),
            ("Idempotent-Replayed" = String, description = "`true` when the key was here before."),
        ), links(
            ("look" = (operation_id = "getCheckout", parameters(("id" = "$response.body#/id")))),
        ), example = json!(examples::pending_checkout())),
    ),
)]
pub async fn create(
    State(app): State<App>,
    client: Client,
    Key(key): Key,
    Body(new): Body<NewCheckout>,
) -> Result<Response, Problem> {
    let purchase = new.parse(client, key, app.till.pricing.currency)?;
    let submitted = checkout::submit(&app.till, &purchase)
        .await
        .map_err(|error| refused(error, &new))?;
    let replayed = match &submitted {
        Submitted::New(_) => None,
        Submitted::Existing(checkout) if forward::is_first_unanswered(&app, checkout) => {
            return Err(kinds::IN_PROGRESS.problem());
        }
        Submitted::Existing(_) => Some([(REPLAYED, "true")]),
    };
    let id = forward::submitted(&app, submitted).await;
    let bought = find(&app, client, id).await?;
    let status = match bought.checkout.status {
        Status::Pending => StatusCode::ACCEPTED,
        Status::Paid | Status::Declined | Status::Canceled => StatusCode::CREATED,
    };
    let location = [(header::LOCATION, format!("{PATH}/checkouts/{id}"))];
    let body = Json(body(&app, bought).await?);
    Ok((status, location, replayed, body).into_response())
}

/// Look at a checkout.
///
/// One that is undecided, and that nobody is at work on, is taken forward by this.
#[utoipa::path(
    get,
    path = "/api/v1/checkouts/{id}",
    operation_id = "getCheckout",
    tag = "Checkouts",
    params(("id" = String, Path, format = "uuid", description = "Its `id`.")),
    responses((status = 200, description = "How it stands.", body = bodies::Checkout, example = json!(examples::checkout()))),
)]
pub async fn show(
    State(app): State<App>,
    client: Client,
    Named(id): Named<CheckoutId>,
) -> Result<Json<bodies::Checkout>, Problem> {
    let mut bought = find(&app, client, id).await?;
    if forward::looked_at(&app, &bought.checkout).await {
        bought = find(&app, client, id).await?;
    }
    Ok(Json(body(&app, bought).await?))
}

/// The checkout named `id`, if it is the client's. Another's is as good as none.
async fn find(app: &App, client: Client, id: CheckoutId) -> Result<Bought, Problem> {
    let found = orders::with_checkout(&app.till.db, id).await?;
    found
        .filter(|bought| bought.checkout.visitor_id == client.id)
        .ok_or_else(|| kinds::NOT_FOUND.problem())
}

async fn body(app: &App, bought: Bought) -> Result<bodies::Checkout, Problem> {
    let number = bought.order().map(|order| order.number);
    let checkout = bought.checkout;
    let lines = model::lines(&app.till.db, checkout.id).await?;
    let failure = match checkout.status {
        Status::Declined | Status::Canceled => Some(failure(app, &checkout).await?),
        Status::Pending | Status::Paid => None,
    };
    Ok(bodies::Checkout::of(
        checkout,
        &lines,
        number.as_ref(),
        failure,
    ))
}

/// Why there is no order. Nothing says "not charged" of a payment that came too late.
async fn failure(app: &App, checkout: &Checkout) -> Result<Failure, Problem> {
    let message = match late::of_checkout(&app.till.db, checkout.id).await? {
        Some(TooLate::GoingBack) => "The payment came too late. It is on its way back.",
        Some(TooLate::GivenBack { .. }) => "The payment came too late, and was given back.",
        Some(TooLate::LookedInto) => "The payment came too late. Somebody is looking into it.",
        None if checkout.status == Status::Canceled => {
            "The checkout was canceled. Nothing was charged."
        }
        None => show::reason(checkout.failure_code.as_deref()),
    };
    Ok(Failure {
        code: checkout.failure_code.clone().unwrap_or_default(),
        message: message.to_owned(),
    })
}

/// Why there is no checkout. Nothing was stored, but for what the last of these leave open.
fn refused(error: SubmitError, new: &NewCheckout) -> Problem {
    match error {
        SubmitError::KeyReused | SubmitError::KeyOfAnother => kinds::KEY_REUSED.problem(),
        SubmitError::UnknownProducts(skus) => invalid(
            skus.iter()
                .map(|sku| Invalid {
                    pointer: new.pointer_to(sku),
                    detail: format!("there is no product {sku}"),
                })
                .collect(),
        ),
        SubmitError::CartEmpty => invalid(vec![Invalid {
            pointer: "/items".to_owned(),
            detail: "the products are priced in different currencies".to_owned(),
        }]),
        SubmitError::NotChargeable(why) => invalid(vec![Invalid {
            pointer: "/items".to_owned(),
            detail: why.to_string(),
        }]),
        SubmitError::TotalChanged { now } => Problem {
            total: Some(now.minor),
            ..kinds::TOTAL_CHANGED.because(format!(
                "The total is {now}. Nothing was charged, and the key is not used up."
            ))
        },
        SubmitError::OutOfStock(short) => Problem {
            products: short.into_iter().map(of_too_few).collect(),
            ..kinds::OUT_OF_STOCK.problem()
        },
        SubmitError::Db(error) => error.into(),
        // None of these comes of a request without a form.
        SubmitError::GoodsChanged
        | SubmitError::BoughtBefore(_)
        | SubmitError::TooMany(_)
        | SubmitError::Raced => kinds::BUSY.problem(),
    }
}

fn of_too_few(short: Short) -> problem::Short {
    problem::Short {
        sku: short.sku.to_string(),
        name: short.name,
        left: short.left,
    }
}
