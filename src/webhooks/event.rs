//! Reading an event, after its signature was found good.

use serde_json::Value;

use crate::{
    ids::CheckoutId,
    provider::{
        Outcome,
        wire::{ApiError, PaymentIntent, Refund},
    },
};

/// The longest id or type that is stored. The provider's own are far shorter.
const TEXT_MAX: usize = 255;

/// The kinds of events that tell the shop something. Others may come, and come to nothing.
///
/// `charge.refunded` is not one of them: it carries the charge, with the sum of all its refunds, and each of these has told
/// of itself. <https://docs.stripe.com/changelog/acacia/2024-10-28/refund-webhook-update>
pub const KINDS: [&str; 9] = [
    "payment_intent.succeeded",
    "payment_intent.payment_failed",
    "payment_intent.canceled",
    "payment_intent.processing",
    "payment_intent.requires_action",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.refund.updated",
];

/// An event as far as the shop understands it.
#[derive(Clone, Debug)]
pub struct Event {
    /// `evt_…`, the same for each delivery.
    pub id: String,
    /// Such as `payment_intent.succeeded`.
    pub kind: String,
    /// The provider's object that it is about.
    pub object: Option<String>,
    /// The checkout that the object names.
    pub checkout: Option<CheckoutId>,
    /// How the payment stood when the event was written; `None` for kinds that don't say.
    pub outcome: Option<Outcome>,
    /// How a refund stood.
    pub refund: Option<Refund>,
}

impl Event {
    /// Reads a signed body. `live` says whether the shop takes real money: an event of the other mode is not
    /// about our payments.
    ///
    /// What is no event at all is an error. An event of an unknown kind, or of an object that this shop cannot
    /// read, is an event that tells us nothing: the provider should not send it again.
    pub fn parse(body: &[u8], live: bool) -> Result<Self, NotAnEvent> {
        // A tree and not a struct: it takes the last of duplicate keys, as most readers do, and reports none.
        let event: Value = serde_json::from_slice(body).map_err(|_| NotAnEvent)?;
        Self::read(&event, live)
    }

    /// Reads an event that the provider has shown us. As [`parse`](Self::parse).
    pub fn read(event: &Value, live: bool) -> Result<Self, NotAnEvent> {
        let text = |name: &str| {
            event
                .get(name)
                .and_then(Value::as_str)
                .filter(|t| is_sane(t))
        };
        let id = text("id").ok_or(NotAnEvent)?.to_owned();
        let kind = text("type").ok_or(NotAnEvent)?.to_owned();
        let of_our_mode = event.get("livemode").and_then(Value::as_bool) == Some(live);
        let tells = of_our_mode && KINDS.contains(&kind.as_str());
        let of_a_payment = tells && kind.starts_with("payment_intent.");
        let object = event.pointer("/data/object");
        let object_id = object
            .and_then(|object| object.get("id"))
            .and_then(Value::as_str)
            .filter(|id| is_sane(id));
        let intent = object
            .filter(|_| of_a_payment)
            .and_then(|object| serde_json::from_value::<PaymentIntent>(object.clone()).ok())
            .filter(can_be_stored);
        let refund = object
            .filter(|_| tells && !of_a_payment)
            .and_then(|object| serde_json::from_value::<Refund>(object.clone()).ok())
            .filter(|refund| is_sane(&refund.id) && is_sane(&refund.currency))
            .filter(|refund| refund.payment_intent.as_deref().is_none_or(is_sane));
        Ok(Self {
            id,
            refund,
            object: object_id.map(str::to_owned),
            checkout: intent
                .as_ref()
                .and_then(|intent| intent.checkout_id()?.parse().ok()),
            outcome: intent.as_ref().map(Outcome::of_intent),
            kind,
        })
    }
}

/// Whether all texts of it that end up in the database can.
fn can_be_stored(intent: &PaymentIntent) -> bool {
    let reason = intent.last_payment_error.as_ref().map(ApiError::reason);
    let page = intent.next_action.as_ref();
    let page = page.and_then(|action| action.redirect_to_url.as_ref());
    [&intent.id, &intent.currency]
        .into_iter()
        .all(|t| is_sane(t))
        && reason.is_none_or(is_sane)
        && page.is_none_or(|page| !page.url.contains('\0'))
}

