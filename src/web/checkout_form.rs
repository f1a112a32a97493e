//! The checkout form: what was typed, and whether it is a purchase.

use super::{fields::Fields, views};
use crate::{
    checkout::{
        Buyer, Checkout, IdempotencyKey, PaymentMethod, Purchase, purchase::PAYMENT_METHODS,
    },
    countries::COUNTRIES,
    ids::{CartId, VisitorId},
    mail,
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
            // RFC 5321, section 4.5.3.1.3, less the angle brackets of a path.
            email: text("email", 254),
            name: text("name", 100),
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
        currency: Currency,
    ) -> Option<Purchase> {
        let buyer = self.buyer();
        let payment_method: Option<PaymentMethod> = self.payment_method.value.parse().ok();
        if payment_method.is_none() {
            self.payment_method.error = Some("Choose how to pay.".to_owned());
        }
        Some(Purchase {
            key: self.key.parse().ok()?,
            visitor,
            cart,
            quoted_total: self.quoted_total(currency)?,
            quoted_cart: Some(self.quoted_cart.clone()).filter(|digest| !digest.is_empty()),
            buyer: buyer?,
            payment_method: payment_method?,
            buy_again: self.buy_again,
        })
    }

    fn buyer(&mut self) -> Option<Buyer> {
        check_email(&mut self.email);
        check(&mut self.name, "Enter your name.");
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
    pub fn view(self) -> views::CheckoutPage {
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
            payment_methods: PAYMENT_METHODS.map(method).to_vec(),
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
    let text = &field.value;
    field.error = if text.is_empty() {
        Some(when_empty.to_owned())
    } else if text.chars().count() > field.chars_max {
        Some(format!(
            "This is too long: {} characters at most.",
            field.chars_max
        ))
    } else if text.chars().any(char::is_control) {
        // A line break could become a header of a mail, and PostgreSQL stores no NUL.
        Some("This has characters that cannot be printed.".to_owned())
    } else {
        None
    };
}

/// Finds typing mistakes, not more: whether an address exists only a mail to it can tell.
fn check_email(field: &mut views::Field) {
    check(field, "Enter your e-mail address.");
    let well_formed = field.value.split_once('@').is_some_and(|(local, domain)| {
        let one_at = !domain.contains('@');
        let dotted =
            domain.split('.').count() > 1 && domain.split('.').all(|label| !label.is_empty());
        !local.is_empty() && one_at && dotted && !field.value.contains(char::is_whitespace)
    }) && mail::can_be_sent_to(&field.value);
    if field.error.is_none() && !well_formed {
        field.error = Some("Enter an e-mail address such as name@example.com.".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> Option<String> {
        let mut field = views::Field {
            value: text.to_owned(),
            error: None,
            chars_max: 254,
        };
        check_email(&mut field);
        field.error
    }

    #[test]
    fn an_address_has_one_at_and_a_domain() {
        for good in [
            "a@b.example",
            "o'neill+tag@mail.example.com",
            "köln@bücher.example",
        ] {
            assert_eq!(error_of(good), None, "{good}");
        }
        for bad in [
            "",
            "a",
            "a@b",
            "@b.example",
            "a@",
            "a@@b.example",
            "a b@c.example",
            "a@.b",
            "a@b.example\0",
            // No mail program could send to these.
            "a..b@example.com",
            "a@-x.example",
            "a,b@x.example",
            "a@[127.0.0.1]",
        ] {
            assert!(error_of(bad).is_some(), "{bad:?}");
        }
    }

    #[test]
    fn a_text_may_have_its_longest_length_and_no_more() {
        for (length, good) in [(100, true), (101, false)] {
            let mut field = views::Field {
                value: "ü".repeat(length),
                error: None,
                chars_max: 100,
            };
            check(&mut field, "Enter something.");
            assert_eq!(field.error.is_none(), good, "{length}");
        }
    }
}
