//! `/api/v1/orders`: what became of a paid checkout. Orders that were placed on the pages are not seen here, since the API key
//! has not placed them.

use axum::{Json, extract::State};

use super::{super::problem::Problem, bodies, client::Client, examples, kinds, request::Named};
use crate::{
    app::App,
    checkout::model,
    orders::{self, Order, OrderNumber},
    refunds::{self, model::Totals},
};

/// Look at an order.
#[utoipa::path(
    get,
    path = "/api/v1/orders/{number}",
    operation_id = "getOrder",
    tag = "Orders",
    params(("number" = String, Path, description = "Its `number`.", pattern = "^[0-9A-Za-z-]{10,12}$", example = "7K3M-9QXT-2P")),
    responses((status = 200, description = "The order.", body = bodies::Order, example = json!(examples::order()))),
)]
pub async fn show(
    State(app): State<App>,
    client: Client,
    Named(number): Named<OrderNumber>,
) -> Result<Json<bodies::Order>, Problem> {
    let order = find(&app, client, &number).await?;
    let checkout = model::find(&app.till.db, order.checkout_id).await?;
    let checkout = checkout.ok_or(sqlx::Error::RowNotFound)?;
    let lines = model::lines(&app.till.db, order.checkout_id).await?;
    let refunds = refunds::model::of_checkout(&app.till.db, order.checkout_id).await?;
    let Totals { given_back, .. } = Totals::of(order.amount(), &refunds);
    Ok(Json(bodies::Order::of(
        &order,
        &checkout,
        &lines,
        given_back.minor,
    )))
}

/// The order `number`, if it is the client's. Another's is as good as none.
pub async fn find(app: &App, client: Client, number: &OrderNumber) -> Result<Order, Problem> {
    let found = orders::of_visitor(&app.till.db, number, client.id).await?;
    found.ok_or_else(|| kinds::NOT_FOUND.problem())
}
