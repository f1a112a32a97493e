//! Changing a cart, as long as it is open.

use chrono::{DateTime, Utc};

use super::{LINES_MAX, QUANTITY_MAX, lock_to_change};
use crate::{
    catalog::Sku,
    db::{Db, Transient, Tx, retrying},
    ids::CartId,
};

/// After so many closed carts in a row the next one is a fresh one.
const FOLLOWERS_MAX: usize = 10;

/// Puts `quantity` more of a product into the cart, and returns the cart it is in: a new one when there was
/// none, the one that follows when the given one is closed.
pub async fn add(
    db: &Db,
    cart: Option<CartId>,
    sku: &Sku,
    quantity: i64,
    now: DateTime<Utc>,
) -> Result<CartId, CartError> {
    retrying(|| add_once(db, cart, sku, quantity, now)).await
}

async fn add_once(
    db: &Db,
    cart: Option<CartId>,
    sku: &Sku,
    quantity: i64,
    now: DateTime<Utc>,
) -> Result<CartId, CartError> {
    let mut tx = db.begin().await?;
    let added = add_to(&mut tx, cart, sku, quantity, now).await;
    tx.end(added).await
}

async fn add_to(
    tx: &mut Tx,
    cart: Option<CartId>,
    sku: &Sku,
    quantity: i64,
    now: DateTime<Utc>,
) -> Result<CartId, CartError> {
    let cart = match cart {
        Some(cart) => open_or_next(tx, cart, now).await?,
        None => create(tx, CartId::new(), now).await?,
    };
    let added = tx
        .query(
            "insert into cart_items (cart_id, sku, quantity)
             select $1, sku, $3 from products where sku = $2
             on conflict (cart_id, sku) do update
             set quantity = cart_items.quantity + excluded.quantity
             where cart_items.quantity + excluded.quantity <= $4",
        )
        .bind(cart)
        .bind(sku)
        .bind(quantity)
        .bind(QUANTITY_MAX)
        .execute()
        .await?;
    if added == 0 {
        return Err(why_not_added(tx, sku).await?);
    }
    let (lines, currencies): (i64, i64) = tx
        .query(
            "select count(*), count(distinct p.currency)
             from cart_items i join products p on p.sku = i.sku where i.cart_id = $1",
        )
        .bind(cart)
        .fetch_one()
        .await?;
    if lines > LINES_MAX {
        return Err(CartError::TooManyLines);
    }
    if currencies > 1 {
        return Err(CartError::OtherCurrency);
    }
    Ok(cart)
}

/// Sets how many of a product are wanted; 0 removes it.
pub async fn set_quantity(
    db: &Db,
    cart: CartId,
    sku: &Sku,
    quantity: i64,
    now: DateTime<Utc>,
) -> Result<(), CartError> {
    retrying(|| set_quantity_once(db, cart, sku, quantity, now)).await
}

async fn set_quantity_once(
    db: &Db,
    cart: CartId,
    sku: &Sku,
    quantity: i64,
    now: DateTime<Utc>,
) -> Result<(), CartError> {
    let mut tx = db.begin().await?;
    if !is_open(&mut tx, cart, now).await? {
        tx.rollback().await?;
        return Err(CartError::Closed);
    }
    let statement = if quantity == 0 {
        tx.query("delete from cart_items where cart_id = $1 and sku = $2")
            .bind(cart)
            .bind(sku)
    } else {
        tx.query("update cart_items set quantity = $3 where cart_id = $1 and sku = $2")
            .bind(cart)
            .bind(sku)
            .bind(quantity)
    };
    statement.execute().await?;
    tx.commit().await?;
    Ok(())
}

/// Locks the cart and says whether it can still be changed. One that is not there cannot, since it never was, or was
/// pruned at this very moment.
async fn is_open(tx: &mut Tx, id: CartId, now: DateTime<Utc>) -> sqlx::Result<bool> {
    lock_to_change(tx, id, now).await?;
    // A statement of its own, after the lock: it sees the purchase that the lock waited for.
    let open: Option<(CartId,)> = tx
        .query(
            "select id from carts where id = $1 and not exists (
                 select 1 from checkouts where cart_id = $1 and status in ('pending', 'paid'))",
        )
        .bind(id)
        .fetch_optional()
        .await?;
    Ok(open.is_some())
}

/// The cart, or the first open one of those that follow it. Each closed one on the way was bought since the visitor's
/// session was read, so there are hardly ever two.
async fn open_or_next(tx: &mut Tx, cart: CartId, now: DateTime<Utc>) -> sqlx::Result<CartId> {
    let mut cart = cart;
    for _ in 0..FOLLOWERS_MAX {
        if is_open(tx, cart, now).await? {
            return Ok(cart);
        }
        cart = create(tx, cart.next(), now).await?;
    }
    create(tx, CartId::new(), now).await
}

/// Creates the cart named `id`, unless it is there.
pub(super) async fn create(tx: &mut Tx, id: CartId, now: DateTime<Utc>) -> sqlx::Result<CartId> {
    tx.query(
        "insert into carts (id, created_at, idle_since) values ($1, $2, $2) on conflict do nothing",
    )
    .bind(id)
    .bind(now)
    .execute()
    .await?;
    Ok(id)
}

async fn why_not_added(tx: &mut Tx, sku: &Sku) -> sqlx::Result<CartError> {
    let known: Option<(Sku,)> = tx
        .query("select sku from products where sku = $1")
        .bind(sku)
        .fetch_optional()
        .await?;
    Ok(if known.is_some() {
        CartError::TooMany
    } else {
        CartError::UnknownProduct
    })
}

/// Why a cart was not changed.
#[derive(Debug, thiserror::Error)]
pub enum CartError {
    /// There is no product of this SKU.
    #[error("We do not have this product.")]
    UnknownProduct,
    /// The quantity would pass [`QUANTITY_MAX`].
    #[error("A cart takes {QUANTITY_MAX} of one product at most.")]
    TooMany,
    /// The cart would pass [`LINES_MAX`].
    #[error("A cart takes {LINES_MAX} different products at most.")]
    TooManyLines,
    /// The product is priced in another currency than what is in the cart.
    #[error("This product is priced in another currency than what is in your cart.")]
    OtherCurrency,
    /// The cart is being paid, was bought, or is not there.
    #[error("This cart can no longer be changed.")]
    Closed,
    /// The database did not do its part.
    #[error("the database failed")]
    Db(#[from] sqlx::Error),
}

impl Transient for CartError {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Db(error) if error.is_transient())
    }
}
