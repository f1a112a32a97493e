//! The database misbehaves, at a boundary that the test names.

use std::{
    borrow::Cow,
    error::Error,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use boring_checkout::{
    app::App,
    checkout::Till,
    db::{Boundary, Probe},
    web,
};
use sqlx::error::{DatabaseError, ErrorKind};
use tokio::net::TcpListener;

use super::Shop;

/// The same shop's database, with every boundary reported to `probe`.
pub fn probed(app: &App, probe: Probe) -> Till {
    Till {
        db: app.till.db.with_probe(probe),
        ..app.till.clone()
    }
}

/// Another front of the same shop, whose database reports its boundaries.
pub async fn front(shop: &Shop, probe: Probe) -> String {
    let till = probed(shop.app(), probe);
    let app = App {
        till,
        ..shop.app().clone()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(axum::serve(listener, web::router(app)).into_future());
    format!("http://{address}")
}

/// How often a probe has struck.
pub type Strikes = Arc<AtomicUsize>;

/// Fails with the SQLSTATE `code` at each boundary that `at` picks, `times` times.
pub fn failing(
    code: &'static str,
    times: usize,
    at: impl Fn(Boundary) -> bool + Send + Sync + 'static,
) -> (Probe, Strikes) {
    let strikes = Strikes::default();
    let struck = Arc::clone(&strikes);
    let probe = Probe::new(move |boundary| {
        let strikes = at(boundary)
            && struck
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| {
                    (n < times).then_some(n + 1)
                })
                .is_ok();
        async move {
            if strikes {
                Err(sqlx::Error::Database(Box::new(Refusal(code))))
            } else {
                Ok(())
            }
        }
    });
    (probe, strikes)
}

/// An error as a database server reports it.
#[derive(Debug)]
struct Refusal(&'static str);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "made up by a test, code {}", self.0)
    }
}

impl Error for Refusal {}

impl DatabaseError for Refusal {
    fn message(&self) -> &'static str {
        "made up by a test"
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.0))
    }

    fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}
