//! The schedule: what happens by itself later, on the simulator's clock.
//!
//! ```text
//! the transaction of a cause ── later(…) ──► scheduled (due_at, effect, object)
//! worker     what is due ──► one transaction: the row deleted, its effect done, its events written
//! /_control/settle           the same for everything that is scheduled, without waiting for its time
//! ```
//!
//! An effect is a state change like any other, only that nobody asked for it: its events name no request. By
//! the time it is due somebody may have been faster (an authorization that expires was captured), so each looks
//! at its object first and leaves alone what has moved on.
//!
//! To add one: a variant of [`Effect`], an arm in [`Effect::happen`], and a call of [`later`] at its cause.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use super::{
    Shared, balance_transactions, call::Call, charges, disputes, error::ApiError, payment_intents,
    refunds,
};

/// What can be scheduled. The words are stored: renaming a variant orphans its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(rename_all = "snake_case")]
pub(super) enum Effect {
    /// The money of a captured payment intent is counted: its charge gets its balance transaction.
    AddToBalance,
    /// A bank has read the evidence in a dispute.
    ConcludeDispute,
    /// A payment intent that was authorized and never captured is canceled.
    ExpireAuthorization,
    /// A refund that seemed to have succeeded comes back.
    FailRefund,
    /// A pending refund reaches the customer.
    SucceedRefund,
    /// The owner of a card disputes a payment intent.
    OpenDispute,
    /// The money of a balance transaction has arrived.
    MakeAvailable,
    /// The bank says what becomes of a debit.
    SettleDebit,
}

/// Nobody has to wake the worker for it to look again.
const MAX_NAP: Duration = Duration::from_mins(1);

/// When to try an effect again that broke, so that it does not keep the others from happening.
const RETRY_AFTER_MS: i64 = 60_000;

/// One control call settles no more than this: an end even for effects that schedule each other.
const MAX_SETTLED: usize = 100_000;

impl Effect {
    async fn happen(self, call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
        match self {
            Effect::AddToBalance => charges::add_to_balance(call, id).await,
            Effect::ConcludeDispute => disputes::conclude(call, id).await,
            Effect::OpenDispute => disputes::open(call, id).await,
            Effect::ExpireAuthorization => payment_intents::expire(call, id).await,
            Effect::FailRefund => refunds::fail(call, id).await,
            Effect::SucceedRefund => refunds::succeed(call, id).await,
            Effect::SettleDebit => payment_intents::settle(call, id).await,
            Effect::MakeAvailable => balance_transactions::make_available(call, id).await,
        }
    }
}

/// Schedules `effect` on an object, in the transaction of the call.
pub(super) fn later(call: &mut Call<'_>, seconds: i64, effect: Effect, object_id: &str) {
    call.tx
        .write("insert into scheduled (due_at, effect, object_id) values (?, ?, ?)")
        .bind((call.now + seconds) * 1000)
        .bind(effect)
        .bind(object_id);
    call.has_news = true;
}

/// Runs what is due until the simulator stops. Whoever commits or moves the clock wakes it.
pub(super) async fn work(shared: Arc<Shared>) {
    let mut woken = shared.wake.subscribe();
    while !shared.stopping.is_cancelled() {
        let nap = run_what_is_due(&shared, &mut woken)
            .await
            .unwrap_or_else(|error| {
                tracing::error!(%error, "cannot read the schedule");
                Duration::from_secs(1)
            });
        tokio::select! {
            () = shared.stopping.cancelled() => {}
            _ = woken.changed() => {}
            () = tokio::time::sleep(nap) => {}
        }
    }
}

/// Says how long nothing else will be due, unless we are woken again.
async fn run_what_is_due(
    shared: &Shared,
    woken: &mut watch::Receiver<()>,
) -> sqlx::Result<Duration> {
    loop {
        // Whoever has woken us until now, we look after that.
        woken.mark_unchanged();
        let Some(next) = next(shared, None).await? else {
            return Ok(MAX_NAP);
        };
        let wait_ms = next.due_at - shared.clock.now_ms();
        if wait_ms > 0 {
            let nap = u64::try_from(wait_ms).map_or(MAX_NAP, Duration::from_millis);
            return Ok(nap.min(MAX_NAP));
        }
        if shared.stopping.is_cancelled() {
            return Ok(MAX_NAP);
        }
        if let Err(broken) = run(shared, next.id).await {
            tracing::error!(?broken, "a scheduled effect failed");
            postpone(shared, next.id).await?;
        }
    }
}

/// Runs everything that is scheduled now, whatever its time, and what that schedules in turn; with `object` only
/// what happens to that. Returns how many ran.
pub(super) async fn settle(shared: &Shared, object: Option<&str>) -> Result<usize, ApiError> {
    let mut settled = 0;
    while settled < MAX_SETTLED
        && let Some(next) = next(shared, object).await?
    {
        if run(shared, next.id).await? {
            settled += 1;
        }
    }
    Ok(settled)
}

#[derive(sqlx::FromRow)]
struct Next {
    id: i64,
    due_at: i64,
}

async fn next(shared: &Shared, object: Option<&str>) -> sqlx::Result<Option<Next>> {
    let mut reader = shared.store.reader().await?;
    sqlx::query_as(
        "select id, due_at from scheduled
         where $1 is null or object_id = $1
         order by due_at, id
         limit 1",
    )
    .bind(object)
    .fetch_optional(&mut *reader)
    .await
}

/// `false`: the worker and a control call met, and the other one ran it.
async fn run(shared: &Shared, id: i64) -> Result<bool, ApiError> {
    let mut tx = shared.store.turn().await?;
    let taken: Option<(Effect, String)> = sqlx::query_as(
        "begin immediate;
         delete from scheduled where id = $1 returning effect, object_id",
    )
    .bind(id)
    .fetch_optional(tx.conn().await?)
    .await?;
    let Some((effect, object_id)) = taken else {
        return Ok(false);
    };
    let mut call = Call::automatic(&mut tx, shared);
    effect.happen(&mut call, &object_id).await?;
    let has_news = call.has_news;
    tx.commit().await?;
    tracing::info!(?effect, object.id = object_id, "scheduled");
    if has_news {
        shared.wake_workers();
    }
    Ok(true)
}

async fn postpone(shared: &Shared, id: i64) -> sqlx::Result<()> {
    let mut tx = shared.store.begin().await?;
    tx.write("update scheduled set due_at = ? where id = ?")
        .bind(shared.clock.now_ms() + RETRY_AFTER_MS)
        .bind(id);
    tx.commit().await
}
