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
    probe::{Boundary, Probe},
    web,
};
use sqlx::error::{DatabaseError, ErrorKind};
use tokio::{net::TcpListener, sync::watch};

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
                Err(sqlx::Error::Database(Box::new(Refusal(code))).into())
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

/// Work that is held at the first boundary that was picked, until it is let go.
pub struct Hold {
    arrived: watch::Receiver<bool>,
    released: watch::Sender<bool>,
}

impl Hold {
    /// Waits until the work is there.
    pub async fn reached(&mut self) {
        let arrived = self.arrived.wait_for(|arrived| *arrived);
        tokio::time::timeout(super::PATIENCE, arrived)
            .await
            .expect("the boundary is reached")
            .expect("the probe is there");
    }

    pub fn lets_go(&self) {
        self.released.send_replace(true);
    }
}

/// Holds the work at each boundary that `at` picks.
pub fn holding(at: impl Fn(Boundary) -> bool + Send + Sync + 'static) -> (Probe, Hold) {
    let (arrive, arrived) = watch::channel(false);
    let (release, released) = watch::channel(false);
    let probe = Probe::new(move |boundary| {
        let (here, arrive, mut released) = (at(boundary), arrive.clone(), released.clone());
        async move {
            if here {
                arrive.send_replace(true);
                released
                    .wait_for(|released| *released)
                    .await
                    .expect("the test goes on");
            }
            Ok(())
        }
    });
    let hold = Hold {
        arrived,
        released: release,
    };
    (probe, hold)
}
