//! The mails, sent where they fall due.

use lettre::{
    Address, Message,
    message::{Mailbox, header::ContentType},
};
use uuid::Uuid;

use super::Naive;
pub(super) use crate::mail::Kind;

/// Sends a mail about an order or a refund, and notes that. One that cannot be sent is no reason to fail the purchase.
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
    let id = Uuid::now_v7();
    let message = Message::builder()
        .from(shop.mail_from.clone())
        .to(Mailbox::new(None, to))
        .subject(title)
        .message_id(None)
        .header(ContentType::TEXT_PLAIN)
        .body(format!("{title} {about}. Thank you.\n"))?;
    shop.post.send(&format!("naive-{id}"), message).await?;
    let mut tx = shop.db.begin().await?;
    tx.query("insert into naive_emails (id, about, kind, sent_at) values ($1, $2, $3, $4)")
        .bind(id)
        .bind(about)
        .bind(kind)
        .bind(shop.clock.now())
        .execute()
        .await?;
    tx.commit().await?;
    Ok(())
}
