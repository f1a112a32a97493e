//! What a mail says: an HTML part, the same as plain text, and headers that nobody outside can write into.
//!
//! Of what a customer typed, only the e-mail address gets into a header, and only through a type that has no room for a
//! line break. The rest stands in the body, which has no commands in it.

use askama::Template;
use lettre::{
    Address,
    message::{Mailbox, Message, MultiPart},
};

use super::Kind;
use crate::{
    checkout::{Buyer, Checkout, CheckoutLine, model},
    db::Db,
    money::Money,
    order_links::OrderLinks,
    orders::{self, Order, OrderNumber},
};

/// Writes the mails.
#[derive(Debug)]
pub struct Composer {
    /// The shop's database.
    pub db: Db,
    /// Who the mails are from.
    pub from: Mailbox,
    /// The links in them.
    pub links: OrderLinks,
}

impl Composer {
    /// The mail of this kind about an order: in all that matters the same whenever it is asked for.
    pub async fn compose(&self, number: &OrderNumber, kind: Kind) -> Result<Message, ComposeError> {
        let order = orders::find(&self.db, number)
            .await?
            .ok_or(ComposeError::NoOrder)?;
        let checkout = model::find(&self.db, order.checkout_id)
            .await?
            .ok_or(ComposeError::NoOrder)?;
        let lines = model::lines(&self.db, checkout.id).await?;
        match kind {
            Kind::OrderConfirmation => self.confirmation(&order, &checkout, &lines),
        }
    }

    fn confirmation(
        &self,
        order: &Order,
        checkout: &Checkout,
        lines: &[CheckoutLine],
    ) -> Result<Message, ComposeError> {
        let said = Confirmation::of(order, &checkout.buyer, lines, self.links.to(&order.number));
        let text = ConfirmationText { it: &said }.render()?;
        let html = ConfirmationHtml { it: &said }.render()?;
        let to: Address = checkout
            .buyer
            .email
            .parse()
            .map_err(|_| ComposeError::NoAddress)?;
        let id = format!(
            "<{}.{}@{}>",
            order.number,
            Kind::OrderConfirmation,
            self.from.email.domain()
        );
        Ok(Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(format!("Your order {}", order.number))
            .date(order.created_at.into())
            .message_id(Some(id))
            .multipart(MultiPart::alternative_plain_html(text, html))?)
    }
}

/// What a confirmation says, as text.
struct Confirmation {
    number: String,
    lines: Vec<Line>,
    total: String,
    address: Vec<String>,
    link: String,
}

struct Line {
    name: String,
    quantity: i64,
    amount: String,
}

impl Confirmation {
    fn of(order: &Order, buyer: &Buyer, lines: &[CheckoutLine], link: String) -> Self {
        let currency = order.amount().currency;
        let lines = lines.iter().map(|line| Line {
            name: one_line(&line.name),
            quantity: line.quantity,
            amount: Money::new(line.amount_minor, currency).to_string(),
        });
        let city = format!("{} {}", buyer.postal_code, buyer.city);
        let address = [&buyer.name, &buyer.address, &city, &buyer.country];
        Self {
            number: order.number.to_string(),
            lines: lines.collect(),
            total: order.amount().to_string(),
            address: address.map(|line| one_line(line)).to_vec(),
            link,
        }
    }
}

/// A customer's line break would make a line of its own in the text, which might pass for one of ours.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[derive(Template)]
#[template(path = "mail/order_confirmation.txt")]
struct ConfirmationText<'a> {
    it: &'a Confirmation,
}

#[derive(Template)]
#[template(path = "mail/order_confirmation.html")]
struct ConfirmationHtml<'a> {
    it: &'a Confirmation,
}

/// Why there is no mail.
#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    /// The order is not there.
    #[error("there is no such order")]
    NoOrder,
    /// What the customer gave as an address can never be sent to.
    #[error("the address is of no use")]
    NoAddress,
    /// The database did not do its part.
    #[error("the database failed: {0}")]
    Db(#[from] sqlx::Error),
    /// A mistake of ours.
    #[error("it could not be written: {0}")]
    Render(#[from] askama::Error),
    /// A mistake of ours.
    #[error("it could not be put together: {0}")]
    Build(#[from] lettre::error::Error),
}
