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
pub(super) async fn execute_once(
    shared: &Shared,
    admitted: Admitted,
    error_after: Option<StatusCode>,
) -> Result<(Answer, Option<Claim>), ApiError> {
    let Some(key_use) = &admitted.key_use else {
        return Ok((execute(shared, admitted, error_after).await?, None));
    };
    // Looked at first: the answer may be stored and still be on its way to the first request.
    shared.in_flight.check(&key_use.key)?;
    let mut reader = shared.store.reader().await?;
    let stored = idempotency::replay(&mut reader, key_use, shared.clock.now()).await?;
    drop(reader);
    if let Some(answer) = stored {
        return Ok((answer, None));
    }
    let claim = shared.in_flight.claim(&key_use.key)?;
    let answer = execute(shared, admitted, error_after).await?;
    Ok((answer, Some(claim)))
}

/// Executes the request, or finds the answer that was stored a moment ago: a key is stored once, so that whoever comes
/// second undoes what it has done.
///
/// With `error_after` the client is lied to: whatever was done is done, and the answer, stored for the key as
/// any other, is that status. An `Err` was not executed and has left no trace.
async fn execute(
    shared: &Shared,
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
    let mut tx = if operation.writes {
        shared.store.begin().await?
    } else {
        shared.store.read().await?
    };
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
        events: Vec::new(),
    };
    let outcome = run(&mut call, operation, &id, params).await;
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
    let mut has_news = false;
    if is_kept {
        has_news = call.end().await?;
    } else {
        // What was prepared before the last check is undone. The key is in use until its answer is given, so that
        // a refusal, which has no effect, can be stored in a transaction of its own.
        tx.rollback().await?;
        if key_use.is_none() {
            return Ok(answer);
        }
        tx = shared.store.begin().await?;
    }
    if let Some(key_use) = &key_use {
        answer.should_retry = Some(false);
        answer.original_request = Some(request_id.clone());
        if !idempotency::store(&mut tx, key_use, &request_id, &answer, now).await? {
            tx.rollback().await?;
            let mut reader = shared.store.reader().await?;
            let stored = idempotency::replay(&mut reader, key_use, now).await?;
            return stored.ok_or_else(|| idempotency::in_use(&key_use.key));
        }
    }
    tx.commit().await?;
    if has_news {
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
    expand::apply(call.tx, &mut answer, operation.answers_with, &expanded).await?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use super::*;
    use crate::simulator::Simulator;

    const CHARGE: &str = "amount=490&currency=eur&confirm=true&payment_method=pm_card_visa&payment_method_types[0]=card";

    fn with_key(form: &str) -> Admitted {
        let path = "/v1/payment_intents";
        let (operation, id) = Operation::find(&Method::POST, path).expect("an operation");
        let params = Params::decode(form.as_bytes()).expect("parameters");
        Admitted {
            request_id: "req_1".to_owned(),
            operation,
            id: id.to_owned(),
            key_use: Some(KeyUse::new("order-17", path, &params).expect("a key")),
            params,
        }
    }

    /// Both have looked for the key's answer before either had one.
    #[tokio::test]
    async fn who_comes_second_with_a_key_undoes_what_it_has_done() {
        let simulator = Simulator::start().await.expect("it starts");
        let shared = &simulator.shared;
        let first = execute(shared, with_key(CHARGE), None).await;
        let first = first.expect("an answer");
        let second = execute(shared, with_key(CHARGE), None).await;
        let second = second.expect("an answer");
        assert_eq!(second.body, first.body);
        assert!(second.replayed && !first.replayed);
        let other = with_key(&CHARGE.replace("490", "491"));
        assert!(execute(shared, other, None).await.is_err());
        let declined = with_key(&CHARGE.replace("visa", "chargeDeclined"));
        assert!(execute(shared, declined, None).await.is_err());

        let ledger = simulator.control().ledger().await.expect("a ledger");
        assert_eq!(ledger.payment_intents.total, 1);
        assert_eq!(ledger.payment_intents.succeeded, 1);
        assert_eq!(
            ledger.events, 3,
            "of the first: created, charged, succeeded"
        );
    }
}
