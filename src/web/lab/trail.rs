//! What happens to a checkout, while it happens.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::{RawQuery, State},
    http::{HeaderValue, StatusCode, header::CONTENT_SECURITY_POLICY},
    response::{
        IntoResponse as _, Response,
        sse::{Event, Sse},
    },
};
use futures_util::{StreamExt as _, stream::unfold};

use super::{diagram, of, run::number};
use crate::{
    app::App,
    checkout::model,
    ids::CheckoutId,
    lab::trail::{steps, trail},
    web::{error::PageError, path::Path, show, views, visitor::Visitor},
};

/// As that of every page, and the page may ask for itself again.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// What happens within so long is told of once.
const TOGETHER: Duration = Duration::from_millis(200);

/// Nobody is told anything for longer without asking again, as browsers do by themselves.
const TOLD_FOR: Duration = Duration::from_mins(5);

/// So many steps are on a page, the latest ones.
const SHOWN: usize = 50;

/// `GET /lab/checkouts/{id}`.
pub(super) async fn checkout(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let id = find(&app, &id).await?;
    let mut steps = diagram::view(&steps::of(&trail().about(&id.to_string())));
    if let Some(until) = number(&query.unwrap_or_default(), "until") {
        steps.truncate(until);
    }
    let earlier = steps.len().saturating_sub(SHOWN);
    steps.drain(..earlier);
    let page = views::TrailPage {
        chrome: visitor.chrome(&app).await?,
        id: id.to_string(),
        arrows: diagram::arrows(&steps),
        steps,
        first: earlier + 1,
        earlier: (earlier > 0).then_some(earlier),
    };
    let page = show::page(StatusCode::OK, &page)?;
    Ok(([(CONTENT_SECURITY_POLICY, POLICY)], page).into_response())
}

/// `GET /lab/checkouts/{id}/events`: says that there is more to see, whenever there is.
pub(super) async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let stopping = of(&app)?.stopping();
    let id = find(&app, &id).await?.to_string();
    let lines = |id: &str| -> usize { trail().about(id).iter().map(|it| it.lines.len()).sum() };
    let known = lines(&id);
    let more = unfold(
        (trail().changes(), id, known),
        move |(mut changes, id, known)| async move {
            loop {
                changes.changed().await.ok()?;
                tokio::time::sleep(TOGETHER).await;
                changes.mark_unchanged();
                let now = lines(&id);
                if now != known {
                    let event = Ok::<_, Infallible>(Event::default().data("more"));
                    return Some((event, (changes, id, now)));
                }
            }
        },
    );
    let end = async move {
        tokio::select! {
            () = stopping.cancelled() => {}
            () = tokio::time::sleep(TOLD_FOR) => {}
        }
    };
    Ok(Sse::new(more.take_until(Box::pin(end)).boxed()).into_response())
}

/// A checkout of the shop's.
async fn find(app: &App, id: &str) -> Result<CheckoutId, PageError> {
    of(app)?;
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    let found = model::find(&app.till.db, id).await?;
    found.map(|checkout| checkout.id).ok_or(PageError::NotFound)
}
