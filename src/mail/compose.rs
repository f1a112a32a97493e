//! What a mail says: an HTML part, the same as plain text, and headers that nobody outside can write into.
//!
//! Of what a customer typed, only the e-mail address gets into a header, and only through a type that has no room for a
//! line break. The rest stands in the body, which has no commands in it.

use chrono::{DateTime, Utc};
use lettre::{
    Address,
    message::{Mailbox, Message, MultiPart},
};

use super::{Kind, Mail, confirmation, not_fulfilled, refund_notice};
use crate::{
    checkout::{Checkout, CheckoutLine, model},
    db::Db,
    links::Links,
    money::Money,
    orders::{self, Order},
    refunds::{self, Refund, Status},
};

/// Writes the mails.
#[derive(Debug)]
pub struct Composer {
    /// The shop's database.
    pub db: Db,
    /// Who the mails are from.
    pub from: Mailbox,
    /// The links in them.
    pub links: Links,
}

/// A mail that can be sent.
#[derive(Debug)]
pub struct Letter {
    /// The same whenever it is written, and for no other: what it is about, its kind, and the number of a copy.
    pub name: String,
    /// All of it.
    pub message: Message,
}

/// What one kind of mail has of its own.
pub(super) struct Draft {
    pub title: String,
    pub date: DateTime<Utc>,
    pub text: String,
    pub html: String,
}

impl Composer {
    /// The mail: in all that matters the same whenever it is asked for.
    pub async fn compose(&self, mail: &Mail) -> Result<Letter, ComposeError> {
        let found = orders::with_checkout(&self.db, mail.checkout_id).await?;
        let bought = found.ok_or(ComposeError::NothingToSay)?;
        let (checkout, order) = (&bought.checkout, bought.order());
        let lines = model::lines(&self.db, checkout.id).await?;
        let subject = mail.subject(order.as_ref().map(|order| &order.number));
        let draft = match (mail.kind, &order) {
            (Kind::OrderConfirmation, Some(order)) => {
                let link = self.links.to_order(&order.number, order.created_at);
                confirmation::write(order, checkout, &lines, link)?
            }
            (Kind::NotFulfilled, None) => self.not_fulfilled(checkout, &lines).await?,
            (Kind::RefundNotice, Some(order)) => self.refund_notice(mail, checkout, order).await?,
            _ => return Err(ComposeError::NothingToSay),
        };
        let message = self.address(checkout, &subject, mail, draft)?;
        let name = format!("{subject}-{}{}", mail.kind, mail.suffix('-'));
        Ok(Letter { name, message })
    }

    async fn not_fulfilled(
        &self,
        checkout: &Checkout,
        lines: &[CheckoutLine],
    ) -> Result<Draft, ComposeError> {
        let refunds = refunds::model::of_checkout(&self.db, checkout.id).await?;
        let refund = refunds.iter().find(|refund| is_given_back(refund));
        let refund = refund.ok_or(ComposeError::NotTrueAnyMore)?;
        not_fulfilled::write(refund, lines, self.links.shop())
    }

    async fn refund_notice(
        &self,
        mail: &Mail,
        checkout: &Checkout,
        order: &Order,
    ) -> Result<Draft, ComposeError> {
        let refunds = refunds::model::of_checkout(&self.db, mail.checkout_id).await?;
        let is_it = |refund: &&Refund| refund.id == mail.about.into() && is_given_back(refund);
        let refund = refunds.iter().find(is_it);
        let refund = refund.ok_or(ComposeError::NotTrueAnyMore)?;
        let at = refund.concluded_at.unwrap_or(refund.created_at);
        let link = self.links.to_order(&order.number, at);
        refund_notice::write(refund, &refunds, checkout, order, link)
    }

    fn address(
        &self,
        checkout: &Checkout,
        subject: &str,
        mail: &Mail,
        draft: Draft,
    ) -> Result<Message, ComposeError> {
        let to: Address = checkout
            .buyer
            .email
            .parse()
            .map_err(|_| ComposeError::NoAddress)?;
        let (kind, suffix, domain) = (mail.kind, mail.suffix('.'), self.from.email.domain());
        let id = format!("<{subject}.{kind}{suffix}@{domain}>");
        let title = match mail.copy {
            0 => draft.title,
            _ => format!("{} (sent again)", draft.title),
        };
        Ok(Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(title)
            .date(draft.date.into())
            .message_id(Some(id))
            .multipart(MultiPart::alternative_plain_html(draft.text, draft.html))?)
    }
}

/// A refund may have come back from the bank before the mail about it was sent.
fn is_given_back(refund: &Refund) -> bool {
    refund.status == Status::Succeeded
}

/// So many units of one product.
pub(super) struct Line {
    pub name: String,
    pub quantity: i64,
    pub amount: String,
}

impl Line {
    pub(super) fn of(line: &CheckoutLine, total: Money) -> Self {
        Self {
            name: one_line(&line.name),
            quantity: line.quantity,
            amount: Money::new(line.amount_minor, total.currency).to_string(),
        }
    }
}

/// A customer's line break would make a line of its own in the text, which might pass for one of ours.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Why there is no mail.
#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    /// What it is about is not there.
    #[error("there is nothing that it could be about")]
    NothingToSay,
    /// It would say that money was given back, which has come back since. A discrepancy is open about that.
    #[error("the refund has failed since")]
    NotTrueAnyMore,
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
