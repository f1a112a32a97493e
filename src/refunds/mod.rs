//! Refunds: money goes back, each amount once, and never more than was paid.
//!
//! ```text
//! late success ── late: discrepancy, wish in the outbox ── refund (pending) ── refunder ── POST /v1/refunds ──┐
//!                                                                                                             │ answer
//! somebody at the provider's dashboard ─────────────────────────── refund.created, refund.updated, … ─────────┤
//!                                                                                                             v
//!                            outbox: payment.refunded or order.refunded ◄── one transaction ── apply ◄────────┘
//! ```
//!
//! The answer to our own call and any number of events tell of the same refund, in any order. All go through
//! [`apply`](mod@apply), the one place where a refund's end is written down, and the provider's id of it is unique.
//!
//! 1. [`model`]: a refund's row and its states.
//! 2. [`late`]: money that arrived for a checkout which had ended otherwise goes back by itself.
//! 3. [`refunder`]: the provider is asked, with no transaction open.
//! 4. [`apply`](mod@apply): what the provider tells is written down.
//! 5. `from_provider`: a refund that we did not make is booked.
//! 6. `reserve`: what of a payment can still be given back. The database refuses more.
//! 7. [`news`]: what the rest of the world hears of it.
//! 8. [`list`]: an operator can see them all.

pub mod apply;
mod from_provider;
pub mod late;
pub mod list;
pub mod model;
pub mod news;
pub mod refunder;
mod reserve;

use chrono::{DateTime, Utc};

pub use self::{
    apply::apply,
    late::LATE,
    model::{Refund, Status},
};
use crate::{
    db::Tx,
    orders::OrderPlaced,
    outbox::{Message, inbox::ConsumeError},
};

/// Acts on a message, as a part of the transaction that notes that it was consumed.
pub async fn hear(tx: &mut Tx, message: &Message, now: DateTime<Utc>) -> Result<(), ConsumeError> {
    if let Some(wish) = late::RefundRequested::read(message)? {
        late::open(tx, &wish, now).await?;
    }
    if let Some(placed) = OrderPlaced::read(message)? {
        apply::what_was_told_early(tx, placed.checkout_id, now).await?;
    }
    Ok(())
}
