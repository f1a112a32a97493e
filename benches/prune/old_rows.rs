//! A shop that has been open for long and never pruned: rows that are old, made by SQL.

use boring_checkout::db::Db;
use chrono::{DateTime, TimeDelta, Utc};

/// Of twenty rows so many are of each kind, and each statement makes so many times `$1` rows of the age `$2`. Ids are
/// drawn at random, as the provider's are, so that each row is somewhere else in its index.
const KINDS: [(u32, &str); 6] = [
    (
        5,
        "insert into processed_events (event_id, type, object_id, verdict, received_at)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < $1)
         select 'evt_' || /*pg md5(random()::text) --*/ lower(hex(randomblob(12)))
             , 'payment_intent.succeeded'
             , 'pi_' || /*pg md5(random()::text) --*/ lower(hex(randomblob(12)))
             , 'applied', $2 from n",
    ),
    (
        3,
        "insert into outbox (aggregate_id, event_type, version, payload, created_at, published_at)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < $1)
         select /*pg gen_random_uuid() --*/ randomblob(16)
             , 'order.placed', 1, '{\"format\":1,\"order_number\":\"0000-0000-00\"}', $2, $2 from n",
    ),
    (
        6,
        "insert into inbox (consumer, message, aggregate_id, consumed_at)
         select consumer, cast(o.id as text) || '/order.placed/1', o.aggregate_id, o.published_at
         from outbox o, (select 'fulfilment' as consumer union all select 'mailer') c
         where o.published_at = $2 and $1 > 0",
    ),
    (
        3,
        "insert into sessions (id, record, expires_at)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < $1)
         select /*pg md5(random()::text) --*/ lower(hex(randomblob(16)))
             , '{\"id\":0,\"data\":{\"visitor\":{}}}', $3 from n where $2 = $2",
    ),
    (
        3,
        "insert into carts (id, created_at, idle_since)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < $1)
         select /*pg gen_random_uuid() --*/ randomblob(16)
             , $2, $2 from n",
    ),
    (
        0, // They go with their carts, and are not counted.
        "insert into cart_items (cart_id, sku, quantity)
         select id, 'TEA-01', 1 from carts where idle_since = $2 and $1 = 0",
    ),
];

/// So many moments at which they came into being.
const AGES: u32 = 500;

/// How many rows are made when `rows` are asked for.
pub fn all(rows: u32) -> u32 {
    let kinds = KINDS.map(|(share, _)| rows / AGES * share / 20 * AGES);
    // Two consumers for each message, whatever was rounded.
    let [events, outbox, _, sessions, carts, _] = kinds;
    events + outbox * 3 + sessions + carts
}

pub async fn make(db: &Db, rows: u32) {
    let now = Utc::now();
    for age in 0..AGES {
        // From a year ago to a hundred days.
        let at = now - TimeDelta::hours(24 * 365) + TimeDelta::minutes(i64::from(age) * 763);
        make_at(db, rows, at).await.unwrap();
    }
    let mut tx = db.begin().await.unwrap();
    let enough = "update products set stock = stock + 10000000, stocked = stocked + 10000000";
    tx.query(enough).execute().await.unwrap();
    tx.commit().await.unwrap();
}

async fn make_at(db: &Db, rows: u32, at: DateTime<Utc>) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    for (share, sql) in KINDS {
        let number = i64::from(rows / AGES * share / 20);
        let query = tx.query(sql).bind(number).bind(at);
        let query = if sql.contains("$3") {
            query.bind(at.timestamp())
        } else {
            query
        };
        query.execute().await?;
    }
    tx.commit().await
}
