//! The values of one purchase, as long as the shop's own.

use boring_checkout::ids::CheckoutId;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use uuid::Uuid;

use crate::forms::Cart;

/// A value of a statement.
#[derive(Clone, Debug)]
pub enum Value {
    Id(Uuid),
    Text(String),
    Number(i64),
    Time(DateTime<Utc>),
}

impl Value {
    /// As PostgreSQL reads it.
    pub fn text(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Time(at) => at.to_rfc3339_opts(SecondsFormat::Micros, true),
        }
    }
}

pub type Values = Vec<(&'static str, Value)>;

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// What is the same for each purchase.
pub fn common() -> Values {
    let now = Utc::now();
    vec![
        ("before", Value::Time(now - TimeDelta::hours(1))),
        ("now", Value::Time(now)),
        ("lease", Value::Time(now + TimeDelta::seconds(15))),
        ("product", text("Thing 123")),
        ("quantity", Value::Number(1)),
        ("amount", Value::Number(2490)),
        ("shipping", Value::Number(0)),
        ("tax", Value::Number(398)),
        ("tax_rate", Value::Number(19_000)),
        ("currency", text("eur")),
        ("name", text("A Buyer")),
        ("address", text("1 Plain Street")),
        ("city", text("Ordinary")),
        ("postal_code", text("12345")),
        ("country", text("DE")),
        ("payment_method", text("pm_card_visa")),
        ("version", Value::Number(1)),
        ("news", text("order.placed")),
        ("attempt", Value::Number(1)),
        ("place", Value::Number(1)),
        ("operation", text("payment_intents.create")),
        ("ended", text("200 succeeded")),
        ("requests", Value::Number(1)),
        ("event_type", text("payment_intent.succeeded")),
        ("fulfilment", text("fulfilment")),
        ("mailer", text("mailer")),
        ("refunds", text("refunds")),
        ("mail", text("order_confirmation")),
        ("returns", Value::Number(0)),
        ("copy", Value::Number(0)),
    ]
}

/// What each purchase has of its own; as long as the shop's.
pub fn own(cart: &Cart) -> Values {
    let checkout = CheckoutId::new();
    let random = || Uuid::new_v4().simple().to_string();
    let number: String = random().chars().take(12).collect();
    let request = format!(
        "amount=2490&currency=eur&payment_method=pm_card_visa&payment_method_types%5B0%5D=card&confirm=true\
         &return_url=http%3A%2F%2F127.0.0.1%3A3000%2Fcheckouts%2F{checkout}&metadata%5Bcheckout_id%5D={checkout}"
    );
    let payload =
        format!("{{\"format\":1,\"checkout_id\":\"{checkout}\",\"order_number\":\"{number}\"}}");
    let part = |prefix: &str| text(format!("{prefix}_{}", random()));
    vec![
        ("cart", Value::Id(cart.id.into())),
        ("visitor", Value::Id(cart.visitor.into())),
        ("sku", text(&cart.sku)),
        ("checkout", Value::Id(checkout.into())),
        ("key", Value::Id(Uuid::new_v4())),
        ("fingerprint", text(random() + &random())),
        ("email", text(format!("{}@example.com", cart.visitor))),
        ("request", text(request)),
        ("intent", part("pi")),
        ("event", part("evt")),
        ("customer", Value::Id(Uuid::new_v4())),
        ("message", text(format!("{checkout}/order.placed/1"))),
        ("payload", text(payload)),
        ("number", text(number)),
    ]
}
