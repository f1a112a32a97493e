//! The body that asks for a checkout, and whether it is a purchase.

use std::collections::BTreeSet;

use serde::Deserialize;
use utoipa::{
    ToSchema,
    openapi::schema::{ObjectBuilder, Schema, SchemaType, Type},
};

use super::{
    super::{
        problem::{Invalid, Problem},
        typed::{wrong_email, wrong_name},
    },
    client::Client,
    request::{Object, invalid},
};
use crate::{
    cart::{Item, LINES_MAX, QUANTITY_MAX},
    catalog::Sku,
    checkout::{Buyer, IdempotencyKey, PaymentMethod, Purchase, payment_method::PAYMENT_METHODS},
    countries::COUNTRIES,
    ids::CartId,
    money::{Currency, Money},
};

/// What to buy, for whom, and how it is paid.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCheckout {
    /// The customer's e-mail address: the confirmation goes there.
    #[schema(format = "email", max_length = 254)]
    email: String,
    /// The customer's name.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$"
    )]
    name: String,
    /// The goods, each product once.
    #[schema(value_type = Vec<NewItem>, min_items = 1, max_items = 50)]
    items: Vec<Object<NewItem>>,
    /// One of the payment provider's payment methods that the shop takes.
    #[schema(schema_with = payment_methods)]
    payment_method: String,
    /// Where the goods go, in the code of a country (ISO 3166-1). It tells how much of the amount is tax, and changes no price.
    #[schema(schema_with = countries)]
    country: Option<String>,
    /// What you expect it to cost, in minor units. When it costs something else, nothing is bought, and the answer is 409.
    #[schema(minimum = 1)]
    quoted_total: Option<i64>,
}

/// So many units of one product.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewItem {
    /// The product's SKU.
    #[schema(pattern = "^[A-Z0-9-]{1,32}$")]
    sku: String,
    /// How many.
    #[schema(minimum = 1, maximum = 99)]
    quantity: i64,
}

impl NewCheckout {
    /// The purchase that it asks for, in the currency of the shop, or everything that is wrong with it.
    pub fn parse(
        &self,
        client: Client,
        key: IdempotencyKey,
        currency: Currency,
    ) -> Result<Purchase, Problem> {
        let mut errors = Errors::default();
        let (email, name) = (self.email.trim(), self.name.trim());
        for (pointer, wrong) in [("/email", wrong_email(email)), ("/name", wrong_name(name))] {
            if let Some(detail) = wrong {
                errors.add(pointer, &detail);
            }
        }
        let items = self.parse_items(&mut errors);
        let payment_method = self.payment_method.parse().ok();
        let payment_method = payment_method.filter(|method: &PaymentMethod| method.takes(currency));
        if payment_method.is_none() {
            errors.add(
                "/payment_method",
                "the shop does not take this payment method",
            );
        }
        let country = self.country.as_deref().unwrap_or_default();
        if self.country.is_some() && !COUNTRIES.iter().any(|(code, _)| *code == country) {
            errors.add("/country", "the shop does not send there");
        }
        if self.quoted_total.is_some_and(|total| total < 1) {
            errors.add("/quoted_total", "a total is 1 at least");
        }
        let Some(payment_method) = payment_method.filter(|_| errors.0.is_empty()) else {
            return Err(invalid(errors.0));
        };
        Ok(Purchase {
            key: key.of_client(client.id),
            visitor: client.id,
            cart: CartId::new(),
            items,
            quoted_total: self.quoted_total.map(|minor| Money::new(minor, currency)),
            quoted_cart: None,
            buyer: Buyer {
                email: email.to_owned(),
                name: name.to_owned(),
                address: String::new(),
                city: String::new(),
                postal_code: String::new(),
                country: country.to_owned(),
            },
            payment_method,
            // A program says with each key that it means another purchase. There is nobody to ask.
            buy_again: true,
            browser: None,
        })
    }

    /// The goods in the order of their SKUs, so that the order in which they are named makes no difference.
    fn parse_items(&self, errors: &mut Errors) -> Vec<Item> {
        let lines_max = usize::try_from(LINES_MAX).unwrap_or_default();
        if self.items.is_empty() || self.items.len() > lines_max {
            errors.add(
                "/items",
                &format!("a checkout has 1 to {LINES_MAX} products"),
            );
        }
        let mut items = Vec::new();
        let mut named = BTreeSet::new();
        for (place, Object(NewItem { sku, quantity })) in self.items.iter().enumerate() {
            if !named.insert(sku) {
                errors.add(&format!("/items/{place}/sku"), "the product is named twice");
            }
            if !(1..=QUANTITY_MAX).contains(quantity) {
                let said = format!("a quantity is 1 to {QUANTITY_MAX}");
                errors.add(&format!("/items/{place}/quantity"), &said);
            }
            match sku.parse() {
                Ok(sku) => items.push(Item {
                    sku,
                    quantity: *quantity,
                }),
                Err(error) => errors.add(&format!("/items/{place}/sku"), &error.to_string()),
            }
        }
        items.sort_by(|a, b| a.sku.cmp(&b.sku));
        items
    }

    /// Where it names a product.
    pub fn pointer_to(&self, sku: &Sku) -> String {
        let place = self
            .items
            .iter()
            .position(|Object(item)| item.sku == sku.as_str());
        place.map_or_else(
            || "/items".to_owned(),
            |place| format!("/items/{place}/sku"),
        )
    }
}

/// All that is wrong with a body.
#[derive(Default)]
struct Errors(Vec<Invalid>);

impl Errors {
    fn add(&mut self, pointer: &str, detail: &str) {
        self.0.push(Invalid {
            pointer: pointer.to_owned(),
            detail: detail.to_owned(),
        });
    }
}

fn countries() -> Schema {
    let codes = COUNTRIES.map(|(code, _)| Some(code));
    ObjectBuilder::new()
        .schema_type(SchemaType::Array(vec![Type::String, Type::Null]))
        .description(Some(
            "Where the goods go, in the code of a country (ISO 3166-1). It tells how much of the amount is tax, and changes \
             no price.",
        ))
        .enum_values(Some(codes.into_iter().chain([None])))
        .into()
}

fn payment_methods() -> Schema {
    let names = PAYMENT_METHODS.map(PaymentMethod::as_str);
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(
            "One of the payment provider's payment methods that the shop takes; a bank account in its own currency.",
        ))
        .enum_values(Some(names))
        .into()
}
