//! What a scene came to, from the two ledgers: the provider's, and the books of the shop or of its twin.
//!
//! Both serve others at the same time, so everything is counted by whose it is: by the customers' addresses in the shop, by
//! their carts in the twin's tables, and by the metadata that both leave at the provider.

use chrono::TimeDelta;

use super::scene::Scene;
use crate::{
    ids::CheckoutId,
    lab::{flow::Failed, world::Sums},
};

/// For so long the reconciler leaves a purchase alone that was dated back: somebody is to come back for it.
const A_WHILE: TimeDelta = TimeDelta::minutes(1);

/// The checkouts of the scene's customers in the shop.
pub(super) async fn checkouts(scene: &Scene<'_>) -> Result<Vec<CheckoutId>, Failed> {
    let mut ids = Vec::new();
    for customer in &scene.customers {
        let query = scene
            .app
            .till
            .db
            .query("select id from checkouts where email = $1");
        let found: Vec<(CheckoutId,)> = query.bind(customer.email()).fetch_all().await?;
        ids.extend(found.into_iter().map(|(id,)| id));
    }
    Ok(ids)
}

/// How many things are still to be done in the shop for the scene's customers. The twin does nothing later.
pub(super) async fn due(scene: &Scene<'_>) -> Result<i64, Failed> {
    let mut due = 0;
    for customer in scene.customers.iter().filter(|_| scene.is_safe()) {
        let query = scene.app.till.db.query(
            "with mine as (select id, status from checkouts where email = $1)
             select (select count(*) from mine where status = 'pending')
                  + (select count(*) from outbox where published_at is null
                     and aggregate_id in (select id from mine))
                  + (select count(*) from refunds where status = 'pending'
                     and checkout_id in (select id from mine))
                  + (select count(*) from mine where status = 'paid' and not exists
                     (select 1 from emails where about = mine.id and sent_at is not null))
                  + (select count(*) from refunds r where checkout_id in (select id from mine) and not exists
                     (select 1 from emails where about = r.id and sent_at is not null))",
        );
        due += query.bind(customer.email()).fetch_scalar::<i64>().await?;
    }
    Ok(due)
}

/// How much of everything there is. `shelf` is what was on the twin's shelf before.
pub(super) async fn sums(scene: &Scene<'_>, shelf: i64) -> Result<Sums, Failed> {
    let mut sums = if scene.is_safe() {
        of_shop(scene).await?
    } else {
        of_twin(scene, shelf).await?
    };
    let (name, ids) = if scene.is_safe() {
        (
            "checkout_id",
            checkouts(scene)
                .await?
                .iter()
                .map(ToString::to_string)
                .collect(),
        )
    } else {
        ("naive_cart", carts(scene))
    };
    for id in &ids {
        let ledger = scene.lab.simulator()?.ledger_of(&[(name, id)]).await?;
        sums.charges += ledger.payment_intents.succeeded;
        sums.charged_minor += ledger.payment_intents.amount_succeeded;
        sums.refunds += ledger.refunds.succeeded;
        sums.refunded_minor += ledger.refunds.amount_succeeded;
    }
    Ok(sums)
}

fn carts(scene: &Scene<'_>) -> Vec<String> {
    scene.customers.iter().map(|it| it.id.to_string()).collect()
}

async fn of_shop(scene: &Scene<'_>) -> Result<Sums, Failed> {
    let mut sums = Sums::default();
    for customer in &scene.customers {
        let query = scene.app.till.db.query(
            "with mine as (select id from checkouts where email = $1)
             select (select count(*) from orders where checkout_id in (select id from mine)),
                    (select cast(coalesce(sum(quantity), 0) as bigint) from stock_reservations
                     where state = 'sold' and checkout_id in (select id from mine)),
                    (select count(*) from emails where sent_at is not null
                     and checkout_id in (select id from mine))",
        );
        let (orders, sold, mails): (i64, i64, i64) =
            query.bind(customer.email()).fetch_one().await?;
        sums.orders += orders;
        sums.sold += sold;
        sums.mails += mails;
    }
    Ok(sums)
}

async fn of_twin(scene: &Scene<'_>, shelf: i64) -> Result<Sums, Failed> {
    let mut orders = 0;
    for customer in &scene.customers {
        let query = scene
            .app
            .till
            .db
            .query("select count(*) from naive_orders where cart_id = $1 and status = 'paid'");
        orders += query.bind(customer.id).fetch_scalar::<i64>().await?;
    }
    Ok(Sums {
        orders,
        sold: shelf - super::shelf::of_twin(scene).await?,
        mails: i64::try_from(scene.tray.mails().len())?,
        ..Sums::default()
    })
}

/// How many of the scene's checkouts are undecided.
pub(super) async fn pending(scene: &Scene<'_>) -> Result<i64, Failed> {
    let mut pending = 0;
    for customer in &scene.customers {
        let query = scene
            .app
            .till
            .db
            .query("select count(*) from checkouts where email = $1 and status = 'pending'");
        pending += query.bind(customer.email()).fetch_scalar::<i64>().await?;
    }
    Ok(pending)
}

/// Whether the shop has heard of such an event about one of the scene's payments.
pub(super) async fn has_heard(scene: &Scene<'_>, kind: &str) -> Result<bool, Failed> {
    let mut heard = 0;
    for customer in &scene.customers {
        let query = scene.app.till.db.query(
            "select count(*) from processed_events where type = $2 and object_id in
                 (select payment_intent_id from checkouts where email = $1)",
        );
        heard += query
            .bind(customer.email())
            .bind(kind)
            .fetch_scalar::<i64>()
            .await?;
    }
    Ok(heard > 0)
}

/// The reconciler does not look at the scene's undecided checkouts for a while.
pub(super) async fn leave_alone(scene: &Scene<'_>) -> sqlx::Result<()> {
    let mut tx = scene.app.till.db.begin().await?;
    for customer in &scene.customers {
        tx.query("update checkouts set drive_at = $2 where email = $1 and status = 'pending'")
            .bind(customer.email())
            .bind(scene.app.till.clock.now() + A_WHILE)
            .execute()
            .await?;
    }
    tx.commit().await
}

/// As if the scene's undecided checkouts had been submitted so much earlier, and nobody had been at work on them since.
pub(super) async fn date_back(scene: &Scene<'_>, by: TimeDelta) -> sqlx::Result<()> {
    let then = scene.app.till.clock.now() - by;
    let mut tx = scene.app.till.db.begin().await?;
    for customer in &scene.customers {
        tx.query(
            "update checkouts set created_at = $2, lease_until = $2, drive_at = $3
             where email = $1 and status = 'pending'",
        )
        .bind(customer.email())
        .bind(then)
        .bind(scene.app.till.clock.now() + A_WHILE)
        .execute()
        .await?;
    }
    tx.commit().await
}
