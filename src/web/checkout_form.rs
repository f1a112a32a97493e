//! The checkout form: what was typed, and whether it is a purchase.

use super::{fields::Fields, typed, views};
use crate::{
    checkout::{
        Browser, Buyer, Checkout, IdempotencyKey, PaymentMethod, Purchase,
        payment_method::PAYMENT_METHODS,
    },
    countries::COUNTRIES,
    ids::{CartId, VisitorId},
    money::{Currency, Money},
};

/// The form as it was typed, or as it is offered.
#[derive(Clone, Debug, Default)]
pub struct CheckoutForm {
    key: String,
    quoted_total: String,
    quoted_cart: String,
    email: views::Field,
    name: views::Field,
    address: views::Field,
    city: views::Field,
    postal_code: views::Field,
    country: views::Field,
    payment_method: views::Field,
    buy_again: bool,
}

impl CheckoutForm {
    /// For a visitor who has not typed anything yet.
    pub fn empty() -> Self {
        let [first, ..] = PAYMENT_METHODS;
        Self {
            payment_method: choice(first.as_str()),
            ..Self::typed(|_| "")
        }
    }

    /// As it was posted.
    pub fn posted(fields: &Fields) -> Self {
        Self::typed(|name| fields.text(name))
    }

    /// What was typed for an attempt that failed: everything but the key, which has had its answer.
    pub fn again(failed: &Checkout) -> Self {
        let buyer = &failed.buyer;
        Self::typed(|name| match name {
            "email" => &buyer.email,
            "name" => &buyer.name,
            "address" => &buyer.address,
            "city" => &buyer.city,
            "postal_code" => &buyer.postal_code,
            "country" => &buyer.country,
            "payment_method" => &failed.payment_method,
            _ => "",
        })
    }

    fn typed<'a>(field: impl Fn(&str) -> &'a str) -> Self {
        let text = |name: &str, chars_max| views::Field {
            value: field(name).to_owned(),
            error: None,
            chars_max,
        };
        Self {
            key: field("idempotency_key").to_owned(),
            quoted_total: field("quoted_total").to_owned(),
            quoted_cart: field("quoted_cart").to_owned(),
            email: text("email", typed::EMAIL_MAX),
            name: text("name", typed::NAME_MAX),
            address: text("address", 200),
            city: text("city", 100),
            postal_code: text("postal_code", 20),
            country: choice(field("country")),
            payment_method: choice(field("payment_method")),
            buy_again: field("buy_again") == "yes",
        }
    }

    /// The purchase that the form asks for, or `None` with each error beside its field.
    pub fn parse(
        &mut self,
        visitor: VisitorId,
        cart: CartId,
        browser: Browser,
        currency: Currency,
    ) -> Option<Purchase> {
        let buyer = self.buyer();
        let payment_method: Option<PaymentMethod> = self.payment_method.value.parse().ok();
        let payment_method = payment_method.filter(|method| method.takes(currency));
        if payment_method.is_none() {
            self.payment_method.error = Some("Choose how to pay.".to_owned());
        }
        Some(Purchase {
            key: self.key.parse().ok()?,
            visitor,
            cart,
            items: Vec::new(),
            quoted_total: Some(self.quoted_total(currency)?),
            quoted_cart: Some(self.quoted_cart.clone()).filter(|digest| !digest.is_empty()),
            buyer: buyer?,
            payment_method: payment_method?,
            buy_again: self.buy_again,
            browser: Some(browser),
        })
    }

    fn buyer(&mut self) -> Option<Buyer> {
        self.email.error = typed::wrong_email(&self.email.value);
        self.name.error = typed::wrong_name(&self.name.value);
        check(&mut self.address, "Enter street and number.");
        check(&mut self.city, "Enter the city.");
        check(&mut self.postal_code, "Enter the postal code.");
        if !COUNTRIES
            .iter()
            .any(|(code, _)| *code == self.country.value)
        {
            self.country.error = Some("Choose a country.".to_owned());
        }
        let fields = [
            &self.email,
            &self.name,
            &self.address,
            &self.city,
            &self.postal_code,
            &self.country,
        ];
        fields
            .iter()
            .all(|field| field.error.is_none())
            .then(|| Buyer {
                email: self.email.value.clone(),
                name: self.name.value.clone(),
                address: self.address.value.clone(),
                city: self.city.value.clone(),
                postal_code: self.postal_code.value.clone(),
                country: self.country.value.clone(),
            })
    }

    /// The total that the form showed, if it can be one. All forms of a shop are in its currency.
    pub fn quoted_total(&self, currency: Currency) -> Option<Money> {
        let minor = self.quoted_total.parse().ok().filter(|minor| *minor > 0)?;
        Some(Money::new(minor, currency))
    }

    /// The country that was chosen, or nothing.
    pub fn country(&self) -> &str {
        &self.country.value
    }

    /// Whether what the page put into the form came back as something else, which nobody does by typing.
    pub fn is_tampered_with(&self, currency: Currency) -> bool {
        self.key.parse::<IdempotencyKey>().is_err() || self.quoted_total(currency).is_none()
    }

    /// The form on its page. A key that came with it stays: nothing was stored under it.
    pub fn view(self, currency: Currency) -> views::CheckoutPage {
        let key = self.key.parse().unwrap_or_else(|_| IdempotencyKey::fresh());
        views::CheckoutPage {
            idempotency_key: key.to_string(),
            email: self.email,
            name: self.name,
            address: self.address,
            city: self.city,
            postal_code: self.postal_code,
            country: self.country,
            countries: COUNTRIES.map(country).to_vec(),
            payment_method: self.payment_method,
            payment_methods: PaymentMethod::offered(currency).map(method).collect(),
            buy_again: self.buy_again,
            ..views::CheckoutPage::default()
        }
    }
}

fn choice(value: &str) -> views::Field {
    views::Field {
        value: value.to_owned(),
        ..views::Field::default()
    }
}

fn country((code, name): (&str, &str)) -> views::Country {
    views::Country {
        code: code.to_owned(),
        name: name.to_owned(),
    }
}

fn method(method: PaymentMethod) -> views::PaymentMethod {
    views::PaymentMethod {
        value: method.as_str().to_owned(),
        label: method.label.to_owned(),
        note: method.note.to_owned(),
    }
}

fn check(field: &mut views::Field, when_empty: &str) {
    field.error = typed::wrong_text(&field.value, field.chars_max, when_empty);
}
