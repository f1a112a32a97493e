//! Executing a request: one transaction, with its answer in it.

use axum::http::StatusCode;
use serde_json::Value;

use super::{
    Shared,
    answer::Answer,
    call::{Call, Cause},
    error::ApiError,
    expand,
    idempotency::{self, Claim, KeyUse},
    operations::Operation,
    params::Params,
    transaction::Tx,
};

/// A request that nothing can be said against without looking at the state of things.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) request_id: String,
    pub(super) operation: &'static Operation,
    /// The id in its path; empty when there is none.
    pub(super) id: String,
    pub(super) params: Params,
    /// `Some` for every POST with a key.
    pub(super) key_use: Option<KeyUse>,
}

/// Executes the request unless its key has an answer already.
///
/// The claim comes with the answer of a first execution, to be dropped once that was given. A replay needs none:
/// any number of repeats may read the same stored answer at a time.
///
/// With `error_after` the client is lied to: whatever was done is done, and the answer, stored for the key as
/// any other, is that status. An `Err` was not executed and has left no trace.
pub(super) async fn execute_once(
    shared: &Shared,
    admitted: Admitted,
    error_after: Option<StatusCode>,
) -> Result<(Answer, Option<Claim>), ApiError> {
    let Some(key_use) = &admitted.key_use else {
        let tx = if admitted.operation.writes {
            shared.store.begin().await?
        } else {
            shared.store.read().await?
        };
        return Ok((execute(shared, tx, admitted, error_after).await?, None));
    };
    // Looked at first: the answer may be stored and still be on its way to the first request.
    shared.in_flight.check(&key_use.key)?;
    let (tx, stored) = idempotency::begin(&shared.store, key_use, shared.clock.now()).await?;
    if let Some(answer) = stored {
        return Ok((answer, None));
    }
    // Nobody else writes now, so who holds the key has not stored an answer yet, or has none to store.
    let claim = shared.in_flight.claim(&key_use.key)?;
    let answer = execute(shared, tx, admitted, error_after).await?;
    Ok((answer, Some(claim)))
}

async fn execute(
    shared: &Shared,
    mut tx: Tx,
    admitted: Admitted,
    error_after: Option<StatusCode>,
) -> Result<Answer, ApiError> {
    let now = shared.clock.now();
    let Admitted {
        request_id,
        operation,
        id,
        params,
        key_use,
    } = admitted;
    let cause = Cause {
        request_id: Some(request_id.clone()),
        idempotency_key: key_use.as_ref().map(|key_use| key_use.key.clone()),
    };
    let mut call = Call {
        tx: &mut tx,
        now,
        cause,
        base_url: &shared.base_url,
        has_news: false,
    };
    let outcome = run(&mut call, operation, &id, params).await;
    let has_news = call.has_news;
    let is_kept = match &outcome {
        Ok(_) => true,
        Err(refusal) => refusal.is_outcome,
    };
    let mut answer = match (outcome, error_after) {
        (Err(refusal), _) if !refusal.executed => return Err(refusal),
        (_, Some(status)) => Answer::refusal(&ApiError::injected(status), &request_id, now),
        (Err(refusal), None) => Answer::refusal(&refusal, &request_id, now),
        (Ok(object), None) => Answer::new(StatusCode::OK, &object),
    };
    if !is_kept {
        // What was prepared before the last check is undone. The key is in use until its answer is given, so that
        // a refusal, which has no effect, can be stored in a transaction of its own.
        drop(tx);
        if key_use.is_none() {
            return Ok(answer);
        }
        tx = shared.store.begin().await?;
    }
    if let Some(key_use) = &key_use {
        answer.should_retry = Some(false);
        answer.original_request = Some(request_id.clone());
        idempotency::store(&mut tx, key_use, &request_id, &answer, now);
    }
    tx.commit().await?;
    if is_kept && has_news {
        shared.wake_workers();
    }
    Ok(answer)
}

async fn run(
    call: &mut Call<'_>,
    operation: &Operation,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let expanded = expand::parse(&mut params, operation.answers_with)?;
    let mut answer = operation.run(call, id, params).await?;
    // Who asks for nothing sends nothing: what was written can wait for the commit.
    if !expanded.is_empty() {
        let conn = call.conn().await?;
        expand::apply(conn, &mut answer, operation.answers_with, &expanded).await?;
    }
    Ok(answer)
}
