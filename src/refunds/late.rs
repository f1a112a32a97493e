//! Money that arrived for a checkout which had ended otherwise goes back, by itself and once.
//!
//! The payment names the refund, which is unique, and the refund names the call. Should somebody at the provider's dashboard
//! have been faster, theirs is the refund, and ours is not made.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{
    from_provider::{self, Told},
    model::Status,
};
use crate::{
    db::{Db, Tx, retrying},
    ids::{CheckoutId, RefundId},
    outbox::{self, Message, Unreadable},
    provider::Payment,
};

/// The discrepancy that such a refund resolves.
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
        message.read(Self::EVENT_TYPE)
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

/// Writes the refund down, for the refunder to make. A late payment has one at most; and whatever somebody puts on the bus,
/// nothing is given back that we did not find too late ourselves.
pub(super) async fn open(
    tx: &mut Tx,
    wish: &RefundRequested,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let id = RefundId::new();
    tx.query(
        "insert into refunds (id, kind, checkout_id, payment_intent_id, amount_minor, currency, status,
             call_key, attempts, lease_until, created_at)
         select $1, 'late_payment', d.checkout_id, d.object_id, $4, $5, 'pending', $6, 0, $7, $7
         from discrepancies d
         where d.kind = $8 and d.checkout_id = $2 and d.object_id = $3
         on conflict do nothing",
    )
    .bind(id)
    .bind(wish.checkout_id)
    .bind(&wish.payment_intent_id)
    .bind(wish.amount_minor)
    .bind(&wish.currency)
    .bind(format!("refund-{id}"))
    .bind(now)
    .bind(LATE)
    .execute()
    .await?;
    tx.leaves_work();
    Ok(())
}

/// Whether `told`, which somebody made at the provider, is what we were going to make: the refund that we have written down
/// is that one then, and nobody asks for another.
pub(super) async fn is_given_back_by(tx: &mut Tx, told: &Told) -> sqlx::Result<bool> {
    if told.status == Status::Failed {
        return Ok(false);
    }
    let found = tx
        .query(
            "update refunds set provider_id = $2
             where payment_intent_id = $1 and kind = 'late_payment' and status = 'pending'
               and provider_id is null and amount_minor = $3 and currency = $4",
        )
        .bind(&told.payment_intent_id)
        .bind(&told.provider_id)
        .bind(told.amount_minor)
        .bind(&told.currency)
        .execute()
        .await?;
    if found == 1 {
        from_provider::forget(tx, told).await?;
    }
    Ok(found == 1)
}

/// What has become of a payment that came too late, as its customer needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLate {
    /// All of it is on its way back, or will be in a moment.
    GoingBack,
    /// All of it was given back.
    GivenBack {
        /// When.
        at: DateTime<Utc>,
    },
    /// It needs a person: it was not what had been agreed on, or the provider did not give it back.
    LookedInto,
}

/// Whether money has arrived for a checkout that had ended otherwise, and what has become of it.
pub async fn of_checkout(db: &Db, id: CheckoutId) -> sqlx::Result<Option<TooLate>> {
    let payments: Vec<Late> = retrying(|| {
        db.query(
            "select r.status, r.concluded_at,
                    (select count(*) from outbox wish
                     where wish.aggregate_id = c.id and wish.event_type = 'payment.refund_requested'
                       and c.payment_intent_id = d.object_id) as wishes
             from discrepancies d
             join checkouts c on c.id = d.checkout_id
             left join refunds r on r.payment_intent_id = d.object_id and r.kind = 'late_payment'
             where d.kind = $1 and d.checkout_id = $2",
        )
        .bind(LATE)
        .bind(id)
        .fetch_all()
    })
    .await?;
    let states = payments.iter().map(Late::state);
    // There may be several, which is nothing that heals by itself.
    Ok(states.reduce(|_, _| TooLate::LookedInto))
}

#[derive(sqlx::FromRow)]
struct Late {
    status: Option<Status>,
    concluded_at: Option<DateTime<Utc>>,
    wishes: i64,
}

impl Late {
    fn state(&self) -> TooLate {
        match (self.status, self.concluded_at) {
            (Some(Status::Succeeded), Some(at)) => TooLate::GivenBack { at },
            (Some(Status::Pending), _) => TooLate::GoingBack,
            (None, _) if self.wishes > 0 => TooLate::GoingBack,
            (Some(Status::Succeeded | Status::Failed) | None, _) => TooLate::LookedInto,
        }
    }
}
