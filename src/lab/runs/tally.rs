//! What a scene came to, from the two ledgers: the provider's, and the books of the shop or of its twin.
//!
//! Both serve others at the same time, so everything is counted by whose it is: by the customers' addresses in the shop, by
//! their carts in the twin's tables, and by the metadata that both leave at the provider.

use chrono::{DateTime, TimeDelta, Utc};

use super::{scene::Scene, shelf};
use crate::{
    db::Query,
    ids::CheckoutId,
    lab::{
        flow::{Customer, Failed},
        world::Sums,
    },
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

/// What a statement counts, for all of the scene's customers together. `of` says whose things it counts.
async fn count(
    scene: &Scene<'_>,
    sql: &'static str,
    of: impl for<'q> Fn(Query<'q>, &Customer) -> Query<'q>,
) -> Result<i64, Failed> {
    let mut counted = 0;
    for customer in &scene.customers {
        let query = of(scene.app.till.db.query(sql), customer);
        counted += query.fetch_scalar::<i64>().await?;
    }
    Ok(counted)
}

fn by_email<'q>(query: Query<'q>, customer: &Customer) -> Query<'q> {
    query.bind(customer.email())
}

/// How many things are still to be done in the shop for the scene's customers. The twin does nothing later.
pub(super) async fn due(scene: &Scene<'_>) -> Result<i64, Failed> {
    if !scene.is_safe() {
        return Ok(0);
    }
    let due = "with mine as (select id, status from checkouts where email = $1)
               select (select count(*) from mine where status = 'pending')
                    + (select count(*) from outbox where published_at is null
                       and aggregate_id in (select id from mine))
                    + (select count(*) from refunds where status = 'pending'
                       and checkout_id in (select id from mine))
                    + (select count(*) from mine where status = 'paid' and not exists
                       (select 1 from emails where about = mine.id and sent_at is not null))
                    + (select count(*) from refunds r where checkout_id in (select id from mine) and not exists
                       (select 1 from emails where about = r.id and sent_at is not null))";
    count(scene, due, by_email).await
}

/// How much of everything there is. `on_shelf` is what was on the twin's shelf before.
pub(super) async fn sums(scene: &Scene<'_>, on_shelf: i64) -> Result<Sums, Failed> {
    let mut sums = if scene.is_safe() {
        of_shop(scene).await?
    } else {
        of_twin(scene, on_shelf).await?
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
    let orders =
        "select count(*) from orders o join checkouts c on c.id = o.checkout_id where c.email = $1";
    let sold = "select cast(coalesce(sum(r.quantity), 0) as bigint)
                from stock_reservations r join checkouts c on c.id = r.checkout_id
                where c.email = $1 and r.state = 'sold'";
    let mails = "select count(*) from emails m join checkouts c on c.id = m.checkout_id
                 where c.email = $1 and m.sent_at is not null";
    Ok(Sums {
        orders: count(scene, orders, by_email).await?,
        sold: count(scene, sold, by_email).await?,
        mails: count(scene, mails, by_email).await?,
        ..Sums::default()
    })
}

async fn of_twin(scene: &Scene<'_>, on_shelf: i64) -> Result<Sums, Failed> {
    let orders = "select count(*) from naive_orders where cart_id = $1 and status = 'paid'";
    Ok(Sums {
        orders: count(scene, orders, |query, customer| query.bind(customer.id)).await?,
        sold: on_shelf - shelf::of_twin(scene).await?,
        mails: i64::try_from(scene.tray.mails().len())?,
        ..Sums::default()
    })
}

/// How many of the scene's checkouts are undecided.
pub(super) async fn pending(scene: &Scene<'_>) -> Result<i64, Failed> {
    let pending = "select count(*) from checkouts where email = $1 and status = 'pending'";
    count(scene, pending, by_email).await
}

/// Whether the shop has heard of such an event about one of the scene's payments.
pub(super) async fn has_heard(scene: &Scene<'_>, kind: &str) -> Result<bool, Failed> {
    let heard = "select count(*) from processed_events where type = $2 and object_id in
                     (select payment_intent_id from checkouts where email = $1)";
    let heard = count(scene, heard, |query, customer| {
        by_email(query, customer).bind(kind)
    });
    Ok(heard.await? > 0)
}

/// The reconciler does not look at the scene's undecided checkouts for a while.
pub(super) async fn leave_alone(scene: &Scene<'_>) -> sqlx::Result<()> {
    put_off(scene, None).await
}

/// As if the scene's undecided checkouts had been submitted so much earlier, and nobody had been at work on them since.
pub(super) async fn date_back(scene: &Scene<'_>, by: TimeDelta) -> sqlx::Result<()> {
    put_off(scene, Some(scene.app.till.clock.now() - by)).await
}

async fn put_off(scene: &Scene<'_>, submitted_at: Option<DateTime<Utc>>) -> sqlx::Result<()> {
    let mut tx = scene.app.till.db.begin().await?;
    for customer in &scene.customers {
        tx.query(
            "update checkouts
             set drive_at = $2, created_at = coalesce($3, created_at), lease_until = coalesce($3, lease_until)
             where email = $1 and status = 'pending'",
        )
        .bind(customer.email())
        .bind(scene.app.till.clock.now() + A_WHILE)
        .bind(submitted_at)
        .execute()
        .await?;
    }
    tx.commit().await
}
