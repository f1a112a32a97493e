//! The lab's pages: what protects the shop, seen at work.
//!
//! 1. here: what can be played and armed, and starting over.
//! 2. [`run`]: what came of a run; on stage, step by step.
//! 3. [`trail`]: what happens to a checkout, while it happens.
//! 4. [`source`]: where it is done.
//! 5. [`diagram`]: from steps to what is drawn.
//! 6. [`by_hand`]: what can be armed with one press.
//!
//! Whoever can open the shop can use the lab, as far as there is one; other sites cannot.

mod by_hand;
mod diagram;
mod run;
mod source;
mod trail;

use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};

use super::{
    error::PageError,
    fields::{Fields, Press},
    show, views,
    visitor::Visitor,
};
use crate::{
    app::App,
    checkout::operator,
    lab::{
        Lab,
        runs::{
            Run, Stage,
            scenarios::{SCENARIOS, Scenario},
            verdict,
        },
        trail::trail as kept,
    },
    paging::Turn,
    search,
};

/// Why there is nothing to be done.
const NOT_OURS: &str =
    "This shop uses another payment provider than the simulator that it can start itself.";

/// How many runs are listed, and how many checkouts.
const LISTED: usize = 8;

/// All of them, where there is a lab; else none, whatever the method.
pub fn router(app: &App) -> Router<App> {
    if app.lab.is_none() {
        return Router::new();
    }
    Router::new()
        .route("/lab", get(page))
        .route("/lab/runs", post(begin))
        .route("/lab/runs/{id}", get(run::run))
        .route("/lab/runs/{id}/stage", get(run::stage))
        .route("/lab/checkouts/{id}", get(trail::checkout))
        .route("/lab/checkouts/{id}/events", get(trail::events))
        .route("/lab/src/{*path}", get(source::source))
        .route("/lab/migrations/{*path}", get(source::source))
        .route("/lab/faults", post(arm))
        .route("/lab/faults/clear", post(clear))
        .route("/lab/reset", post(reset))
}

fn of(app: &App) -> Result<&Lab, PageError> {
    app.lab.as_ref().ok_or(PageError::NotFound)
}

/// `GET /lab`.
async fn page(State(app): State<App>, visitor: Visitor) -> Result<Response, PageError> {
    show(&app, &visitor, StatusCode::OK, None).await
}

/// `POST /lab/runs`.
async fn begin(
    State(app): State<App>,
    visitor: Visitor,
    fields: Fields,
) -> Result<Response, PageError> {
    let lab = of(&app)?;
    let Some(scenario) = Scenario::named(fields.text("scenario")) else {
        return not_offered(
            &app,
            &visitor,
            "There is no such scenario. Choose one of these.",
        )
        .await;
    };
    match lab.begin(&app, scenario) {
        Ok(run) => Ok(Redirect::to(&format!("/lab/runs/{}", run.id)).into_response()),
        Err(not) => show(&app, &visitor, StatusCode::CONFLICT, Some(&not.to_string())).await,
    }
}

/// `POST /lab/faults`.
async fn arm(
    State(app): State<App>,
    visitor: Visitor,
    fields: Fields,
) -> Result<Response, PageError> {
    let lab = of(&app)?;
    let Some(fault) = by_hand::named(fields.text("fault")) else {
        return not_offered(
            &app,
            &visitor,
            "There is no such fault. Choose one of these.",
        )
        .await;
    };
    match fault.arm(lab) {
        Ok(()) => Ok(Redirect::to("/lab").into_response()),
        Err(why) => show(&app, &visitor, StatusCode::CONFLICT, Some(&why)).await,
    }
}

/// `POST /lab/faults/clear`.
async fn clear(State(app): State<App>, visitor: Visitor, _: Press) -> Result<Response, PageError> {
    let lab = of(&app)?;
    let Ok(simulator) = lab.simulator() else {
        return show(&app, &visitor, StatusCode::CONFLICT, Some(NOT_OURS)).await;
    };
    simulator.clear_faults();
    lab.fail_mails(0);
    Ok(Redirect::to("/lab").into_response())
}

/// `POST /lab/reset`.
async fn reset(State(app): State<App>, visitor: Visitor, _: Press) -> Result<Response, PageError> {
    let lab = of(&app)?;
    if lab.simulator().is_err() {
        return show(&app, &visitor, StatusCode::CONFLICT, Some(NOT_OURS)).await;
    }
    if let Err(error) = lab.start_over(&app).await {
        tracing::error!(%error, "the lab could not start over");
        return Err(PageError::Busy);
    }
    Ok(Redirect::to("/lab").into_response())
}

/// The page again, for a form that nobody was shown.
async fn not_offered(app: &App, visitor: &Visitor, problem: &str) -> Result<Response, PageError> {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    show(app, visitor, status, Some(problem)).await
}

async fn show(
    app: &App,
    visitor: &Visitor,
    status: StatusCode,
    problem: Option<&str>,
) -> Result<Response, PageError> {
    let lab = of(app)?;
    let choice = |scenario: &Scenario| views::Choice {
        name: scenario.name.to_owned(),
        title: scenario.title.to_owned(),
        about: scenario.about.to_owned(),
    };
    let page = views::LabPage {
        chrome: visitor.chrome(app).await?,
        problem: problem.map(str::to_owned),
        scenarios: SCENARIOS.iter().map(choice).collect(),
        faults: by_hand::choices(),
        armed: by_hand::armed(lab),
        provider_url: lab.provider_url().map(str::to_owned),
        runs: lab
            .known_runs()
            .iter()
            .take(LISTED)
            .map(|run| link(run))
            .collect(),
        checkouts: latest_checkouts(app).await?,
    };
    show::page(status, &page)
}

/// Those of the shop's newest checkouts that something has happened about, the latest first.
async fn latest_checkouts(app: &App) -> Result<Vec<views::CheckoutLink>, PageError> {
    let newest = search::page::<operator::Listed>(&app.till.db, "", &Turn::Newest).await?;
    let newest = newest.map(|page| page.rows).unwrap_or_default();
    let known = |id: String| {
        let checkout = newest.iter().find(|it| it.id.to_string() == id)?;
        let state = format!("{}, {}", checkout.status, checkout.amount());
        Some(views::CheckoutLink { id, state })
    };
    let told = kept().checkouts().into_iter();
    Ok(told.filter_map(known).take(LISTED).collect())
}

fn link(run: &Run) -> views::RunLink {
    let came_to = match run.stage() {
        Stage::Playing => "is being played".to_owned(),
        Stage::Stopped(_) => "was not played to its end".to_owned(),
        Stage::Over(played) => {
            let promise = &run.scenario.promise;
            let word = |sums| {
                if verdict::is_right(promise, sums) {
                    "right"
                } else {
                    "wrong"
                }
            };
            let (naive, safe) = (word(&played.naive.sums), word(&played.safe.sums));
            format!("naive: {naive}, safe: {safe}")
        }
    };
    views::RunLink {
        id: run.id.to_string(),
        title: run.scenario.title.to_owned(),
        came_to,
    }
}
