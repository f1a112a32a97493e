//! The audit, run and read. It changes nothing; but it reads both ledgers, so it is run on request, one at a time and for a
//! bounded time.

use std::time::Duration;

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::{chrome::Chrome, error::Failure, events::search, list::exactly};
use crate::{
    app::App,
    audit::{self, AuditError, Report},
    checkout::operator::Listed,
    search::names_one,
    web::{error::PageError, fields::Press, show},
};

const HERE: &str = "/admin/audit";

/// How long it may take. A shop whose ledgers are longer has the command for it.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Template)]
#[template(path = "admin/audit.html")]
struct AuditPage {
    chrome: Chrome,
    problem: Option<String>,
    report: Option<Shown>,
}

/// A report, as it is shown.
struct Shown {
    checked_at: String,
    broken: usize,
    invariants: Vec<Invariant>,
    counts: Vec<(&'static str, i64)>,
}

struct Invariant {
    name: String,
    violations: Vec<Vec<Word>>,
}

/// A word of a violation; an id leads to what it has to do with.
struct Word {
    text: String,
    url: Option<String>,
}

/// `GET /admin/audit`: what it is, and the button.
pub async fn ask() -> Result<Response, Failure> {
    answer(StatusCode::OK, None, None)
}

/// `POST /admin/audit`.
pub async fn run(
    State(app): State<App>,
    press: Result<Press, PageError>,
) -> Result<Response, Failure> {
    press?;
    let Ok(_only) = app.auditing.try_lock() else {
        let busy = "Another audit is running. Try again when it is over.";
        return answer(StatusCode::SERVICE_UNAVAILABLE, Some(busy.to_owned()), None);
    };
    let till = &app.till;
    let audit = audit::audit(&till.db, &till.provider, till.clock.now());
    let problem = match tokio::time::timeout(PATIENCE, audit).await {
        Ok(Ok(report)) => return answer(StatusCode::OK, None, Some(shown(&report))),
        Ok(Err(AuditError::Db(error))) => return Err(error.into()),
        Ok(Err(AuditError::Provider(doubt))) => {
            format!("The provider's ledger cannot be read: {doubt}.")
        }
        Err(_) => format!(
            "It was not over after {} seconds. `boring-checkout audit` takes the time that it needs.",
            PATIENCE.as_secs()
        ),
    };
    answer(StatusCode::SERVICE_UNAVAILABLE, Some(problem), None)
}

fn answer(
    status: StatusCode,
    problem: Option<String>,
    report: Option<Shown>,
) -> Result<Response, Failure> {
    let page = AuditPage {
        chrome: Chrome::at(HERE),
        problem,
        report,
    };
    Ok(show::page(status, &page)?)
}

fn shown(report: &Report) -> Shown {
    let counts = &report.counts;
    let mut invariants: Vec<_> = report.invariants.iter().collect();
    invariants.sort_by_key(|it| it.ok);
    Shown {
        checked_at: exactly(report.checked_at),
        broken: report.invariants.iter().filter(|it| !it.ok).count(),
        invariants: invariants
            .into_iter()
            .map(|it| Invariant {
                name: it.name.replace('_', " "),
                violations: it.violations.iter().map(|text| words(text)).collect(),
            })
            .collect(),
        counts: vec![
            ("Checkouts", counts.checkouts),
            ("Paid", counts.paid),
            ("Orders", counts.orders),
            ("Payments", counts.payments),
            ("Charges at the provider", counts.provider_succeeded),
            ("Refunds made", counts.refunds),
            ("Mails sent", counts.emails),
            ("Events", counts.processed_events),
            ("Messages not published", counts.outbox_unpublished),
            ("Open discrepancies", counts.discrepancies_open),
        ],
    }
}

fn words(violation: &str) -> Vec<Word> {
    let word = |text: &str, url| Word {
        text: text.to_owned(),
        url,
    };
    let mut words = Vec::new();
    for text in violation.split_inclusive(' ') {
        let id = text.trim_matches(|c: char| !c.is_alphanumeric());
        match text.split_once(id) {
            Some((before, after)) if is_id(id) => {
                words.extend([
                    word(before, None),
                    word(id, Some(search(id))),
                    word(after, None),
                ]);
            }
            _ => words.push(word(text, None)),
        }
    }
    words
}

/// Whether more can be found by it. Without a dash or a stroke an order's number may be any word of ten letters.
fn is_id(text: &str) -> bool {
    text.contains(['-', '_']) && names_one::<Listed>(text)
}
