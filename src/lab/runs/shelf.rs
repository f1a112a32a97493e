//! The goods that a scene needs, brought along: what it buys it has put on the shelf before, so that the lab sells nothing out.

use super::scene::Scene;
use crate::{
    db::retrying,
    lab::{flow::Failed, naive},
};

/// What everybody in the lab buys.
pub(super) const GOODS: &str = "TEA-01";

/// What there is only one of, where it matters.
pub(super) const RARE: &str = "LMP-01";

/// How many units the shop sells in a scene, whatever goes wrong.
const SOLD: i64 = 1;

/// How many units the twin has. It sells more than it should.
const OF_TWIN: i64 = 2;

/// Puts the goods of a scene on the shelf: as many as the shop sells, and of the twin's so many and no more.
pub(super) async fn fill(scene: &Scene<'_>, goods: &'static str) -> Result<(), Failed> {
    let db = &scene.app.till.db;
    let known = "select count(*) from products where sku = $1 or sku = $2";
    let known: i64 = db
        .query(known)
        .bind(GOODS)
        .bind(RARE)
        .fetch_scalar()
        .await?;
    if known < 2 {
        return Err(
            format!("the lab buys {GOODS} and {RARE}, and the catalog does not have both").into(),
        );
    }
    if scene.is_safe() && goods != RARE {
        retrying(|| bring(scene, goods, SOLD)).await?;
    } else if !scene.is_safe() {
        naive::create_tables(db).await?;
        naive::fill_shelves(db).await?;
        retrying(|| stock_twin(scene)).await?;
    }
    Ok(())
}

/// Takes all but one unit of the rare product away, and says how many those are. The twin has one from the beginning.
pub(super) async fn put_aside(scene: &Scene<'_>) -> Result<i64, Failed> {
    if !scene.is_safe() {
        return Ok(0);
    }
    let stock = "select stock from products where sku = $1";
    let stock: i64 = scene
        .app
        .till
        .db
        .query(stock)
        .bind(RARE)
        .fetch_scalar()
        .await?;
    let aside = stock - 1;
    retrying(|| bring(scene, RARE, -aside)).await?;
    Ok(aside)
}

/// Puts back what was put aside, and the unit that the scene has sold.
pub(super) async fn put_back(scene: &Scene<'_>, aside: i64) -> Result<(), Failed> {
    if scene.is_safe() {
        retrying(|| bring(scene, RARE, aside + 1)).await?;
    }
    Ok(())
}

/// What is on the twin's shelf.
pub(super) async fn of_twin(scene: &Scene<'_>) -> Result<i64, Failed> {
    let stock = "select cast(sum(stock) as bigint) from naive_products where sku = $1 or sku = $2";
    let query = scene.app.till.db.query(stock).bind(GOODS).bind(RARE);
    Ok(query.fetch_scalar().await?)
}

/// As if so many more had ever been delivered: the books agree all the time.
async fn bring(scene: &Scene<'_>, sku: &'static str, units: i64) -> sqlx::Result<()> {
    let mut tx = scene.app.till.db.begin().await?;
    tx.query("update products set stock = stock + $2, stocked = stocked + $2 where sku = $1")
        .bind(sku)
        .bind(units)
        .execute()
        .await?;
    tx.commit().await
}

async fn stock_twin(scene: &Scene<'_>) -> sqlx::Result<()> {
    let mut tx = scene.app.till.db.begin().await?;
    for (sku, units) in [(GOODS, OF_TWIN), (RARE, 1)] {
        tx.query("update naive_products set stock = $2, stocked = $2 where sku = $1")
            .bind(sku)
            .bind(units)
            .execute()
            .await?;
    }
    tx.commit().await
}
