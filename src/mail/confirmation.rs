//! "Thank you for your order."

use askama::Template;

use super::compose::{ComposeError, Draft, Line, one_line};
use crate::{
    checkout::{Checkout, CheckoutLine},
    orders::Order,
};

/// What a confirmation says, as text.
struct Confirmation {
    number: String,
    lines: Vec<Line>,
    shipping: Option<String>,
    total: String,
    tax: Option<String>,
    address: Vec<String>,
    link: String,
}

pub(super) fn write(
    order: &Order,
    checkout: &Checkout,
    lines: &[CheckoutLine],
    link: String,
) -> Result<Draft, ComposeError> {
    let total = order.amount();
    let (address, shipping) = (checkout.buyer.address_lines(), checkout.shipping());
    let said = Confirmation {
        number: order.number.to_string(),
        lines: lines.iter().map(|line| Line::of(line, total)).collect(),
        shipping: (shipping.minor != 0).then(|| shipping.to_string()),
        total: total.to_string(),
        tax: checkout.tax().map(|tax| tax.to_string()),
        address: address.iter().map(|line| one_line(line)).collect(),
        link,
    };
    Ok(Draft {
        title: format!("Your order {}", order.number),
        date: order.created_at,
        text: Text { it: &said }.render()?,
        html: Html { it: &said }.render()?,
    })
}

#[derive(Template)]
#[template(path = "mail/order_confirmation.txt")]
struct Text<'a> {
    it: &'a Confirmation,
}

#[derive(Template)]
#[template(path = "mail/order_confirmation.html")]
struct Html<'a> {
    it: &'a Confirmation,
}
