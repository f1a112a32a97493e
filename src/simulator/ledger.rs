//! The ledger: what was really paid, for whoever has to check.
//!
//! Counted from the objects themselves, so it cannot disagree with the API.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use sqlx::SqliteConnection;

use super::payment_intents::Status;

/// What the simulator knows of payments. Amounts are minor units, of whatever currency they were paid in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Payment intents, by their status.
    pub payment_intents: LedgerOfIntents,
    /// Refunds.
    pub refunds: LedgerOfRefunds,
    /// Events of every type.
    pub events: i64,
    /// Events, by their type.
    pub events_by_type: BTreeMap<String, i64>,
}

/// How many payment intents there are, and what was received.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LedgerOfIntents {
    /// Of any status.
    pub total: i64,
    /// Paid.
    pub succeeded: i64,
    /// What was received for those that succeeded, in minor units.
    pub amount_succeeded: i64,
    /// Waiting for a card, perhaps because one was declined.
    pub requires_payment_method: i64,
    /// Waiting to be confirmed.
    pub requires_confirmation: i64,
    /// Waiting for the customer's approval.
    pub requires_action: i64,
    /// Authorized, waiting to be captured.
    pub requires_capture: i64,
    /// Waiting for the bank.
    pub processing: i64,
    /// Canceled.
    pub canceled: i64,
}

/// How many refunds there are, and what was given back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LedgerOfRefunds {
    /// Of any status.
    pub total: i64,
    /// Given back.
    pub succeeded: i64,
    /// What those gave back, in minor units.
    pub amount_succeeded: i64,
}

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
) -> sqlx::Result<Ledger> {
    let wanted = Value::Object(metadata.clone()).to_string();
    let intents = Tallies(tallies(tx, PAYMENT_INTENTS, &wanted).await?);
    let refunds = Tallies(tallies(tx, REFUNDS, &wanted).await?);
    let events_by_type: BTreeMap<String, i64> = sqlx::query_as::<_, (String, i64)>(EVENTS)
        .bind(&wanted)
        .fetch_all(tx)
        .await?
        .into_iter()
        .collect();
    let number = |status: Status| intents.of(status.name()).0;
    let (succeeded, amount_succeeded) = intents.of(Status::Succeeded.name());
    let payment_intents = LedgerOfIntents {
        total: intents.total(),
        succeeded,
        amount_succeeded,
        requires_payment_method: number(Status::RequiresPaymentMethod),
        requires_confirmation: number(Status::RequiresConfirmation),
        requires_action: number(Status::RequiresAction),
        requires_capture: number(Status::RequiresCapture),
        processing: number(Status::Processing),
        canceled: number(Status::Canceled),
    };
    let (succeeded, amount_succeeded) = refunds.of("succeeded");
    let refunds = LedgerOfRefunds {
        total: refunds.total(),
        succeeded,
        amount_succeeded,
    };
    Ok(Ledger {
        payment_intents,
        refunds,
        events: events_by_type.values().sum(),
        events_by_type,
    })
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
    "select body ->> '$.type', count(*) from objects
     where kind = 'event'
       and ($1 = '{}' or coalesce(body ->> '$.data.object.payment_intent', body ->> '$.data.object.id')
                         in (select id from (",
    wanted_intents!(),
    "))) group by 1"
);

async fn tallies(
    tx: &mut SqliteConnection,
    sql: &'static str,
    wanted: &str,
) -> sqlx::Result<Vec<Tally>> {
    sqlx::query_as(sql).bind(wanted).fetch_all(tx).await
}

struct Tallies(Vec<Tally>);

impl Tallies {
    fn total(&self) -> i64 {
        self.0.iter().map(|tally| tally.number).sum()
    }

    /// How many have this status, and their amount.
    fn of(&self, status: &str) -> (i64, i64) {
        let found = self.0.iter().find(|tally| tally.status == status);
        found.map_or((0, 0), |tally| (tally.number, tally.amount))
    }
}
