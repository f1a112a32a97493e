//! What must hold within the naive tables. Each statement finds violations, so each should find nothing.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{
    audit::{
        Invariant,
        shop::{HORIZON, violated},
    },
    catalog::Sku,
    db::Tx,
};

pub(super) async fn invariants(tx: &mut Tx, now: DateTime<Utc>) -> sqlx::Result<Vec<Invariant>> {
    Ok(vec![
        one_paid_checkout_for_each_cart(tx).await?,
        lines_payment_and_order_agree(tx).await?,
        stock_is_conserved(tx).await?,
        stock_is_never_negative(tx).await?,
        nothing_is_pending_past_the_horizon(tx, now).await?,
        refunds_fit_their_payment(tx).await?,
    ])
}

async fn one_paid_checkout_for_each_cart(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let carts: Vec<(Uuid,)> = tx
        .query(
            "select cart_id from naive_orders where status = 'paid' group by cart_id having count(*) > 1",
        )
        .fetch_all()
        .await?;
    Ok(violated("one_paid_checkout_for_each_cart", "cart", &carts))
}

async fn lines_payment_and_order_agree(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let orders: Vec<(Uuid,)> = tx
        .query(
            "select o.id from naive_orders o
             left join (select order_id, sum(amount_minor) as amount_minor
                        from naive_order_lines group by order_id) l on l.order_id = o.id
             where coalesce(l.amount_minor, 0) <> o.amount_minor",
        )
        .fetch_all()
        .await?;
    Ok(violated("lines_payment_and_order_agree", "order", &orders))
}

/// What is not on the shelf is sold, or held for an order that may still be paid. A failed one holds nothing, and what was
/// refunded with its goods does not either.
async fn stock_is_conserved(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let products: Vec<(Sku,)> = tx
        .query(
            "select p.sku from naive_products p
             left join (select l.sku, sum(l.quantity) as quantity from naive_order_lines l
                        join naive_orders o on o.id = l.order_id
                        where o.status <> 'failed' and o.id not in
                            (select order_id from naive_refunds where restock)
                        group by l.sku) t on t.sku = p.sku
             where p.stocked <> p.stock + coalesce(t.quantity, 0)",
        )
        .fetch_all()
        .await?;
    Ok(violated("stock_is_conserved", "product", &products))
}

async fn stock_is_never_negative(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let products: Vec<(Sku, i64)> = tx
        .query("select sku, stock from naive_products where stock < 0")
        .fetch_all()
        .await?;
    let violations = products
        .iter()
        .map(|(sku, stock)| format!("product {sku}: {} sold that were not there", -stock));
    Ok(Invariant::new(
        "stock_is_never_negative",
        violations.collect(),
    ))
}

async fn nothing_is_pending_past_the_horizon(
    tx: &mut Tx,
    now: DateTime<Utc>,
) -> sqlx::Result<Invariant> {
    let orders: Vec<(Uuid,)> = tx
        .query("select id from naive_orders where status = 'pending' and created_at < $1")
        .bind(now - HORIZON)
        .fetch_all()
        .await?;
    let name = "nothing_is_pending_past_the_horizon";
    Ok(violated(name, "order", &orders))
}

async fn refunds_fit_their_payment(tx: &mut Tx) -> sqlx::Result<Invariant> {
    let orders: Vec<(Uuid,)> = tx
        .query(
            "select o.id from naive_orders o join naive_refunds r on r.order_id = o.id
             where r.status <> 'failed'
             group by o.id, o.amount_minor having sum(r.amount_minor) > o.amount_minor",
        )
        .fetch_all()
        .await?;
    Ok(violated("refunds_fit_their_payment", "order", &orders))
}
