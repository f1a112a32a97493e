//! One request to `/v1`, from its arrival to its answer.
//!
//! ```text
//! admit ──► faults that come before ──► execute ──► journal ──► faults that come after ──► answer
//!  401, 404, 400                         one transaction
//! ```
//!
//! The whole runs in a task of its own. A client that goes away stops waiting for the answer; it must not stop
//! the work half-way, any more than it could at a provider a thousand miles off.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, Response, StatusCode, request::Parts},
};

use super::{
    API_VERSION, Shared,
    answer::{Addressee, Answer},
    clock,
    error::ApiError,
    execute::{Admitted, execute_once},
    faults::{self, ApiFault, MetRequest},
    idempotency::{Claim, KeyUse, check_key},
    ids,
    journal::{self, LoggedRequest},
    operations::Operation,
    request, server,
};

/// How a request ends.
enum Ending {
    Answer(Response<Body>),
    /// The connection is closed without a byte.
    Drop,
    /// Nothing happens until the client gives up.
    Hang,
}

/// The handler of everything under `/v1`.
pub(super) async fn serve(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let work = shared.tasks.spawn(end(Arc::clone(&shared), request));
    match work.await {
        Ok(Ending::Answer(response)) => response,
        Ok(Ending::Drop) => server::drop_connection(),
        Ok(Ending::Hang) => {
            shared.stopping.cancelled().await;
            server::drop_connection()
        }
        Err(panicked) => {
            tracing::error!(error = %panicked, "a request panicked");
            let refusal = ApiError::api(StatusCode::INTERNAL_SERVER_ERROR);
            let arrival = Arrival::new(&shared, &Method::GET, "", &HeaderMap::new());
            Answer::refusal(&refusal, &arrival.entry.id, shared.clock.now())
                .into_response(arrival.addressee())
        }
    }
}

async fn end(shared: Arc<Shared>, request: Request) -> Ending {
    let (parts, body) = request.into_parts();
    let mut arrival = Arrival::new(&shared, &parts.method, parts.uri.path(), &parts.headers);
    let (fault, outcome) = match admit(&shared, &parts, body).await {
        Ok((mut admitted, fault)) => {
            admitted.request_id.clone_from(&arrival.entry.id);
            arrival.entry.operation = Some(admitted.operation.name);
            (fault, process(&shared, admitted, fault).await)
        }
        Err(refusal) => (
            None,
            Outcome::Answered(refused(&shared, &arrival, &refusal), None),
        ),
    };
    arrival.entry.fault = fault
        .filter(|fault| outcome.shows(*fault))
        .map(ApiFault::name);
    let (answer, claim) = match outcome {
        Outcome::NotProcessed(ending) => {
            arrival.write_down(&shared, None);
            return ending;
        }
        Outcome::Refused(refusal) => (refused(&shared, &arrival, &refusal), None),
        Outcome::Answered(answer, claim) => (answer, claim),
    };
    arrival.write_down(&shared, Some(&answer));
    if fault == Some(ApiFault::DropResponse) {
        return Ending::Drop;
    }
    if let Some(ApiFault::Delay(delay)) = fault {
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = shared.stopping.cancelled() => {}
        }
    }
    let response = answer.into_response(arrival.addressee());
    // The key is in use until here: a repeat that comes during a delay is told so.
    drop(claim);
    Ending::Answer(response)
}

/// How far a request came.
enum Outcome {
    NotProcessed(Ending),
    Refused(ApiError),
    Answered(Answer, Option<Claim>),
}

impl Outcome {
    /// Whether a fault that struck can be seen in it. What was not executed, now or at all, meets no `error_after`.
    fn shows(&self, fault: ApiFault) -> bool {
        match (fault, self) {
            (ApiFault::ErrorAfter(_), Outcome::Answered(answer, _)) => !answer.replayed,
            (ApiFault::ErrorAfter(_), Outcome::Refused(_)) => false,
            _ => true,
        }
    }
}

