//! Recording: the outcome is written once, by whoever learns it first.
//!
//! The answer to our call, the webhook, a later look-up: they may come in any order, twice, and at the same
//! moment. All go through [`apply`], whose updates say `where status = 'pending'`. The first one finds the
//! checkout pending; everybody later finds it concluded and changes nothing.
//!
//! News that does not fit the row (another amount, another's payment, money for a checkout that had ended)
//! fulfils nothing: it is kept as a discrepancy, which the audit reports until a person has resolved it.
//! Take `and status = 'pending'` out of `conclude_paid` and `cargo test webhook_before_the_response` fails.

use chrono::{DateTime, Utc};

use super::model::{self, Checkout, Status};
use crate::{
    db::{Db, Tx, retrying},
    discrepancies::{self, Discrepancy},
    ids::CheckoutId,
    inventory,
    money::Money,
    orders,
    provider::{Outcome, Payment},
};

/// What a piece of news came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ended the checkout.
    Concluded,
    /// The checkout goes on waiting, for the customer or for a slow method.
    Waiting,
    /// It was known already, or concerns nothing of ours.
    Nothing,
    /// It contradicts what we know, and was put aside for a person.
    Discrepancy,
}

/// Writes `outcome` down in a transaction of its own.
pub async fn record(
    db: &Db,
    id: CheckoutId,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let verdict = retrying(|| record_once(db, id, outcome, now)).await?;
    tracing::info!(checkout.id = %id, ?verdict, "outcome recorded");
    Ok(verdict)
}

async fn record_once(
    db: &Db,
    id: CheckoutId,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let mut tx = db.begin().await?;
    let verdict = apply(&mut tx, id, outcome, now).await?;
    tx.commit().await?;
    Ok(verdict)
}

/// Writes `outcome` down as a part of the transaction `tx`. Safe to call twice, and with anything.
pub async fn apply(
    tx: &mut Tx,
    id: CheckoutId,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    match outcome {
        Outcome::Paid(payment) => pay(tx, id, payment, now).await,
        Outcome::Declined { intent, code } => {
            end(tx, id, Status::Declined, intent.as_deref(), code, now).await
        }
        Outcome::Canceled { intent } => {
            end(tx, id, Status::Canceled, Some(intent), "canceled", now).await
        }
        Outcome::Refused { code } => end(tx, id, Status::Canceled, None, code, now).await,
        Outcome::NeverCharged => end(tx, id, Status::Canceled, None, "never_charged", now).await,
        Outcome::NeedsAuthentication { intent, url } => wait(tx, id, intent, Some(url)).await,
        Outcome::Processing { intent } => wait(tx, id, intent, None).await,
        Outcome::Unknown(_) => Ok(Verdict::Nothing),
    }
}

/// The money arrived: payment, order, sold goods and the news of it, or nothing at all.
async fn pay(
    tx: &mut Tx,
    id: CheckoutId,
    payment: &Payment,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let Some(checkout) = conclude_paid(tx, id, payment, now).await? else {
        return why_not_paid(tx, id, payment, now).await;
    };
    add_payment(tx, &checkout, payment, now).await?;
    orders::place(tx, &checkout, now).await?;
    inventory::sell(tx, id).await?;
    Ok(Verdict::Concluded)
}

