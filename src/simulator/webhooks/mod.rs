//! Webhooks: every event reaches every endpoint at least once.
//!
//! ```text
//! the transaction of a change          events + deliveries (pending)
//! worker      claim what is due ──► POST, signed ──► 2xx: delivered
//!                  ▲                       │
//!                  └── later, by the ◄─────┴── anything else, or nothing
//!                      schedule                 (after three retries: given up)
//! ```
//!
//! *At least*: whoever stops between a receiver's answer and the line that records it sends the event again.
//!
//! Nothing is promised about order, as at Stripe. Deliveries overlap: an event may arrive before one that was made
//! earlier, and a retry hours after later ones. Every endpoint has a few deliveries under way at a time and its own
//! share of the worker, so one that never answers keeps nobody else waiting.

mod attempt;
mod deliveries;
mod journal;
mod post;
mod signature;
mod worker;

pub use self::journal::LoggedDelivery;
pub(super) use self::{
    attempt::send_now,
    deliveries::{count_pending, resend},
    journal::{SHOWN, journal},
    post::Post,
    worker::work,
};

/// Deliveries under way at a time to one endpoint. A shop in a rush takes tens of milliseconds for each, and is told of some
/// hundred payments a second.
const MAX_PER_ENDPOINT: usize = 32;
