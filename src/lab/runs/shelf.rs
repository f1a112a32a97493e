//! The goods of a scene. The lab brings its own, which the catalog does not show: whatever is played, nobody in the shop finds
//! the shelf emptier.

use super::scene::Scene;
use crate::{
    catalog::demo::price_in,
    db::retrying,
    lab::{flow::Failed, naive},
};

/// What everybody in the lab buys.
pub(super) const GOODS: &str = "LAB-TEA";

/// What there is only one of, where it matters.
pub(super) const RARE: &str = "LAB-LAMP";

/// What the lab brings along: the SKU, the name, about how many euro cents a unit costs, and how many the twin has, which
/// sells more than it should. Of each the shop has one.
const BROUGHT: [(&str, &str, i64, i64); 2] = [
    (GOODS, "Tea of the lab", 490, 2),
    (RARE, "Last lamp of the lab", 2490, 1),
];

const ABOUT: &str = "It is bought in the lab, and the catalog does not show it.";

/// Puts the goods of a scene on the shelf, and no more of them than it needs.
pub(super) async fn fill(scene: &Scene<'_>) -> Result<(), Failed> {
    retrying(|| stock_shop(scene)).await?;
    if !scene.is_safe() {
        naive::create_tables(&scene.app.till.db).await?;
        naive::fill_shelves(&scene.app.till.db).await?;
        retrying(|| stock_twin(scene)).await?;
    }
    Ok(())
}

/// What is on the twin's shelf.
pub(super) async fn of_twin(scene: &Scene<'_>) -> Result<i64, Failed> {
    let stock = "select cast(sum(stock) as bigint) from naive_products where sku = $1 or sku = $2";
    let query = scene.app.till.db.query(stock).bind(GOODS).bind(RARE);
    Ok(query.fetch_scalar().await?)
}

/// What an earlier scene has left is counted: the books agree all the time.
async fn stock_shop(scene: &Scene<'_>) -> sqlx::Result<()> {
    let till = &scene.app.till;
    let mut tx = till.db.begin().await?;
    for (sku, name, cents, _) in BROUGHT {
        let price = price_in(till.pricing.currency, cents);
        tx.query(
            "insert into products (sku, name, description, price_minor, currency, stock, stocked, listed, created_at)
             values ($1, $2, $3, $4, $5, 1, 1, false, $6)
             on conflict (sku) do update
             set stock = 1, stocked = products.stocked + 1 - products.stock,
                 price_minor = excluded.price_minor, currency = excluded.currency",
        )
        .bind(sku)
        .bind(name)
        .bind(ABOUT)
        .bind(price.minor)
        .bind(price.currency)
        .bind(till.clock.now())
        .execute()
        .await?;
    }
    tx.commit().await
}

async fn stock_twin(scene: &Scene<'_>) -> sqlx::Result<()> {
    let mut tx = scene.app.till.db.begin().await?;
    for (sku, _, _, units) in BROUGHT {
        tx.query("update naive_products set stock = $2, stocked = $2 where sku = $1")
            .bind(sku)
            .bind(units)
            .execute()
            .await?;
    }
    tx.commit().await
}
