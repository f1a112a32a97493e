//! A cart that comes with its goods: a client of the API has none on a shelf of ours, and says what it wants.

use chrono::{DateTime, Utc};

use super::edit::create;
use crate::{catalog::Sku, db::Tx, ids::CartId};

/// So many units of one product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The product.
    pub sku: Sku,
    /// How many are wanted, [`QUANTITY_MAX`](super::QUANTITY_MAX) at most.
    pub quantity: i64,
}

/// Makes the cart `id` and puts `items` into it, as a part of the transaction that buys it. Returns those that are no
/// products of ours. With no items there is nothing to do: the cart is somebody's already.
pub async fn fill(
    tx: &mut Tx,
    id: CartId,
    items: &[Item],
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Sku>> {
    if !items.is_empty() {
        create(tx, id, now).await?;
    }
    let mut unknown = Vec::new();
    for Item { sku, quantity } in items {
        let added = tx
            .query(
                "insert into cart_items (cart_id, sku, quantity)
                 select $1, sku, $3 from products where sku = $2",
            )
            .bind(id)
            .bind(sku)
            .bind(quantity)
            .execute()
            .await?;
        if added == 0 {
            unknown.push(sku.clone());
        }
    }
    Ok(unknown)
}
