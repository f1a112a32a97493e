//! The bank's page: where a customer proves to be who they are (3-D Secure).
//!
//! `next_action` of an intent leads here. The two buttons conclude the intent, and the customer goes back to the
//! shop's `return_url` with the outcome in the query, as at Stripe.

use std::sync::Arc;

use askama::Template;
use axum::{
    Form, Router,
    extract::State,
    http::StatusCode,
    middleware::from_fn,
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use serde::Deserialize;

use super::{
    Shared,
    call::Call,
    currencies,
    error::ApiError,
    page::{self, Message, page},
    path_id::PathId,
    payment_intents::{self, PaymentIntent, Status, Verdict},
};

pub(super) fn router(shared: &Arc<Shared>) -> Router<Arc<Shared>> {
    Router::new()
        .route("/3ds/{intent}", get(show_challenge).post(conclude))
        .layer(page::same_origin(shared))
        .layer(from_fn(page::with_headers))
}

/// The bank's question.
#[derive(Template)]
#[template(path = "simulator/challenge.html")]
struct Challenge {
    amount: String,
    description: Option<String>,
}

/// `GET /3ds/{intent}`
async fn show_challenge(
    State(shared): State<Arc<Shared>>,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    let mut tx = shared.store.read().await?;
    let mut call = Call::automatic(&mut tx, &shared);
    let intent = payment_intents::find(&mut call, &id).await?;
    if intent.status != Status::RequiresAction {
        return page(
            StatusCode::OK,
            &Message {
                title: "There is nothing to approve",
                text: "This payment does not wait for an answer, or no longer. You can close this page.",
            },
        );
    }
    let challenge = Challenge {
        amount: currencies::written(intent.amount, &intent.currency),
        description: intent.description,
    };
    page(StatusCode::OK, &challenge)
}

#[derive(Deserialize)]
struct Pressed {
    verdict: Button,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Button {
    Approve,
    Refuse,
}

/// `POST /3ds/{intent}`
async fn conclude(
    State(shared): State<Arc<Shared>>,
    PathId(id): PathId,
    Form(Pressed { verdict }): Form<Pressed>,
) -> Result<Response, ApiError> {
    let verdict = match verdict {
        Button::Approve => Verdict::Approved,
        Button::Refuse => Verdict::Refused,
    };
    let (intent, back) = conclude_intent(&shared, &id, verdict).await?;
    match back.and_then(|url| way_back(&url, &intent)) {
        Some(url) => Ok(Redirect::to(&url).into_response()),
        None => page(
            StatusCode::OK,
            &Message {
                title: "Thank you",
                text: "Your answer has arrived. You can close this page.",
            },
        ),
    }
}

/// The concluded intent, and where its customer came from.
async fn conclude_intent(
    shared: &Shared,
    id: &str,
    verdict: Verdict,
) -> Result<(PaymentIntent, Option<String>), ApiError> {
    let mut tx = shared.store.begin().await?;
    let mut call = Call::automatic(&mut tx, shared);
    let before = payment_intents::find(&mut call, id).await?;
    let intent = payment_intents::authenticate(&mut call, id, verdict).await?;
    tx.commit().await?;
    shared.wake_workers();
    let back = before.next_action.and_then(|action| {
        action
            .pointer("/redirect_to_url/return_url")?
            .as_str()
            .map(ToOwned::to_owned)
    });
    Ok((intent, back))
}

fn way_back(return_url: &str, intent: &PaymentIntent) -> Option<String> {
    let mut url = url::Url::parse(return_url).ok()?;
    let is_paid = matches!(intent.status, Status::Succeeded | Status::RequiresCapture);
    url.query_pairs_mut()
        .append_pair("payment_intent", &intent.id)
        .append_pair("payment_intent_client_secret", &intent.client_secret)
        .append_pair(
            "redirect_status",
            if is_paid { "succeeded" } else { "failed" },
        );
    Some(url.into())
}
