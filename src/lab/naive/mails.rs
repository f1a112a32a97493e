//! The mails, sent where they fall due.

use lettre::{
    Address, Message,
    message::{Mailbox, header::ContentType},
};
use uuid::Uuid;

use super::Naive;
pub(super) use crate::mail::Kind;
use crate::probe::{Boundary, report};

/// Sends a mail about an order or a refund. One that cannot be sent is no reason to fail what it is about.
pub(super) async fn send(shop: &Naive, about: Uuid, kind: Kind, to: &str) {
    if let Err(error) = try_to(shop, about, kind, to).await {
        tracing::warn!(%about, %kind, error, "mail not sent");
    }
}

async fn try_to(
    shop: &Naive,
    about: Uuid,
    kind: Kind,
    to: &str,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let to: Address = to.parse()?;
    let title = match kind {
        Kind::RefundNotice => "Your refund",
        Kind::OrderConfirmation | Kind::NotFulfilled => "Your order",
    };
    let message = Message::builder()
        .from(shop.mail_from.clone())
        .to(Mailbox::new(None, to))
        .subject(title)
        // A fresh one: to their receiver, two copies are two mails.
        .message_id(None)
        .header(ContentType::TEXT_PLAIN)
        .body(format!("{title} {about}. Thank you.\n"))?;
    let probe = shop.db.probe();
    report(probe, Boundary::BeforeMail(kind.name())).await?;
    shop.post.send(&name(about, kind), message).await?;
    report(probe, Boundary::AfterMail(kind.name())).await?;
    tracing::info!(%about, %kind, "mail sent");
    Ok(())
}

/// What the post calls a mail.
pub(super) fn name(about: Uuid, kind: Kind) -> String {
    format!("{about}-{kind}")
}
