//! What the times in a checkout's rows tell.

use chrono::{DateTime, Utc};

use super::Story;
use crate::{
    discrepancies, mail,
    refunds::{self, Refund},
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When.
    pub at: DateTime<Utc>,
    /// What it has to do with.
    pub about: About,
    /// What happened, in a few words.
    pub what: String,
    /// The rest: names, amounts, reasons. May be empty.
    pub detail: String,
}

/// What a moment has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each name says it")]
pub enum About {
    Checkout,
    Provider,
    Event,
    Order,
    Message,
    Shipment,
    Mail,
    Refund,
    Discrepancy,
}

impl Moment {
    pub(super) fn new(
        at: DateTime<Utc>,
        about: About,
        what: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            at,
            about,
            what: what.into(),
            detail: detail.into(),
        }
    }
}

impl Story {
    /// What the times in the rows that are read already tell.
    pub(super) fn of_rows(&self) -> Vec<Moment> {
        let mut moments = self.of_checkout();
        moments.extend(self.order.iter().map(|order| {
            Moment::new(
                order.created_at,
                About::Order,
                "Order placed",
                order.number.to_string(),
            )
        }));
        moments.extend(self.refunds.iter().flat_map(of_refund));
        moments.extend(self.mails.iter().flat_map(of_mail));
        moments.extend(self.discrepancies.iter().flat_map(of_discrepancy));
        moments
    }

    fn of_checkout(&self) -> Vec<Moment> {
        let checkout = &self.checkout;
        let about = About::Checkout;
        let goods = "its stock is held until it ends";
        let submitted = format!("{} by {}, {goods}", checkout.amount(), checkout.buyer.email);
        let mut moments = vec![Moment::new(
            checkout.created_at,
            about,
            "Submitted",
            submitted,
        )];
        if let Some(at) = checkout.asked_at {
            let what = "The customer is asked by their bank";
            moments.push(Moment::new(at, About::Provider, what, ""));
        }
        if let Some(at) = checkout.look_up_since {
            let what = "The payment is looked up from now on, its key is sent no more";
            moments.push(Moment::new(at, About::Provider, what, ""));
        }
        if let Some(at) = checkout.concluded_at {
            let intent = checkout
                .payment_intent_id
                .as_deref()
                .unwrap_or("no payment");
            let detail = match &checkout.failure_code {
                Some(code) => format!("{code}, {intent}, the stock is released"),
                None => format!("{intent}, the stock is sold"),
            };
            moments.push(Moment::new(
                at,
                about,
                format!("Ended as {}", checkout.status),
                detail,
            ));
        }
        moments
    }
}

fn of_refund(refund: &Refund) -> Vec<Moment> {
    let name = refund
        .provider_id
        .clone()
        .unwrap_or_else(|| refund.id.to_string());
    let detail = format!("{} as {name}", refund.amount());
    let mut moments = vec![Moment::new(
        refund.created_at,
        About::Refund,
        "Refund asked for",
        &detail,
    )];
    if let Some(at) = refund.concluded_at {
        let what = match refund.status {
            refunds::Status::Failed => "Refund failed",
            refunds::Status::Pending | refunds::Status::Succeeded => "Refund made",
        };
        moments.push(Moment::new(at, About::Refund, what, detail));
    }
    moments
}

fn of_mail(listed: &mail::operator::Listed) -> Vec<Moment> {
    let copy = match listed.mail.copy {
        0 => String::new(),
        number => format!(", copy {number}"),
    };
    let name = format!("{}{copy}", listed.mail.kind);
    let owed = Moment::new(listed.created_at, About::Mail, "Mail owed", &name);
    let (state, at) = listed.state();
    let (what, detail) = match (state, &listed.last_error) {
        ("sent", _) => ("Mail sent", format!("{name} to {}", listed.email)),
        ("given up at", error) => {
            let error = error.as_deref().unwrap_or_default();
            ("Mail given up", format!("{name}: {error}"))
        }
        _ => return vec![owed],
    };
    vec![owed, Moment::new(at, About::Mail, what, detail)]
}

fn of_discrepancy(listed: &discrepancies::operator::Listed) -> Vec<Moment> {
    let about = About::Discrepancy;
    let what = format!("Discrepancy {}", listed.kind);
    let mut moments = vec![Moment::new(listed.created_at, about, what, &listed.detail)];
    if let Some(at) = listed.resolved_at {
        let detail = match (&listed.resolved_by, &listed.note) {
            (Some(who), Some(note)) => format!("by {who}: {note}"),
            _ => "by itself".to_owned(),
        };
        let what = format!("Discrepancy {} resolved", listed.kind);
        moments.push(Moment::new(at, about, what, detail));
    }
    moments
}
