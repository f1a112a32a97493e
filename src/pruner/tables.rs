//! The tables that grow old, and what of each is of no more use.
//!
//! Two statements for each. One asks for the oldest row that may go, and nearly always there is none. The other deletes
//! some of them, from an age on: what was deleted stands in PostgreSQL's index for a while yet, and to begin at its end
//! spares reading over it again. Rows that another pruner has at hand are left to it.
//!
//! To look at and to delete from in the order of age, each has an index: see migration 21.

use chrono::{DateTime, Utc};

use crate::db::Value;

/// What the age of a row is told by. Of two rows the smaller one is older.
pub trait Age: Copy + Ord + Send + Sync + for<'v> Value<'v> {}
impl Age for DateTime<Utc> {}
impl Age for i64 {}

/// A table, and its two statements.
#[derive(Debug)]
pub struct Table {
    /// `$1`: younger rows stay. So does one of exactly this age.
    pub oldest: &'static str,
    /// From the age `$1` on, before `$2`, `$3` of them at most. Returns the ages of those that are gone.
    pub delete: &'static str,
}

/// Processed events. One that comes again finds its checkout concluded, or its refund.
pub const EVENTS: Table = Table {
    oldest: "select received_at from processed_events where received_at < $1
             order by received_at limit 1",
    delete: "with old as (
                 select event_id from processed_events
                 where received_at >= $1 and received_at < $2
                 order by received_at limit $3
                 /*pg for update skip locked */
             )
             delete from processed_events where event_id in (select event_id from old)
             returning received_at",
};

/// Published messages. One that is parked or was never published is kept until it is. That the same news is not told
/// twice does not hang on its row: it is told in the transaction that pays a pending checkout, or that opens a discrepancy,
/// and neither happens again.
pub const OUTBOX: Table = Table {
    oldest: "select published_at from outbox where published_at < $1
             order by published_at limit 1",
    delete: "with old as (
                 select id from outbox
                 where published_at >= $1 and published_at < $2
                 order by published_at limit $3
                 /*pg for update skip locked */
             )
             delete from outbox where id in (select id from old)
             returning published_at",
};

/// What consumers have acted on. A message of which only some have heard may be parked for long, and comes again when it is
/// retried: so no row goes before the outbox has lost all of the same purchase.
pub const INBOX: Table = Table {
    oldest: "select consumed_at from inbox i where consumed_at < $1
               and not exists (select 1 from outbox o where o.aggregate_id = i.aggregate_id)
             order by consumed_at limit 1",
    delete: "with old as (
                 select consumer, message from inbox i
                 where consumed_at >= $1 and consumed_at < $2
                   and not exists (select 1 from outbox o where o.aggregate_id = i.aggregate_id)
                 order by consumed_at limit $3
                 /*pg for update skip locked */
             )
             delete from inbox where (consumer, message) in (select consumer, message from old)
             returning consumed_at",
};

/// Sessions, by the second in which they expire.
pub const SESSIONS: Table = Table {
    oldest: "select expires_at from sessions where expires_at < $1
             order by expires_at limit 1",
    delete: "with old as (
                 select id from sessions
                 where expires_at >= $1 and expires_at < $2
                 order by expires_at limit $3
                 /*pg for update skip locked */
             )
             delete from sessions where id in (select id from old)
             returning expires_at",
};

/// Carts, and with them what is in them. A cart that is being bought is not idle any more; should the purchase have come
/// in between, PostgreSQL looks at its row again before it deletes it. What was bought by a version of the shop that did
/// not write this down is found by its checkout.
pub const CARTS: Table = Table {
    oldest: "select idle_since from carts c where idle_since < $1
               and not exists (select 1 from checkouts where cart_id = c.id)
             order by idle_since limit 1",
    delete: "with old as (
                 select id from carts c
                 where idle_since >= $1 and idle_since < $2
                   and not exists (select 1 from checkouts where cart_id = c.id)
                 order by idle_since limit $3
                 /*pg for update skip locked */
             )
             delete from carts where id in (select id from old)
             returning idle_since",
};
