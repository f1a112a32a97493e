//! The load: people who send a prepared form, and follow the answer to the page that says that it is paid.
//!
//! A thread and a connection for each. All that they send was written down before, so that a purchase costs them little more than
//! two system calls for each request.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use super::{
    http::{Connection, get},
    window::number,
};

/// How long somebody looks at a page that does not say yet that it is paid.
const LOOKS_AGAIN: Duration = Duration::from_millis(10);

/// After so long an undecided purchase ends the run.
const PATIENCE: Duration = Duration::from_mins(1);

/// A form that was filled in, as a browser sends it.
#[derive(Clone, Debug)]
pub struct Form {
    /// The whole request.
    pub request: String,
    /// The cookie, as a whole line of the request; nothing where there is none.
    pub headers: String,
}

/// How they go about it.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// How many people.
    pub clients: usize,
    /// Purchases a second altogether, whether answers come in time or not; `None` is as fast as they are answered.
    pub rate: Option<f64>,
    /// Whether they look at the page that they are sent to.
    pub follows: bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Bought {
    /// Until the last one had their page.
    pub took: Duration,
    /// Of each, from the moment at which it was due to the paid page, sorted.
    pub latencies: Vec<Duration>,
}

impl Bought {
    /// In milliseconds: so many of a hundred were faster.
    pub fn percentile(&self, percent: usize) -> f64 {
        let place = self.latencies.len() * percent / 100;
        self.latencies
            .get(place)
            .map_or(0.0, |it| it.as_secs_f64() * 1000.0)
    }
}

/// Buys with each form once.
pub fn buy(shop: SocketAddr, forms: &[Form], manner: Manner) -> Bought {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    let mut latencies = std::thread::scope(|scope| {
        let buyers: Vec<_> = (0..manner.clients)
            .map(|_| scope.spawn(|| buy_on(shop, forms, manner, &next, began)))
            .collect();
        let latencies = buyers.into_iter().flat_map(|buyer| buyer.join().unwrap());
        latencies.collect::<Vec<_>>()
    });
    let took = began.elapsed();
    latencies.sort_unstable();
    Bought { took, latencies }
}

fn buy_on(
    shop: SocketAddr,
    forms: &[Form],
    manner: Manner,
    next: &AtomicUsize,
    began: Instant,
) -> Vec<Duration> {
    let mut connection = Connection::to(shop);
    let mut latencies = Vec::new();
    loop {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let Some(form) = forms.get(place) else {
            return latencies;
        };
        let due = match manner.rate {
            Some(rate) => {
                let due =
                    began + Duration::from_secs_f64(number(i64::try_from(place).unwrap()) / rate);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                due
            }
            None => Instant::now(),
        };
        purchase(&mut connection, form, manner.follows);
        latencies.push(due.elapsed());
    }
}

fn purchase(connection: &mut Connection, form: &Form, follows: bool) {
    let answer = connection.send(&form.request);
    assert_eq!(answer.status, 303, "{}", answer.text());
    if !follows {
        return;
    }
    let look = get(&answer.location, &form.headers);
    let began = Instant::now();
    loop {
        let page = connection.send(&look);
        assert_eq!(page.status, 200, "{}", page.text());
        if page.says("<h1>Paid") {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "not paid: {}", page.text());
        std::thread::sleep(LOOKS_AGAIN);
    }
}
