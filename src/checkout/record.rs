//! Recording: the outcome is written once, by whoever learns it first.
//!
//! The answer to our call, the webhook, a later look-up: they may come in any order, twice, and at the same
//! moment. All go through [`apply`], whose updates say `where status = 'pending'`. The first one finds the
//! checkout pending; everybody later finds it concluded and changes nothing.
//!
//! News that does not fit the row (another amount, another's payment, money for a checkout that had ended)
//! fulfils nothing: it is kept as a discrepancy, which the audit reports until a person has resolved it. Money that came
//! too late for its own checkout is given back without one.
//! Take `status = 'pending'` out of their guard, and two of the tests named `r27` fail.

use std::fmt;

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
    provider_calls::{self, Attempt},
    refunds,
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

/// For the log.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Concluded => "concluded",
            Self::Waiting => "still waiting",
            Self::Nothing => "nothing to do",
            Self::Discrepancy => "put aside as a discrepancy",
        })
    }
}

/// Writes down what came of `attempt`, and its calls, in a transaction of its own.
pub async fn record(
    db: &Db,
    attempt: &Attempt,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let verdict = retrying(|| record_once(db, attempt, outcome, now)).await?;
    let (id, outcome) = (attempt.checkout, outcome.name());
    tracing::info!(checkout.id = %id, outcome, %verdict, "outcome recorded");
    Ok(verdict)
}

async fn record_once(
    db: &Db,
    attempt: &Attempt,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let mut tx = db.begin().await?;
    let verdict = apply(&mut tx, attempt.checkout, outcome, now).await?;
    provider_calls::write(&mut tx, attempt, verdict == Verdict::Concluded).await?;
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
        Outcome::Declined { payment, code } => {
            end(tx, id, payment, Status::Declined, code, now).await
        }
        Outcome::Canceled(payment) => end(tx, id, payment, Status::Canceled, "canceled", now).await,
        Outcome::NeverCharged => cancel_without_payment(tx, id, "never_charged", now).await,
        Outcome::NeedsAuthentication { payment, url } => {
            wait(tx, id, payment, Some(url), now).await
        }
        Outcome::Processing(payment) => wait(tx, id, payment, None, now).await,
        Outcome::Unknown(_) => Ok(Verdict::Nothing),
    }
}

/// The guard of every arrow that a payment takes: the checkout is undecided, the payment is the one that was agreed,
/// and no other checkout has it. The unique index would make an error of the last, and news that is answered with
/// an error comes again for days.
macro_rules! if_agreed {
    () => {
        " where id = $1 and status = 'pending' and amount_minor = $2 and currency = $3
            and (payment_intent_id is null or payment_intent_id = $4)
            and not exists (select 1 from checkouts other
                            where other.payment_intent_id = $4 and other.id <> $1)"
    };
}

/// The money arrived: payment, order, sold goods and the news of it, or nothing at all.
async fn pay(
    tx: &mut Tx,
    id: CheckoutId,
    payment: &Payment,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let Some(checkout) = conclude_paid(tx, id, payment, now).await? else {
        return why_not(tx, id, payment, true, now).await;
    };
    add_payment(tx, &checkout, payment, now).await?;
    orders::place(tx, &checkout, now).await?;
    inventory::sell(tx, id).await?;
    Ok(Verdict::Concluded)
}

