//! "Something of what you paid for your order was given back."

use askama::Template;

use super::compose::{ComposeError, Draft};
use crate::{
    checkout::Checkout,
    clock,
    money::{IncludedTax, Money},
    orders::Order,
    refunds::{Refund, Status, model::sum},
};

/// What it says, as text.
struct RefundNotice {
    number: String,
    amount: String,
    given_back_at: String,
    total: String,
    refunded: String,
    tax: Option<IncludedTax>,
    left: Option<String>,
    link: String,
}

/// About `refund`, one of `refunds`. Those that came after it have mails of their own.
pub(super) fn write(
    refund: &Refund,
    refunds: &[Refund],
    checkout: &Checkout,
    order: &Order,
    link: String,
) -> Result<Draft, ComposeError> {
    let total = order.amount();
    let until_then = refunds
        .iter()
        .filter(|other| other.ordinal <= refund.ordinal);
    let until_then: Vec<Refund> = until_then.cloned().collect();
    let refunded = sum(&until_then, Status::Succeeded, total.currency);
    let left = Money::new(total.minor - refunded.minor, total.currency);
    let at = refund.concluded_at.unwrap_or(refund.created_at);
    let said = RefundNotice {
        number: order.number.to_string(),
        amount: refund.amount().to_string(),
        given_back_at: clock::in_words(at),
        total: total.to_string(),
        refunded: refunded.to_string(),
        tax: checkout.tax_refunded(refunded),
        left: (left.minor > 0).then(|| left.to_string()),
        link,
    };
    Ok(Draft {
        title: format!("A refund of your order {}", order.number),
        date: at,
        text: Text { it: &said }.render()?,
        html: Html { it: &said }.render()?,
    })
}

#[derive(Template)]
#[template(path = "mail/refund_notice.txt")]
struct Text<'a> {
    it: &'a RefundNotice,
}

#[derive(Template)]
#[template(path = "mail/refund_notice.html")]
struct Html<'a> {
    it: &'a RefundNotice,
}
