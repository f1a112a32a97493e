//! What must hold between the naive tables and the provider's ledger.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use crate::{
    audit::Invariant,
    lab::naive::{CART, Event, ORDER, Order, Status},
    provider::{Doubt, Outcome, Payment, Provider, wire::PaymentIntent},
};

/// A charge of ours at the provider.
pub(super) struct Charge {
    payment: Payment,
    order: Uuid,
    cart: Uuid,
}

/// One whose metadata names none of ours is somebody else's.
pub(super) fn charges(intents: &[PaymentIntent]) -> Vec<Charge> {
    let ours = intents.iter().filter_map(|intent| {
        let Outcome::Paid(payment) = Outcome::of_intent(intent) else {
            return None;
        };
        Some(Charge {
            payment,
            order: intent.metadata.get(ORDER)?.parse().ok()?,
            cart: intent.metadata.get(CART)?.parse().ok()?,
        })
    });
    ours.collect()
}

/// All that has happened, the oldest first.
pub(super) async fn events(provider: &Provider) -> Result<Vec<Event>, Doubt> {
    let mut page = provider.events_since(0, &[]).await?;
    let mut events = Vec::new();
    loop {
        events.extend(page.events.iter().flat_map(Event::read));
        match page.newest() {
            Some(newest) if page.has_more => {
                let next = provider.events_after(newest, &[]).await?;
                page = next.ok_or(Doubt::Unexpected)?;
            }
            _ => return Ok(events),
        }
    }
}

pub(super) fn invariants(
    charges: &[Charge],
    events: &[Event],
    orders: &HashMap<Uuid, Order>,
) -> Vec<Invariant> {
    vec![
        one_charge_for_each_checkout(charges),
        each_charge_is_booked(charges, orders),
        each_booking_is_a_charge(charges, orders),
        each_event_took_effect(events, orders),
    ]
}

fn one_charge_for_each_checkout(charges: &[Charge]) -> Invariant {
    let mut seen: HashMap<Uuid, usize> = HashMap::new();
    for charge in charges {
        *seen.entry(charge.cart).or_default() += 1;
    }
    let violations = seen
        .iter()
        .filter(|&(_, &times)| times > 1)
        .map(|(cart, times)| format!("cart {cart} was charged {times} times"));
    Invariant::new("one_charge_for_each_checkout", violations.collect())
}

fn each_charge_is_booked(charges: &[Charge], orders: &HashMap<Uuid, Order>) -> Invariant {
    let is_booked = |charge: &&Charge| {
        orders.get(&charge.order).is_some_and(|order| {
            order.status == Status::Paid
                && order.payment_intent_id.as_ref() == Some(&charge.payment.intent)
                && order.amount_minor == charge.payment.amount_minor
                && order.currency.code() == charge.payment.currency
        })
    };
    let lost = charges.iter().filter(|charge| !is_booked(charge));
    let violations = lost.map(|charge| {
        let order = match orders.get(&charge.order) {
            Some(order) => format!("is {}", order.status.name()),
            None => "was never committed".to_owned(),
        };
        let (payment, id) = (&charge.payment, charge.order);
        format!(
            "{} ({} {}) is not booked: order {id} {order}",
            payment.intent, payment.amount_minor, payment.currency
        )
    });
    Invariant::new("each_charge_is_booked", violations.collect())
}

fn each_booking_is_a_charge(charges: &[Charge], orders: &HashMap<Uuid, Order>) -> Invariant {
    let paid_for: HashSet<Uuid> = charges.iter().map(|charge| charge.order).collect();
    let violations = orders
        .values()
        .filter(|order| order.status == Status::Paid && !paid_for.contains(&order.id))
        .map(|order| {
            format!(
                "order {} is paid, and the provider has no charge of it",
                order.id
            )
        });
    Invariant::new("each_booking_is_a_charge", violations.collect())
}

/// Each was answered with 200, so none comes again.
fn each_event_took_effect(events: &[Event], orders: &HashMap<Uuid, Order>) -> Invariant {
    let took_effect = |event: &&Event| {
        let Some(id) = event.order() else {
            return true;
        };
        let status = orders.get(&id).map(|order| order.status);
        match event.kind.as_str() {
            "payment_intent.succeeded" => status == Some(Status::Paid),
            "payment_intent.payment_failed" | "payment_intent.canceled" => {
                status != Some(Status::Pending)
            }
            _ => true,
        }
    };
    let swallowed = events.iter().filter(|event| !took_effect(event));
    let violations = swallowed.map(|event| format!("{} ({})", event.id, event.kind));
    Invariant::new("each_event_took_effect", violations.collect())
}
