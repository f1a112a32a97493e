//! Refunds: money that arrived for a checkout which had ended otherwise goes back, by itself and once.
//!
//! ```text
//! late success ── one transaction: ── relay ── inbox row + refund ── refunder ── POST /v1/refunds
//!                 discrepancy,                 (pending)                            │
//!                 payment.refund_requested               one transaction: ◄── answer, or webhook
//!                                                        refund succeeded, discrepancy resolved
//! ```
//!
//! The payment names the refund, which is unique, and the refund names the call. [`apply`] is the one place where the
//! end of it is written down, whoever hears of it first.

pub mod refunder;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    checkout::Verdict,
    db::Tx,
    discrepancies,
    ids::{CheckoutId, RefundId},
    outbox::{self, Message, Unreadable, inbox::ConsumeError},
    provider::{Payment, wire},
};

/// The discrepancy that a refund resolves.
pub const LATE: &str = "paid_after_the_end";

/// The wish to give a payment back, as it stands in the outbox.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefundRequested {
    /// Of these fields. It goes up when one of them changes its meaning; a reader refuses what it does not know.
    format: u32,
    /// What it was paid for.
    pub checkout_id: CheckoutId,
    /// The provider's payment intent.
    pub payment_intent_id: String,
    /// Minor units.
    pub amount_minor: i64,
    /// Three letters, lower case.
    pub currency: String,
}

impl RefundRequested {
    /// What the outbox calls it.
    pub const EVENT_TYPE: &str = "payment.refund_requested";

    /// `None` when the message is of another kind.
    pub fn read(message: &Message) -> Result<Option<Self>, Unreadable> {
        if message.event_type != Self::EVENT_TYPE {
            return Ok(None);
        }
        let news: Self = serde_json::from_value(message.payload.clone()).map_err(|_| Unreadable)?;
        if news.format != 1 {
            return Err(Unreadable);
        }
        Ok(Some(news))
    }
}

/// Asks for `payment` to be given back, as a part of the transaction that finds it has come too late.
pub(crate) async fn request(
    tx: &mut Tx,
    checkout: CheckoutId,
    payment: &Payment,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let wish = RefundRequested {
        format: 1,
        checkout_id: checkout,
        payment_intent_id: payment.intent.clone(),
        amount_minor: payment.amount_minor,
        currency: payment.currency.clone(),
    };
    outbox::write(tx, checkout, RefundRequested::EVENT_TYPE, 1, wish, now).await
}

/// Acts on a message, as a part of the transaction that notes that it was consumed.
pub async fn hear(tx: &mut Tx, message: &Message, now: DateTime<Utc>) -> Result<(), ConsumeError> {
    if let Some(wish) = RefundRequested::read(message)? {
        open(tx, &wish, now).await?;
    }
    Ok(())
}

/// Writes the refund down, for the refunder to make. A payment has one at most.
async fn open(tx: &mut Tx, wish: &RefundRequested, now: DateTime<Utc>) -> sqlx::Result<()> {
    let id = RefundId::new();
    tx.query(
        "insert into refunds (id, checkout_id, payment_intent_id, amount_minor, currency, status,
             call_key, attempts, lease_until, created_at)
         values ($1, $2, $3, $4, $5, 'pending', $6, 0, $7, $7)
         on conflict do nothing",
    )
    .bind(id)
    .bind(wish.checkout_id)
    .bind(&wish.payment_intent_id)
    .bind(wish.amount_minor)
    .bind(&wish.currency)
    .bind(format!("refund-{id}"))
    .bind(now)
    .execute()
    .await?;
    tx.leaves_work();
    Ok(())
}

/// Writes down how a refund stands at the provider, as a part of the transaction `tx`. Safe to call twice, and with
/// anything.
pub async fn apply(tx: &mut Tx, made: &wire::Refund, now: DateTime<Utc>) -> sqlx::Result<Verdict> {
    let id = made.refund_id().and_then(|id| id.parse::<RefundId>().ok());
    let (Some(id), Some(intent)) = (id, &made.payment_intent) else {
        return Ok(Verdict::Nothing);
    };
    let end = match made.status.as_str() {
        "succeeded" => "succeeded",
        "failed" | "canceled" => "failed",
        _ => return Ok(Verdict::Waiting),
    };
    let ended = tx
        .query(
            "update refunds set status = $2, provider_id = $3, concluded_at = $4
             where id = $1 and status = 'pending' and payment_intent_id = $5
               and amount_minor = $6 and currency = $7",
        )
        .bind(id)
        .bind(end)
        .bind(&made.id)
        .bind(now)
        .bind(intent)
        .bind(made.amount)
        .bind(&made.currency)
        .execute()
        .await?;
    if ended == 0 {
        return Ok(Verdict::Nothing);
    }
    if end == "succeeded" {
        discrepancies::resolve(tx, LATE, intent, now).await?;
    } else {
        // The discrepancy stays open: a person has to find another way to the customer.
        tracing::error!(refund.id = %id, "the refund failed");
    }
    Ok(Verdict::Concluded)
}

/// Ends a refund that the provider will not make.
pub(crate) async fn refuse(
    tx: &mut Tx,
    id: RefundId,
    code: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<u64> {
    tx.query(
        "update refunds set status = 'failed', failure_code = $2, concluded_at = $3
         where id = $1 and status = 'pending'",
    )
    .bind(id)
    .bind(code)
    .bind(now)
    .execute()
    .await
}
