//! One checkout's whole story on one page.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    checkouts::state,
    chrome::Chrome,
    error::Failure,
    list::{Cell, Table, exactly},
    orders::refunds_table,
};
use crate::{
    app::App,
    story::{self, About, Moment, Story},
    web::path::Path,
    web::{error::PageError, show, views},
};

#[derive(Template)]
#[template(path = "admin/story.html")]
struct StoryPage {
    chrome: Chrome,
    id: String,
    state: Cell,
    next_try: Option<String>,
    facts: Vec<Fact>,
    order_number: Option<String>,
    lines: Vec<views::Line>,
    shipping: Option<String>,
    total: String,
    tax: Option<views::Tax>,
    tables: [Table; 2],
    moments: Vec<Told>,
}

/// A name and what it is.
struct Fact {
    name: &'static str,
    value: String,
}

/// A moment, as it is told.
struct Told {
    at: String,
    datetime: String,
    about: &'static str,
    tone: &'static str,
    what: String,
    detail: String,
}

/// `GET /admin/checkouts/{id}`.
pub async fn story(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Failure> {
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    let story = story::of(&app.till.db, id).await?;
    let story = story.ok_or(PageError::NotFound)?;
    let checkout = &story.checkout;
    let amount = checkout.amount();
    let page = StoryPage {
        chrome: Chrome::at("/admin/checkouts"),
        id: checkout.id.to_string(),
        state: state(checkout.status),
        next_try: checkout.lease_until.map(exactly),
        facts: facts(&story),
        order_number: story.order.as_ref().map(|order| order.number.to_string()),
        lines: story
            .lines
            .iter()
            .map(|line| show::checkout_line(line, amount.currency))
            .collect(),
        shipping: show::unless_zero(checkout.shipping()),
        total: amount.to_string(),
        tax: show::tax(checkout.tax()),
        tables: [
            stock(&story),
            refunds_table(
                &story.refunds,
                story.order.as_ref().map(|order| &order.number),
            ),
        ],
        moments: story.moments.iter().map(told).collect(),
    };
    Ok(show::page(StatusCode::OK, &page)?)
}

fn facts(story: &Story) -> Vec<Fact> {
    let checkout = &story.checkout;
    let fact = |name, value: String| Fact { name, value };
    let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let mut facts = vec![
        fact("Amount", checkout.amount().to_string()),
        fact("E-mail", checkout.buyer.email.clone()),
        fact("Address", checkout.buyer.address_lines().join(", ")),
        fact("Payment method", checkout.payment_method.clone()),
        fact("Payment intent", or_none(&checkout.payment_intent_id)),
        fact("Attempts", checkout.attempts.to_string()),
        fact("In vain, in a row", checkout.failures.to_string()),
        fact("Idempotency key", checkout.idempotency_key.to_string()),
        fact("Cart", checkout.cart_id.to_string()),
        fact("Visitor", checkout.visitor_id.to_string()),
    ];
    if checkout.failure_code.is_some() {
        facts.push(fact("Why it ended", or_none(&checkout.failure_code)));
    }
    facts
}

fn stock(story: &Story) -> Table {
    let row = |it: &story::Reservation| {
        let tone = match it.state.as_str() {
            "held" => "wait",
            "sold" => "good",
            _ => "bad",
        };
        vec![
            Cell::text(&it.sku),
            Cell::text(&it.quantity),
            Cell::state(&it.state, tone),
        ]
    };
    Table {
        heading: "Stock",
        empty: "None was taken.",
        columns: &["Product", "Units", "State"],
        rows: story.stock.iter().map(row).collect(),
        form: None,
    }
}

fn told(moment: &Moment) -> Told {
    let (about, tone) = match moment.about {
        About::Checkout => ("Checkout", "good"),
        About::Provider => ("Provider", "wait"),
        About::Event => ("Event", "wait"),
        About::Order => ("Order", "good"),
        About::Message => ("Message", ""),
        About::Shipment => ("Shipment", "good"),
        About::Mail => ("Mail", ""),
        About::Refund => ("Refund", "wait"),
        About::Discrepancy => ("Discrepancy", "bad"),
    };
    Told {
        at: exactly_to_the_millisecond(moment.at),
        datetime: moment.at.to_rfc3339(),
        about,
        tone,
        what: moment.what.clone(),
        detail: moment.detail.clone(),
    }
}

/// Much of a story happens within a second.
fn exactly_to_the_millisecond(at: chrono::DateTime<chrono::Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%S%.3f UTC").to_string()
}
