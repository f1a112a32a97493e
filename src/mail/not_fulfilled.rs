//! "Your payment came too late, and you have it back": for who paid when the purchase had ended.

use askama::Template;

use super::compose::{ComposeError, Draft, Line};
use crate::{checkout::CheckoutLine, clock, refunds::Refund};

/// What it says, as text.
struct NotFulfilled<'a> {
    lines: Vec<Line>,
    amount: String,
    given_back_at: String,
    reference: String,
    shop: &'a str,
}

pub(super) fn write(
    refund: &Refund,
    lines: &[CheckoutLine],
    shop: &str,
) -> Result<Draft, ComposeError> {
    let amount = refund.amount();
    let at = refund.concluded_at.unwrap_or(refund.created_at);
    let said = NotFulfilled {
        lines: lines.iter().map(|line| Line::of(line, amount)).collect(),
        amount: amount.to_string(),
        given_back_at: clock::in_words(at),
        reference: refund.checkout_id.to_string(),
        shop,
    };
    Ok(Draft {
        title: "Your payment came too late and was given back".to_owned(),
        date: at,
        text: Text { it: &said }.render()?,
        html: Html { it: &said }.render()?,
    })
}

#[derive(Template)]
#[template(path = "mail/not_fulfilled.txt")]
struct Text<'a> {
    it: &'a NotFulfilled<'a>,
}

#[derive(Template)]
#[template(path = "mail/not_fulfilled.html")]
struct Html<'a> {
    it: &'a NotFulfilled<'a>,
}
