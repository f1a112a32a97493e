//! Starting over: every purchase is forgotten, by the shop and by the provider.
//!
//! Both, or the audit would miss what one of them still knows. The goods, their prices and the visitors' sessions stay; what
//! was sold is on the shelf again.

use super::{Lab, flow::Failed, naive};
use crate::{
    app::App,
    db::{Db, retrying},
};

/// What is forgotten, in an order in which nothing points at what is gone.
const FORGET: [&str; 20] = [
    "delete from emails",
    "delete from shipments",
    "delete from discrepancies",
    "delete from provider_calls",
    "delete from unbooked_refunds",
    "delete from refunds",
    "delete from orders",
    "delete from customers",
    "delete from payments",
    "delete from stock_reservations",
    "delete from checkout_lines",
    "delete from outbox",
    "delete from inbox",
    "delete from processed_events",
    "delete from other_keys",
    "delete from checkouts",
    "delete from cart_items",
    "delete from carts",
    "delete from events_read",
    "update products set stock = stocked",
];

/// What the naive twin forgets.
const TWIN_FORGETS: [&str; 6] = [
    "delete from naive_refunds",
    "delete from naive_order_lines",
    "delete from naive_orders",
    "delete from naive_cart_items",
    "delete from naive_events",
    "update naive_products set stock = stocked",
];

impl Lab {
    /// Starts over. Needs the simulator that this process runs: nobody else's provider forgets anything.
    pub async fn start_over(&self, app: &App) -> Result<(), Failed> {
        let simulator = self.simulator()?;
        let _nobody_plays = self.between_runs().await;
        naive::create_tables(&app.till.db).await?;
        retrying(|| forget(&app.till.db)).await?;
        simulator.reset().await?;
        self.fail_mails(0);
        self.forget_runs();
        tracing::info!("the lab has started over: every purchase is forgotten");
        Ok(())
    }
}

async fn forget(db: &Db) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    for statement in FORGET.iter().chain(&TWIN_FORGETS) {
        tx.query(statement).execute().await?;
    }
    tx.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stays: the goods, who is looking at them, and what our links are signed with.
    const KEPT: [&str; 3] = ["products", "secrets", "sessions"];

    /// A table that nobody has thought of would keep what the rest of the shop has forgotten, or have the shop refuse to forget.
    #[tokio::test]
    async fn each_table_is_forgotten_or_kept_on_purpose() {
        let db = Db::open("sqlite::memory:").await.expect("it opens");
        naive::create_tables(&db).await.expect("they are made");
        let tables = "select name from sqlite_master where type = 'table'
                      and name not like 'sqlite%' and name not like '\\_sqlx%' escape '\\' order by name";
        let tables: Vec<(String,)> = db.query(tables).fetch_all().await.expect("their names");
        assert!(tables.len() > FORGET.len(), "{tables:?}");
        for (table,) in tables {
            let forgetting = format!("delete from {table}");
            let mut all = FORGET.iter().chain(&TWIN_FORGETS);
            let is_forgotten = all.any(|statement| *statement == forgetting);
            let is_kept = KEPT.contains(&table.as_str()) || table == "naive_products";
            assert!(is_forgotten != is_kept, "{table}");
        }
        forget(&db).await.expect("nothing is in the way");
    }
}
