//! The HTTP server: hyper by hand, because a fault must be able to hang up.
//!
//! A framework's server always answers. Losing an answer means closing the connection without having written a
//! single byte of it, and hyper does that when the service returns an error. So a handler that wants to hang up
//! returns [`drop_connection`], and the loop here turns its mark into such an error.

use std::{convert::Infallible, fmt, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{Response, StatusCode},
    middleware::Next,
    response::IntoResponse,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

use super::{Shared, error::ApiError};

/// Marks a response that must never be sent.
#[derive(Clone, Copy, Debug)]
struct DropConnection;

/// The error that makes hyper hang up.
#[derive(Debug)]
struct Dropped;

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fault dropped the connection")
    }
}

impl std::error::Error for Dropped {}

/// In place of an answer: closes the connection without a byte.
pub(super) fn drop_connection() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(DropConnection);
    response
}

/// Accepts connections until the simulator stops.
pub(super) async fn accept(listener: TcpListener, router: Router, shared: Arc<Shared>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shared.stopping.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                shared
                    .tasks
                    .spawn(converse(stream, router.clone(), Arc::clone(&shared)));
            }
            Err(error) => {
                // Out of file descriptors, most likely: some will be free again in a moment.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Runs a request in a task of its own, so that a client who hangs up stops no transaction half-way.
///
/// For everything but the API, which sees to that itself. One line of the log says what became of it.
pub(super) async fn in_a_task(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let work = shared.tasks.spawn(next.run(request));
    let response = work.await.unwrap_or_else(|panicked| {
        tracing::error!(error = %panicked, "a request panicked");
        ApiError::api(StatusCode::INTERNAL_SERVER_ERROR).into_response()
    });
    tracing::info!(%method, path, status = response.status().as_u16(), "request");
    response
}

/// Serves one connection to its end.
async fn converse(stream: TcpStream, router: Router, shared: Arc<Shared>) {
    // Answers are small and complete: waiting to fill a packet only delays them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let answered = router.clone().oneshot(request.map(Body::new));
        async {
            let response = answered
                .await
                .unwrap_or_else(|never: Infallible| match never {});
            let is_dropped = response.extensions().get::<DropConnection>().is_some();
            if is_dropped {
                Err(Dropped)
            } else {
                Ok(response)
            }
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shared.stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = shared.killed.cancelled() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
