//! A client that goes away cancels nothing.
//!
//! A double click makes the browser drop its first request. The server then drops the handler's future, wherever it
//! happens to be: between two statements, or with the charge already sent. So each request runs in a task of its
//! own, which nobody drops; the connection only waits for it. It also keeps a panic in one handler from the rest, and counts
//! what clients did not wait for.
//!
//! Nor does anybody wait for ever. A body that trickles in is cut off; and who has waited too long for an answer is told
//! that it takes longer, while the work goes on to its end.

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures_util::{StreamExt as _, stream::unfold};
use http_body::Body as _;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use super::{
    api,
    error::PageError,
    metrics::{self, Metrics},
};
use crate::app::App;

/// Runs the request in a task that stopping the shop waits for.
pub async fn run_to_end(State(app): State<App>, request: Request, next: Next) -> Response {
    let is_for_program = request.uri().path().starts_with(api::PATH);
    let (route, began) = (metrics::route(&request), Instant::now());
    let count = move |metrics: &Metrics, response: Response| {
        let status = response.status().as_u16();
        metrics.requests().count(&route, status, began.elapsed());
        response
    };
    let (metrics, count_late) = (app.metrics.clone(), count.clone());
    let deadline = began + app.answer_within;
    let request = request.map(|body| within(deadline, body));
    let work = async move { count(&metrics, next.run(request).await) };
    let work = app.tasks.spawn(work.in_current_span());
    match timeout_at(deadline + app.answer_within, work).await {
        Ok(Ok(response)) => response,
        Ok(Err(panicked)) => {
            tracing::error!(error = %panicked, "a request panicked");
            let response = if is_for_program {
                api::panicked().into_response()
            } else {
                PageError::Panicked.into_response()
            };
            count_late(&app.metrics, response)
        }
        Err(_elapsed) => {
            tracing::warn!("a request takes too long");
            PageError::Busy.into_response()
        }
    }
}

/// The same body, if it has arrived whole by the deadline; else it breaks off with an error.
fn within(deadline: Instant, body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let chunks = unfold(body.into_data_stream(), move |mut body| async move {
        let chunk = match timeout_at(deadline, body.next()).await {
            Ok(chunk) => chunk?,
            Err(late) => Err(axum::Error::new(late)),
        };
        Some((chunk, body))
    });
    Body::from_stream(chunks)
}
