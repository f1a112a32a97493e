//! Refunds: money goes back, each amount once, and never more than was paid.
//!
//! ```text
//! somebody's wish, with a key ── request: refund (pending), money reserved ─┐
//! late success ── late: discrepancy, wish in the outbox ── refund (pending) ┴─ drive ── POST /v1/refunds ──┐
//!                                                                                                          │ answer
//! somebody at the provider's dashboard ────────────────────────── refund.created, refund.updated, … ───────┤
//!                                                                                                          v
//!                           outbox: payment.refunded or order.refunded ◄── one transaction ── apply ◄──────┘
//! ```
//!
//! A refund that we make is made like a charge, in three phases: it is written down, the provider is asked, and what it
//! says is written down. The answer to our own call and any number of events tell of the same refund, in any order. All go
//! through [`apply`](mod@apply), the one place where a refund's end is written down, and the provider's id of it is unique.
//!
//! 1. [`wish`]: what somebody asks for, and what names it.
//! 2. [`model`]: a refund's row and its states.
//! 3. [`request`](mod@request): one wish becomes at most one refund, with its money reserved. Committed before any call out.
//! 4. [`late`]: money that arrived for a checkout which had ended otherwise goes back by itself.
//! 5. [`drive`](mod@drive): the provider is asked, with no transaction open.
//! 6. [`apply`](mod@apply): what the provider tells is written down, once, by whoever learns it first.
//! 7. [`refunder`]: takes forward what nobody is at.
//! 8. `from_provider`: a refund that we did not make is booked.
//! 9. `reserve`: what of a payment can still be given back. The database refuses more.
//! 10. [`news`]: what the rest of the world hears of it.
//! 11. [`list`]: an operator can see them all.

pub mod apply;
pub mod drive;
mod from_provider;
pub mod late;
pub mod list;
pub mod model;
pub mod news;
pub mod refunder;
pub mod request;
mod reserve;
pub mod wish;

use chrono::{DateTime, Utc};

pub use self::{
    apply::apply,
    drive::{drive, is_in_first_hands},
    late::LATE,
    model::{Refund, Status},
    request::{RequestError, Requested, request},
    wish::{Reason, Requester, Wish},
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
        apply::what_was_told_early(tx, wish.checkout_id, now).await?;
    }
    if let Some(placed) = OrderPlaced::read(message)? {
        apply::what_was_told_early(tx, placed.checkout_id, now).await?;
    }
    Ok(())
}
