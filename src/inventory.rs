//! Stock: taken when a purchase is submitted, then sold or given back, each exactly once.
//!
//! ```text
//! products.stock ── hold ──> held ── sell ──> sold ── put back ──> returned
//!       ^                     │                                        │
//!       │                     └── release ──> released                 │
//!       └────────────────────────────────────────┴─────────────────────┘
//! ```
//!
//! Whoever takes several rows takes them in the order of their SKUs. Two purchases with the same goods in
//! opposite order would otherwise wait for each other.

use crate::{catalog::Sku, db::Tx, ids::CheckoutId};

/// Takes `quantity` units off the shelf for `checkout`. `false`, and nothing taken, when there are too few.
///
/// The guard is in the `where`: of two buyers of the last unit, one update finds `stock >= 1` and the other
/// does not. Read the stock first and write the difference, and both are sold it.
pub async fn hold(
    tx: &mut Tx,
    checkout: CheckoutId,
    sku: &Sku,
    quantity: i64,
) -> sqlx::Result<bool> {
    let taken = tx
        .query("update products set stock = stock - $2 where sku = $1 and stock >= $2")
        .bind(sku)
        .bind(quantity)
        .execute()
        .await?;
    if taken == 0 {
        return Ok(false);
    }
    tx.query(
        "insert into stock_reservations (checkout_id, sku, quantity, state)
         values ($1, $2, $3, 'held')",
    )
    .bind(checkout)
    .bind(sku)
    .bind(quantity)
    .execute()
    .await?;
    Ok(true)
}

/// How many units of a product a new checkout could take now.
pub async fn left(tx: &mut Tx, sku: &Sku) -> sqlx::Result<i64> {
    tx.query("select stock from products where sku = $1")
        .bind(sku)
        .fetch_scalar()
        .await
}

/// Turns what `checkout` holds into sold goods. A second call finds nothing held.
pub async fn sell(tx: &mut Tx, checkout: CheckoutId) -> sqlx::Result<()> {
    tx.query(
        "update stock_reservations set state = 'sold' where checkout_id = $1 and state = 'held'",
    )
    .bind(checkout)
    .execute()
    .await?;
    Ok(())
}

/// Puts what `checkout` holds back on the shelf. A second call finds nothing held.
pub async fn release(tx: &mut Tx, checkout: CheckoutId) -> sqlx::Result<()> {
    let released = tx
        .query(
            "update stock_reservations set state = 'released'
             where checkout_id = $1 and state = 'held'
             returning sku, quantity",
        )
        .bind(checkout)
        .fetch_all()
        .await?;
    shelve(tx, released).await
}

/// Puts what was sold to `checkout` back on the shelf. A second call finds nothing sold.
pub async fn put_back(tx: &mut Tx, checkout: CheckoutId) -> sqlx::Result<()> {
    let returned = tx
        .query(
            "update stock_reservations set state = 'returned'
             where checkout_id = $1 and state = 'sold'
             returning sku, quantity",
        )
        .bind(checkout)
        .fetch_all()
        .await?;
    shelve(tx, returned).await
}

async fn shelve(tx: &mut Tx, mut goods: Vec<(Sku, i64)>) -> sqlx::Result<()> {
    goods.sort(); // `returning` promises no order.
    for (sku, quantity) in goods {
        tx.query("update products set stock = stock + $2 where sku = $1")
            .bind(&sku)
            .bind(quantity)
            .execute()
            .await?;
    }
    Ok(())
}
