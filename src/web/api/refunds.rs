//! `/api/v1/…/refunds`: money goes back, each wish once.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::{
    super::{
        forward,
        problem::{Invalid, Problem},
    },
    PATH, bodies,
    checkouts::REPLAYED,
    client::Client,
    examples, kinds, orders,
    request::{Body, Key, Named, invalid},
};
use crate::{
    app::App,
    ids::RefundId,
    orders::OrderNumber,
    refunds::{self, RequestError, Requested, Requester, Status, Wish, model::OfOrder},
};

/// How much is to be given back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRefund {
    /// In minor units of the order's currency. All that is left, when it is not there; null is no amount.
    #[serde(default, deserialize_with = "number")]
    #[schema(minimum = 1, value_type = i64, required = false)]
    amount: Option<i64>,
}

/// A program that has lost its amount may well send null, and must not give everything back by it.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    i64::deserialize(deserializer).map(Some)
}

/// Give money back.
///
/// The whole order, or a part of it; several parts one after the other, never more than was paid. It is done once for each key
/// however often the request arrives. 201 says that the end is known: `succeeded`, or `failed`, and then the money is still
/// with the shop. 202 says that it is on its way; ask for the refund until its `status` is another than `pending`.
#[utoipa::path(
    post,
    path = "/api/v1/orders/{number}/refunds",
    operation_id = "createRefund",
    tag = "Refunds",
    params(("number" = String, Path, description = "The order's `number`.", pattern = "^[0-9A-Za-z-]{10,12}$", example = "7K3M-9QXT-2P"), Key),
    request_body(content = NewRefund, description = "How much is to be given back: `{}` for all that is left.", example = json!(examples::new_refund())),
    responses(
        (status = 201, description = "The refund has ended: see its `status`.", body = bodies::Refund, headers(
            ("Location" = String, description = "Where to ask for it."),
            ("Idempotent-Replayed" = String, description = "`true` when the key was here before."),
        ), links(
            ("look" = (operation_id = "getRefund", parameters(("id" = "$response.body#/id")))),
        ), example = json!(examples::refund())),
        (status = 202, description = "The refund is `pending`.", body = bodies::Refund, headers(
            ("Location" = String, description = "Where to ask for it."),
            ("Idempotent-Replayed" = String, description = "`true` when the key was here before."),
        ), links(
            ("look" = (operation_id = "getRefund", parameters(("id" = "$response.body#/id")))),
        ), example = json!(examples::pending_refund())),
    ),
)]
pub async fn create(
    State(app): State<App>,
    client: Client,
    Named(number): Named<OrderNumber>,
    Key(key): Key,
    Body(NewRefund { amount }): Body<NewRefund>,
) -> Result<Response, Problem> {
    let order = orders::find(&app, client, &number).await?;
    let wish = Wish {
        key: key.of_client(client.id),
        requester: Requester::ApiKey(client.id.into()),
        order: order.number,
        amount_minor: amount,
        left_shown_minor: None,
        restock: false,
        reason: None,
    };
    let requested = refunds::request(&app.till, &wish).await.map_err(refused)?;
    let replayed = match &requested {
        Requested::New(_) => None,
        Requested::Existing(refund) if forward::is_first_unanswered_for(&app, refund) => {
            return Err(kinds::IN_PROGRESS.problem());
        }
        Requested::Existing(_) => Some([(REPLAYED, "true")]),
    };
    let id = forward::requested(&app, requested).await;
    let found = find(&app, client, id).await?;
    let status = match found.refund.status {
        Status::Pending => StatusCode::ACCEPTED,
        Status::Succeeded | Status::Failed => StatusCode::CREATED,
    };
    let location = [(header::LOCATION, format!("{PATH}/refunds/{id}"))];
    let body = Json(bodies::Refund::of(&found));
    Ok((status, location, replayed, body).into_response())
}

/// Look at a refund.
#[utoipa::path(
    get,
    path = "/api/v1/refunds/{id}",
    operation_id = "getRefund",
    tag = "Refunds",
    params(("id" = String, Path, format = "uuid", description = "Its `id`.")),
    responses((status = 200, description = "How it stands.", body = bodies::Refund, example = json!(examples::refund()))),
)]
pub async fn show(
    State(app): State<App>,
    client: Client,
    Named(id): Named<RefundId>,
) -> Result<Json<bodies::Refund>, Problem> {
    let found = find(&app, client, id).await?;
    Ok(Json(bodies::Refund::of(&found)))
}

/// The refund named `id`, if it is of an order of the client's. Another's is as good as none.
async fn find(app: &App, client: Client, id: RefundId) -> Result<OfOrder, Problem> {
    let found = refunds::model::of_visitor(&app.till.db, id, client.id).await?;
    found.ok_or_else(|| kinds::NOT_FOUND.problem())
}

/// Why there is no refund. Nothing was stored, but for what the last of these leave open.
fn refused(error: RequestError) -> Problem {
    match error {
        RequestError::KeyReused | RequestError::KeyOfAnother => kinds::KEY_REUSED.problem(),
        RequestError::UnknownOrder => kinds::NOT_FOUND.problem(),
        RequestError::NotAnAmount => invalid(vec![Invalid {
            pointer: "/amount".to_owned(),
            detail: "an amount is 1 at least".to_owned(),
        }]),
        RequestError::NothingLeft => more_than(0, &error),
        RequestError::TooMuch { left } => more_than(left.minor, &error),
        RequestError::Db(error) => error.into(),
        // None of these comes of a request without a form.
        RequestError::LeftChanged { .. } | RequestError::RestocksAPart | RequestError::Raced => {
            kinds::BUSY.problem()
        }
    }
}

fn more_than(left: i64, error: &RequestError) -> Problem {
    Problem {
        left: Some(left),
        ..kinds::MORE_THAN_LEFT.because(error.to_string())
    }
}