/// Ends a pending checkout as paid, if the payment is the one that was agreed. Everybody else gets `None`.
///
/// A payment that another checkout has is not taken. The unique index would make an error of it, and news that is
/// answered with an error comes again for days.
async fn conclude_paid(
    tx: &mut Tx,
    id: CheckoutId,
    payment: &Payment,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<Checkout>> {
    tx.query(
        "update checkouts
         set status = 'paid', payment_intent_id = $2, next_action_url = null, lease_until = null,
             concluded_at = $3
         where id = $1 and status = 'pending'
           and amount_minor = $4 and currency = $5
           and (payment_intent_id is null or payment_intent_id = $2)
           and not exists (select 1 from checkouts other
                           where other.payment_intent_id = $2 and other.id <> $1)
         returning *",
    )
    .bind(id)
    .bind(&payment.intent)
    .bind(now)
    .bind(payment.amount_minor)
    .bind(&payment.currency)
    .fetch_optional()
    .await
}

/// Tells a repeat from a contradiction.
async fn why_not_paid(
    tx: &mut Tx,
    id: CheckoutId,
    payment: &Payment,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let Some(checkout) = model::get(tx, id).await? else {
        return Ok(Verdict::Nothing);
    };
    let ours = checkout.payment_intent_id.as_ref() == Some(&payment.intent);
    let agreed = (checkout.amount().minor, checkout.amount().currency.code());
    let fits = agreed == (payment.amount_minor, payment.currency.as_str());
    let kind = match checkout.status {
        Status::Paid if ours && fits => return Ok(Verdict::Nothing),
        Status::Paid | Status::Pending if !fits => "amount_differs",
        Status::Paid => "second_payment",
        Status::Pending => "foreign_payment",
        Status::Declined | Status::Canceled => "paid_after_the_end",
    };
    let detail = format!(
        "the provider has {} {} as {}, the checkout is {} for {} {}",
        payment.amount_minor, payment.currency, payment.intent, checkout.status, agreed.0, agreed.1
    );
    discrepancies::open(
        tx,
        Discrepancy {
            kind,
            object: &payment.intent,
            checkout: id,
            detail,
        },
        now,
    )
    .await?;
    Ok(Verdict::Discrepancy)
}

async fn add_payment(
    tx: &mut Tx,
    checkout: &Checkout,
    payment: &Payment,
    now: DateTime<Utc>,
) -> sqlx::Result<u64> {
    let Money { minor, currency } = checkout.amount();
    tx.query(
        "insert into payments (payment_intent_id, checkout_id, amount_minor, currency, created_at)
         values ($1, $2, $3, $4, $5)",
    )
    .bind(&payment.intent)
    .bind(checkout.id)
    .bind(minor)
    .bind(currency)
    .bind(now)
    .execute()
    .await
}

/// Ends a pending checkout without money, and puts its goods back on the shelf.
async fn end(
    tx: &mut Tx,
    id: CheckoutId,
    status: Status,
    intent: Option<&str>,
    code: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let ended: Option<(CheckoutId,)> = tx
        .query(
            "update checkouts
             set status = $2, payment_intent_id = coalesce(payment_intent_id, $3), failure_code = $4,
                 next_action_url = null, lease_until = null, concluded_at = $5
             where id = $1 and status = 'pending'
               and (payment_intent_id is null or $3 is null or payment_intent_id = $3)
               and not exists (select 1 from checkouts other
                               where other.payment_intent_id = $3 and other.id <> $1)
             returning id",
        )
        .bind(id)
        .bind(status)
        .bind(intent)
        .bind(code)
        .bind(now)
        .fetch_optional()
        .await?;
    if ended.is_none() {
        return Ok(Verdict::Nothing);
    }
    inventory::release(tx, id).await?;
    Ok(Verdict::Concluded)
}

/// Notes which payment a pending checkout waits for, and where the customer has to go for it.
async fn wait(
    tx: &mut Tx,
    id: CheckoutId,
    intent: &str,
    url: Option<&String>,
) -> sqlx::Result<Verdict> {
    let noted = tx
        .query(
            "update checkouts set payment_intent_id = $2, next_action_url = $3
             where id = $1 and status = 'pending'
               and (payment_intent_id is null or payment_intent_id = $2)
               and not exists (select 1 from checkouts other
                               where other.payment_intent_id = $2 and other.id <> $1)",
        )
        .bind(id)
        .bind(intent)
        .bind(url)
        .execute()
        .await?;
    Ok(if noted == 1 {
        Verdict::Waiting
    } else {
        Verdict::Nothing
    })
}
