//! What came of a run, and the same on stage: step by step, in big type.

use axum::{
    extract::{RawQuery, State},
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};
use url::form_urlencoded;

use super::{diagram, of};
use crate::{
    app::App,
    lab::{
        runs::{Ending, Played, Run, Stage, verdict},
        world::Sums,
    },
    money::{Currency, Money},
    web::{error::PageError, path::Path, show, views, visitor::Visitor},
};

/// So many steps of each flow are on the stage at a time.
const ON_STAGE: usize = 7;

/// So many parts of a step are told there.
const PARTS_ON_STAGE: usize = 5;

/// `GET /lab/runs/{id}`.
pub(super) async fn run(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let run = find(&app, &id)?;
    let currency = app.till.pricing.currency;
    let (mut stopped, mut sides, mut ledgers) = (None, None, Vec::new());
    match run.stage() {
        Stage::Playing => {}
        Stage::Stopped(why) => stopped = Some(why),
        Stage::Over(played) => {
            ledgers = ledger_lines(&run.scenario.promise, &played, currency);
            sides = Some(both(&run, &played));
        }
    }
    let page = views::RunPage {
        chrome: visitor.chrome(&app).await?,
        id: run.id.to_string(),
        scenario: choice(&run),
        guard: run.scenario.guard.to_owned(),
        stopped,
        arrows: diagram::arrows(sides.iter().flatten().flat_map(|side| &side.steps)),
        sides,
        ledgers,
    };
    show::page(StatusCode::OK, &page)
}

/// `GET /lab/runs/{id}/stage?step=…`.
pub(super) async fn stage(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let run = find(&app, &id)?;
    let Stage::Over(played) = run.stage() else {
        return Ok(Redirect::to(&format!("/lab/runs/{}", run.id)).into_response());
    };
    let mut sides = both(&run, &played);
    // The verdicts come after the last step.
    let of = sides.iter().map(|side| side.steps.len()).max().unwrap_or(0) + 1;
    let step = number(&query.unwrap_or_default(), "step")
        .unwrap_or(0)
        .min(of);
    for side in &mut sides {
        let end = step.min(side.steps.len());
        let first = end.saturating_sub(ON_STAGE);
        side.steps = side.steps.drain(first..end).collect();
        side.first = first + 1;
        side.steps.iter_mut().for_each(abridge);
        if step < of {
            side.verdict = None;
        }
    }
    let page = views::StagePage {
        chrome: visitor.chrome(&app).await?,
        id: run.id.to_string(),
        scenario: choice(&run),
        arrows: diagram::arrows(sides.iter().flat_map(|side| &side.steps)),
        sides,
        step,
        of,
        before: step.checked_sub(1),
        after: (step < of).then_some(step + 1),
    };
    show::page(StatusCode::OK, &page)
}

/// Long transactions are told by their first statements and their end.
fn abridge(step: &mut views::Step) {
    if step.parts.len() > PARTS_ON_STAGE {
        let end = step.parts.pop();
        step.parts.truncate(PARTS_ON_STAGE - 2);
        let more = views::Part {
            text: "…".to_owned(),
            url: None,
        };
        step.parts.push(more);
        step.parts.extend(end);
    }
}

/// A number in a query.
pub(super) fn number(query: &str, name: &str) -> Option<usize> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find_map(|(key, value)| (key == name).then(|| value.parse().ok())?)
}

fn find(app: &App, id: &str) -> Result<std::sync::Arc<Run>, PageError> {
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    of(app)?.run(id).ok_or(PageError::NotFound)
}

fn choice(run: &Run) -> views::Choice {
    views::Choice {
        name: run.scenario.name.to_owned(),
        title: run.scenario.title.to_owned(),
        about: run.scenario.about.to_owned(),
    }
}

fn both(run: &Run, played: &Played) -> [views::Side; 2] {
    let promise = &run.scenario.promise;
    [
        side("naive", "Naive", promise, &played.naive),
        side("safe", "Safe", promise, &played.safe),
    ]
}

fn side(id: &'static str, name: &'static str, promise: &Sums, ending: &Ending) -> views::Side {
    let mut sentence = verdict::sentence(promise, &ending.sums, ending.customers);
    if !ending.is_at_rest {
        sentence
            .push_str(" Something was still to be done when it was counted; do the workers run?");
    }
    views::Side {
        id,
        name,
        verdict: Some(sentence),
        is_right: verdict::is_right(promise, &ending.sums) && ending.is_at_rest,
        steps: diagram::view(&ending.steps),
        first: 1,
        checkouts: ending.checkouts.clone(),
    }
}

fn ledger_lines(promise: &Sums, played: &Played, currency: Currency) -> Vec<views::LedgerLine> {
    let (naive, safe) = (&played.naive.sums, &played.safe.sums);
    let line = |ledger, name, number: fn(&Sums) -> i64, minor: Option<fn(&Sums) -> i64>| {
        let due = number(promise);
        let count = |sums: &Sums| views::Count {
            is_wrong: number(sums) != due,
            text: match minor.map(|minor| minor(sums)) {
                Some(minor) if minor > 0 => {
                    format!("{} ({})", number(sums), Money::new(minor, currency))
                }
                _ => number(sums).to_string(),
            },
        };
        views::LedgerLine {
            ledger,
            name,
            counts: [count(naive), count(safe), count(promise)],
        }
    };
    vec![
        line(
            "at the provider",
            "payments",
            |it| it.charges,
            Some(|it| it.charged_minor),
        ),
        line(
            "at the provider",
            "refunds",
            |it| it.refunds,
            Some(|it| it.refunded_minor),
        ),
        line("in the shop", "orders", |it| it.orders, None),
        line("in the shop", "units off the shelf", |it| it.sold, None),
        line("in the shop", "mails", |it| it.mails, None),
    ]
}
