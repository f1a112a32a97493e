//! A client that goes away cancels nothing.
//!
//! A double click makes the browser drop its first request. The server then drops the handler's future, wherever it
//! happens to be: between two statements, or with the charge already sent. So each request runs in a task of its
//! own, which nobody drops; the connection only waits for it. It also keeps a panic in one handler from the rest, and counts
//! what clients did not wait for.

use std::time::Instant;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
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
    let work = async move { count(&metrics, next.run(request).await) };
    match app.tasks.spawn(work.in_current_span()).await {
        Ok(response) => response,
        Err(panicked) => {
            tracing::error!(error = %panicked, "a request panicked");
            let response = if is_for_program {
                api::panicked().into_response()
            } else {
                PageError::Panicked.into_response()
            };
            count_late(&app.metrics, response)
        }
    }
}
