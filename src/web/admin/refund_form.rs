//! The form that gives money back: what was typed, and whether it is a wish.

use crate::{
    checkout::IdempotencyKey,
    money::{Currency, Money},
    orders::Order,
    refunds::{Reason, Requester, Wish, wish::NotAReason},
    web::{fields::Fields, views::Field},
};

/// Longer than any amount that somebody means.
const AMOUNT_CHARS_MAX: usize = 20;

/// The form as it was typed, or as it is offered.
pub struct RefundForm {
    key: String,
    remaining: String,
    pub amount: Field,
    pub restock: bool,
    pub restock_error: Option<String>,
    pub reason: Field,
}

impl RefundForm {
    /// For all that is left.
    pub fn offered(left: Money) -> Self {
        Self {
            amount: field(&left.in_units().to_string(), AMOUNT_CHARS_MAX),
            ..Self::typed(|_| "")
        }
    }

    /// As it was posted.
    pub fn posted(fields: &Fields) -> Self {
        Self::typed(|name| fields.text(name))
    }

    fn typed<'a>(text: impl Fn(&str) -> &'a str) -> Self {
        Self {
            key: text("idempotency_key").to_owned(),
            remaining: text("remaining").to_owned(),
            amount: field(text("amount"), AMOUNT_CHARS_MAX),
            restock: text("restock") == "yes",
            restock_error: None,
            reason: field(text("reason"), Reason::CHARS_MAX),
        }
    }

    /// The wish that the form is, or `None` with each error beside its field.
    pub fn parse(&mut self, order: &Order) -> Option<Wish> {
        let amount = self.amount(order.amount().currency);
        let reason = self.reason();
        Some(Wish {
            key: self.key.parse().ok()?,
            requester: Requester::Operator,
            order: order.number.clone(),
            amount_minor: Some(amount?.minor),
            left_shown_minor: Some(self.remaining()?),
            restock: self.restock,
            reason: reason.ok()?,
        })
    }

    fn amount(&mut self, currency: Currency) -> Option<Money> {
        // What the form itself offers is an amount, also when somebody at the provider has left half a coin.
        let left = self.remaining().map(|left| Money::new(left, currency));
        if let Some(left) = left.filter(|left| left.in_units().to_string() == self.amount.value) {
            return Some(left);
        }
        let amount = Money::parse(&self.amount.value, currency);
        amount
            .inspect_err(|error| {
                self.amount.error = Some(format!("This cannot be given back: {error}."));
            })
            .ok()
    }

    /// Why, if anything was typed.
    fn reason(&mut self) -> Result<Option<Reason>, NotAReason> {
        if self.reason.value.is_empty() {
            return Ok(None);
        }
        let reason = self.reason.value.parse();
        reason
            .inspect_err(|error| self.reason.error = Some(format!("This is too much: {error}.")))
            .map(Some)
    }

    /// What was left when the form was shown.
    fn remaining(&self) -> Option<i64> {
        self.remaining.parse().ok()
    }

    /// Whether what the page put into the form came back as something else, which nobody does by typing.
    pub fn is_tampered_with(&self) -> bool {
        self.key.parse::<IdempotencyKey>().is_err() || self.remaining().is_none()
    }

    /// The key of the form on its page. One that came with it stays: nothing was stored under it.
    pub fn key_on_page(&self) -> String {
        let key = self.key.parse().unwrap_or_else(|_| IdempotencyKey::fresh());
        key.to_string()
    }
}

fn field(text: &str, chars_max: usize) -> Field {
    Field {
        value: text.to_owned(),
        error: None,
        chars_max,
    }
}
