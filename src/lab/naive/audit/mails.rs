//! What must hold of the mails that were posted. The post is asked, since what a shop believes to have sent proves nothing.

use std::collections::HashMap;

use uuid::Uuid;

use crate::{
    audit::{Invariant, refunds::Booked},
    lab::naive::{
        Order, Status,
        mails::{Kind, name},
    },
    mail::post::Posted,
};

pub(super) fn invariants(
    posted: &[Posted],
    orders: &HashMap<Uuid, Order>,
    refunds: &[Booked],
) -> Vec<Invariant> {
    let mut copies: HashMap<&str, usize> = HashMap::new();
    for mail in posted {
        *copies.entry(&mail.name).or_default() += 1;
    }
    let is_missing = |about: Uuid, kind| !copies.contains_key(name(about, kind).as_str());
    let unconfirmed = orders
        .values()
        .filter(|order| order.status == Status::Paid)
        .filter(|order| is_missing(order.id, Kind::OrderConfirmation))
        .map(|order| format!("order {}", order.id));
    let untold = refunds
        .iter()
        .filter(|refund| is_missing(refund.id.into(), Kind::RefundNotice))
        .map(|refund| format!("refund {}", refund.id));
    let doubled = copies
        .iter()
        .filter(|&(_, &copies)| copies > 1)
        .map(|(name, copies)| format!("{name}: {copies} times"));
    vec![
        Invariant::new("each_order_is_confirmed", unconfirmed.collect()),
        Invariant::new("each_refund_is_told", untold.collect()),
        Invariant::new("no_mail_is_sent_twice", doubled.collect()),
    ]
}