/// Ends a pending checkout as paid. Everybody but the first gets `None`.
async fn conclude_paid(
    tx: &mut Tx,
    id: CheckoutId,
    payment: &Payment,
    now: DateTime<Utc>,
) -> sqlx::Result<Option<Checkout>> {
    tx.query(concat!(
        "update checkouts
         set status = 'paid', payment_intent_id = $4, next_action_url = null, lease_until = null,
             concluded_at = $5",
        if_agreed!(),
        " returning *"
    ))
    .bind(id)
    .bind(payment.amount_minor)
    .bind(&payment.currency)
    .bind(&payment.intent)
    .bind(now)
    .fetch_optional()
    .await
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

/// Ends a pending checkout whose payment came to nothing, and puts its goods back on the shelf.
async fn end(
    tx: &mut Tx,
    id: CheckoutId,
    payment: &Payment,
    status: Status,
    code: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let ended = tx
        .query(concat!(
            "update checkouts
             set status = $5, payment_intent_id = $4, failure_code = $6,
                 next_action_url = null, lease_until = null, concluded_at = $7",
            if_agreed!()
        ))
        .bind(id)
        .bind(payment.amount_minor)
        .bind(&payment.currency)
        .bind(&payment.intent)
        .bind(status)
        .bind(code)
        .bind(now)
        .execute()
        .await?;
    if ended == 0 {
        return why_not(tx, id, payment, false, now).await;
    }
    inventory::release(tx, id).await?;
    Ok(Verdict::Concluded)
}

/// Cancels a pending checkout that has no payment. Should one have turned up since, nothing is done.
async fn cancel_without_payment(
    tx: &mut Tx,
    id: CheckoutId,
    code: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let ended = tx
        .query(
            "update checkouts
             set status = $2, failure_code = $3, lease_until = null, concluded_at = $4
             where id = $1 and status = 'pending' and payment_intent_id is null",
        )
        .bind(id)
        .bind(Status::Canceled)
        .bind(code)
        .bind(now)
        .execute()
        .await?;
    if ended == 0 {
        return Ok(Verdict::Nothing);
    }
    inventory::release(tx, id).await?;
    Ok(Verdict::Concluded)
}

/// Notes which payment a pending checkout waits for, where the customer has to go for it, and since when.
async fn wait(
    tx: &mut Tx,
    id: CheckoutId,
    payment: &Payment,
    url: Option<&String>,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let noted = tx
        .query(concat!(
            "update checkouts set payment_intent_id = $4, next_action_url = $5,
                 asked_at = coalesce(asked_at, $6)",
            if_agreed!()
        ))
        .bind(id)
        .bind(payment.amount_minor)
        .bind(&payment.currency)
        .bind(&payment.intent)
        .bind(url)
        .bind(url.map(|_| now))
        .execute()
        .await?;
    if noted == 0 {
        return why_not(tx, id, payment, false, now).await;
    }
    Ok(Verdict::Waiting)
}

/// Tells a repeat, and old news, from a contradiction. `arrived` says whether the news is of money.
async fn why_not(
    tx: &mut Tx,
    id: CheckoutId,
    payment: &Payment,
    arrived: bool,
    now: DateTime<Utc>,
) -> sqlx::Result<Verdict> {
    let Some(checkout) = model::get(tx, id).await? else {
        return Ok(Verdict::Nothing);
    };
    let ours = checkout.payment_intent_id.as_ref() == Some(&payment.intent);
    let agreed = (checkout.amount().minor, checkout.amount().currency.code());
    let fits = agreed == (payment.amount_minor, payment.currency.as_str());
    let kind = match checkout.status {
        Status::Pending if fits => "foreign_payment",
        Status::Pending => "amount_differs",
        Status::Paid if (ours && fits) || !arrived => return Ok(Verdict::Nothing),
        Status::Paid if !fits => "amount_differs",
        Status::Paid => "second_payment",
        Status::Declined | Status::Canceled if !arrived => return Ok(Verdict::Nothing),
        Status::Declined | Status::Canceled => refunds::LATE,
    };
    let detail = format!(
        "the provider has {} as {}, the checkout is {} for {}",
        Money::told(payment.amount_minor, &payment.currency),
        payment.intent,
        checkout.status,
        checkout.amount()
    );
    let object = payment.intent.as_str();
    let discrepancy = Discrepancy {
        kind,
        object,
        checkout: id,
        detail,
    };
    let is_new = discrepancies::open(tx, &discrepancy, now).await?;
    if is_new && kind == refunds::LATE && fits && is_taken_on(tx, id, &payment.intent).await? {
        refunds::late::request(tx, id, payment, now).await?;
    }
    Ok(Verdict::Discrepancy)
}

/// Notes that a payment which came too late is the checkout's, unless another one is, or it is another checkout's.
async fn is_taken_on(tx: &mut Tx, id: CheckoutId, intent: &str) -> sqlx::Result<bool> {
    let taken = tx
        .query(
            "update checkouts set payment_intent_id = $2
             where id = $1 and status in ('declined', 'canceled')
               and (payment_intent_id is null or payment_intent_id = $2)
               and not exists (select 1 from checkouts other
                               where other.payment_intent_id = $2 and other.id <> $1)",
        )
        .bind(id)
        .bind(intent)
        .execute()
        .await?;
    Ok(taken == 1)
}