/// Lets the faults that come first have their way, then executes.
async fn process(shared: &Shared, admitted: Admitted, fault: Option<ApiFault>) -> Outcome {
    let error_after = match fault {
        Some(ApiFault::DropRequest) => return Outcome::NotProcessed(Ending::Drop),
        Some(ApiFault::Hang) => return Outcome::NotProcessed(Ending::Hang),
        Some(ApiFault::ErrorBefore(status)) => return Outcome::Refused(ApiError::injected(status)),
        Some(ApiFault::RateLimit) => return Outcome::Refused(ApiError::rate_limited()),
        Some(ApiFault::ErrorAfter(status)) => Some(status),
        Some(ApiFault::DropResponse | ApiFault::Delay(_)) | None => None,
    };
    match execute_once(shared, admitted, error_after).await {
        Ok((answer, claim)) => Outcome::Answered(answer, claim),
        Err(refusal) => Outcome::Refused(refusal),
    }
}

/// Everything that is refused without looking at the state of things.
async fn admit(
    shared: &Shared,
    parts: &Parts,
    body: Body,
) -> Result<(Admitted, Option<ApiFault>), ApiError> {
    shared.key.check(&parts.headers)?;
    request::check_version(&parts.headers)?;
    let path = parts.uri.path();
    let (operation, id) = Operation::find(&parts.method, path)
        .ok_or_else(|| ApiError::unrecognized_url(parts.method.as_str(), path))?;
    let is_post = parts.method == Method::POST;
    let params = request::read_params(parts, body).await?;
    // GET and DELETE are idempotent by themselves: a key has no effect there.
    let key = if is_post {
        request::text_header(&parts.headers, "idempotency-key")?
    } else {
        None
    };
    if let Some(key) = key {
        check_key(key)?;
    }
    // The header's fault is for this request alone; it comes before those that wait for any.
    let fault = match request::text_header(&parts.headers, "boring-fault")? {
        Some(asked_for) => Some(faults::from_header(asked_for)?),
        None => shared.faults.strike_request(MetRequest {
            operation: operation.name,
            key,
            path,
        }),
    };
    let key_use = key.map(|key| KeyUse::new(key, path, &params)).transpose()?;
    let admitted = Admitted {
        request_id: String::new(),
        operation,
        id: id.to_owned(),
        params,
        key_use,
    };
    Ok((admitted, fault))
}

fn refused(shared: &Shared, arrival: &Arrival, refusal: &ApiError) -> Answer {
    if let Some(cause) = &refusal.cause {
        tracing::error!(request.id = arrival.entry.id, error = %cause, "a request failed");
    }
    Answer::refusal(refusal, &arrival.entry.id, shared.clock.now())
}

/// What is known of a request from its head.
struct Arrival {
    entry: LoggedRequest,
    version: HeaderValue,
    key: Option<HeaderValue>,
}

impl Arrival {
    fn new(shared: &Shared, method: &Method, path: &str, headers: &HeaderMap) -> Self {
        let key = headers
            .get("idempotency-key")
            .filter(|_| *method == Method::POST)
            .cloned();
        Self {
            entry: LoggedRequest {
                id: ids::request_id(),
                at: clock::rfc3339(shared.clock.now_ms()),
                method: method.to_string(),
                path: journal::abridged(path),
                operation: None,
                idempotency_key: key
                    .as_ref()
                    .and_then(|key| str::from_utf8(key.as_bytes()).ok())
                    .map(journal::abridged),
                status: None,
                replayed: false,
                fault: None,
            },
            version: headers
                .get("stripe-version")
                .cloned()
                .unwrap_or_else(|| HeaderValue::from_static(API_VERSION)),
            key,
        }
    }

    /// Into the journal, and one line into the log.
    fn write_down(&mut self, shared: &Shared, answer: Option<&Answer>) {
        self.entry.status = answer.map(|answer| answer.status.as_u16());
        self.entry.replayed = answer.is_some_and(|answer| answer.replayed);
        let LoggedRequest {
            id,
            method,
            path,
            status,
            replayed,
            fault,
            ..
        } = &self.entry;
        tracing::info!(
            request.id = id,
            method,
            path,
            status,
            replayed,
            fault,
            "request"
        );
        shared.journal.write(self.entry.clone());
    }

    fn addressee(self) -> Addressee {
        Addressee {
            request_id: self.entry.id,
            version: self.version,
            key: self.key,
        }
    }
}