/// PostgreSQL stores no NUL in a text.
fn is_sane(text: &str) -> bool {
    (1..=TEXT_MAX).contains(&text.len()) && !text.contains('\0')
}

/// The body is signed and is no event.
#[derive(Debug, thiserror::Error)]
#[error("the body is not an event")]
pub struct NotAnEvent;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(body: &str) -> Result<Event, NotAnEvent> {
        Event::parse(body.as_bytes(), false)
    }

    #[test]
    fn what_is_no_event_is_refused() {
        let long = format!(r#"{{"id":"{}","type":"x"}}"#, "e".repeat(256));
        for body in [
            "",
            "[]",
            "{}",
            r#"{"id":"evt_1"}"#,
            r#"{"id":"","type":"x"}"#,
            r#"{"id":"\u0000","type":"x"}"#,
            &long,
        ] {
            assert!(parse(body).is_err(), "{body}");
        }
    }

    #[test]
    fn an_unknown_kind_or_object_tells_nothing() {
        for body in [
            r#"{"id":"evt_1","type":"customer.created"}"#,
            r#"{"id":"evt_1","type":"payment_intent.succeeded","livemode":false,"data":{"object":[]}}"#,
            r#"{"id":"evt_1","type":"payment_intent.succeeded","livemode":false,
                "data":{"object":{"id":"pi_1","amount":1.0,"currency":"eur","status":"succeeded"}}}"#,
        ] {
            let event = parse(body).expect(body);
            assert_eq!((event.checkout, event.outcome), (None, None), "{body}");
        }
    }

    #[test]
    fn an_event_of_the_other_mode_tells_nothing() {
        let body = r#"{"id":"evt_1","type":"payment_intent.succeeded","livemode":true,
            "data":{"object":{"id":"pi_1","amount":1,"currency":"eur","status":"succeeded"}}}"#;
        assert_eq!(parse(body).expect("an event").outcome, None);
        let live = Event::parse(body.as_bytes(), true).expect("an event");
        assert!(matches!(live.outcome, Some(Outcome::Paid(_))));
    }

    #[test]
    fn what_no_database_can_store_tells_nothing() {
        let payment = |id: &str, currency: &str, code: &str, page: &str| {
            let event = json!({
                "id": "evt_1", "type": "payment_intent.payment_failed", "livemode": false,
                "data": {"object": {
                    "id": id, "amount": 490, "currency": currency, "status": "requires_payment_method",
                    "last_payment_error": {"type": "card_error", "code": code},
                    "next_action": {"type": "redirect_to_url", "redirect_to_url": {"url": page}},
                }},
            });
            Event::read(&event, false).expect("an event").outcome
        };
        let page = "https://bank.example";
        assert!(payment("pi_1", "eur", "card_declined", page).is_some());
        let long = "x".repeat(256);
        for odd in ["", "a\0b", &long] {
            assert_eq!(payment(odd, "eur", "card_declined", page), None, "{odd:?}");
            assert_eq!(payment("pi_1", odd, "card_declined", page), None, "{odd:?}");
            assert_eq!(payment("pi_1", "eur", odd, page), None, "{odd:?}");
        }
        assert_eq!(payment("pi_1", "eur", "card_declined", "https://\0"), None);
    }

    #[test]
    fn a_refund_is_told_of_in_our_mode_by_its_own_kinds_and_in_texts_that_can_be_stored() {
        let refund = |kind: &str, live: bool, texts: [&str; 3]| {
            let [id, currency, intent] = texts;
            let event = json!({
                "id": "evt_1", "type": kind, "livemode": live,
                "data": {"object": {"id": id, "amount": 490, "currency": currency, "payment_intent": intent,
                    "status": "succeeded"}},
            });
            Event::read(&event, false)
                .expect("an event")
                .refund
                .is_some()
        };
        let texts = ["re_1", "eur", "pi_1"];
        assert!(refund("refund.updated", false, texts));
        assert!(!refund("refund.updated", true, texts));
        assert!(!refund("charge.refunded", false, texts));
        for odd in [
            ["re\0", "eur", "pi_1"],
            ["re_1", "e\0r", "pi_1"],
            ["re_1", "eur", "pi\0"],
        ] {
            assert!(!refund("refund.updated", false, odd), "{odd:?}");
        }
    }
}
