//! From what the shop knows to what a page shows.

use askama::Template;
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse as _, Response},
};
use chrono::TimeDelta;

use super::{error::PageError, views};
use crate::{
    cart,
    checkout::CheckoutLine,
    money::{Currency, IncludedTax, Money},
    refunds::{Status, model::Totals},
};

/// A rendered page.
pub fn page(status: StatusCode, page: &impl Template) -> Result<Response, PageError> {
    Ok((status, Html(page.render()?)).into_response())
}

/// A line of a cart, at today's price.
pub fn cart_line(line: &cart::Line) -> views::Line {
    views::Line {
        sku: line.sku.to_string(),
        name: line.name.clone(),
        quantity: line.quantity,
        unit_price: line.unit().to_string(),
        amount: line.amount().to_string(),
    }
}

/// A line of a checkout, at the price that was agreed.
pub fn checkout_line(line: &CheckoutLine, currency: Currency) -> views::Line {
    views::Line {
        sku: line.sku.to_string(),
        name: line.name.clone(),
        quantity: line.quantity,
        unit_price: Money::new(line.unit_minor, currency).to_string(),
        amount: Money::new(line.amount_minor, currency).to_string(),
    }
}

/// The tax in a total, when there is any.
pub fn tax(tax: Option<IncludedTax>) -> Option<views::Tax> {
    tax.map(|tax| views::Tax {
        rate: tax.rate.to_string(),
        amount: tax.amount.to_string(),
    })
}

/// How long ago something was: `4 minutes ago`.
pub fn ago(passed: TimeDelta) -> String {
    match passed.num_minutes() {
        ..=0 => "just now".to_owned(),
        1 => "a minute ago".to_owned(),
        minutes => format!("{minutes} minutes ago"),
    }
}

/// Why a payment did not go through, for the customer. The provider's codes are for developers, and its words for
/// a lost or stolen card are the same as for any decline, on purpose.
/// <https://docs.stripe.com/declines/codes>
pub fn reason(code: Option<&str>) -> &'static str {
    match code.unwrap_or_default() {
        "insufficient_funds" => "The card has insufficient funds.",
        "expired_card" => "The card has expired.",
        "incorrect_cvc" => "The security code of the card is wrong.",
        "processing_error" => {
            "The card's bank had an error while processing. Trying again may help."
        }
        "card_velocity_exceeded" => "The card was used too often in a short time.",
        "payment_intent_authentication_failure" => "The payment was not authenticated.",
        _ => "The card was declined.",
    }
}

/// How an order stands. What is on its way back may still return, so it counts as paid.
pub fn order_state(totals: &Totals) -> &'static str {
    let kept = totals.on_its_way.minor + totals.left.minor;
    match (totals.given_back.minor, kept) {
        (0, _) => "Paid",
        (_, 0) => "Refunded",
        _ => "Partially refunded",
    }
}

/// How a refund stands.
pub fn refund_state(status: Status) -> &'static str {
    match status {
        Status::Pending => "On its way",
        Status::Succeeded => "Given back",
        Status::Failed => "Not given back",
    }
}

/// An amount that is worth a line.
pub fn unless_zero(amount: Money) -> Option<String> {
    (amount.minor != 0).then(|| amount.to_string())
}

/// After how many seconds a page about something undecided loads itself again: often at first, when the answer is near; then
/// less and less.
pub fn refresh_seconds(age: TimeDelta) -> u32 {
    match age {
        _ if age < TimeDelta::seconds(30) => 2,
        _ if age < TimeDelta::minutes(5) => 5,
        _ => 15,
    }
}

/// What is left of a product that more is wanted of.
pub fn left(stock: i64) -> String {
    match stock {
        ..=0 => "Sold out.".to_owned(),
        1 => "Only one is left.".to_owned(),
        _ => format!("Only {stock} are left."),
    }
}
