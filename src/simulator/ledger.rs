//! The ledger: what was really paid, for whoever has to check.
//!
//! Counted from the objects themselves, so it cannot disagree with the API.

use serde_json::{Map, Value, json};
use sqlx::SqliteConnection;

use super::{objects, payment_intents::Status};

#[derive(Default, sqlx::FromRow)]
struct Tally {
    status: String,
    number: i64,
    amount: i64,
}

/// Counts and sums. `metadata` narrows them to the intents that carry all of it, with their refunds and events.
pub(super) async fn read(
    tx: &mut SqliteConnection,
    metadata: &Map<String, Value>,
) -> sqlx::Result<Value> {
    let wanted = Value::Object(metadata.clone()).to_string();
    let intents = tallies(tx, PAYMENT_INTENTS, &wanted).await?;
    let refunds = tallies(tx, REFUNDS, &wanted).await?;
    let events: i64 = sqlx::query_scalar(EVENTS)
        .bind(&wanted)
        .fetch_one(tx)
        .await?;
    let mut shown = summary(&intents);
    for status in Status::ALL {
        let number = intents
            .iter()
            .find(|tally| tally.status == status.name())
            .map_or(0, |tally| tally.number);
        objects::set(&mut shown, status.name(), json!(number));
    }
    Ok(json!({ "payment_intents": shown, "refunds": summary(&refunds), "events": events }))
}

/// Intents that carry every wanted pair of metadata: no pair is wanted that is not there.
macro_rules! wanted_intents {
    () => {
        "select id, body from objects intent
         where kind = 'payment_intent'
           and not exists (
             select 1 from json_each($1) wanted
             where not exists (
               select 1 from json_each(intent.body, '$.metadata') given
               where given.key = wanted.key and given.value = wanted.value))"
    };
}

const PAYMENT_INTENTS: &str = concat!(
    "select body ->> '$.status' as status, count(*) as number,
            cast(coalesce(sum(body ->> '$.amount_received'), 0) as integer) as amount
     from (",
    wanted_intents!(),
    ") group by 1"
);

const REFUNDS: &str = concat!(
    "select body ->> '$.status' as status, count(*) as number,
            cast(coalesce(sum(body ->> '$.amount'), 0) as integer) as amount
     from objects
     where kind = 'refund' and ($1 = '{}' or body ->> '$.payment_intent' in (select id from (",
    wanted_intents!(),
    "))) group by 1"
);

const EVENTS: &str = concat!(
    "select count(*) from objects
     where kind = 'event'
       and ($1 = '{}' or coalesce(body ->> '$.data.object.payment_intent', body ->> '$.data.object.id')
                         in (select id from (",
    wanted_intents!(),
    ")))"
);

async fn tallies(
    tx: &mut SqliteConnection,
    sql: &'static str,
    wanted: &str,
) -> sqlx::Result<Vec<Tally>> {
    sqlx::query_as(sql).bind(wanted).fetch_all(tx).await
}

fn summary(tallies: &[Tally]) -> Value {
    let succeeded = tallies.iter().find(|tally| tally.status == "succeeded");
    json!({
        "total": tallies.iter().map(|tally| tally.number).sum::<i64>(),
        "succeeded": succeeded.map_or(0, |tally| tally.number),
        "amount_succeeded": succeeded.map_or(0, |tally| tally.amount)
    })
}
