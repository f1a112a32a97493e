//! A purchase as it was asked for: parsed, valid, and named by the key of its form.

use std::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{PaymentMethod, limits::Subject};
use crate::{
    cart::Item,
    countries::country_name,
    customers,
    ids::{CartId, VisitorId, derived},
    money::Money,
    provider::Mandate,
};

/// One wish to buy one cart.
#[derive(Clone, Debug)]
pub struct Purchase {
    /// Names the wish, however often it arrives.
    pub key: IdempotencyKey,
    /// Who asks. A key belongs to the visitor who used it first.
    pub visitor: VisitorId,
    /// What is to be bought.
    pub cart: CartId,
    /// What is put into the cart first, which is a new one then: a client of the API brings its goods along. Nothing for a
    /// visitor, whose cart has them.
    pub items: Vec<Item>,
    /// The total that the form showed, or that the client expects. It is charged, or nothing is.
    pub quoted_total: Option<Money>,
    /// The [`digest`](crate::cart::digest) of the goods that the form showed, when the form carries it.
    pub quoted_cart: Option<String>,
    /// Who gets the goods and the mail.
    pub buyer: Buyer,
    /// How it is paid.
    pub payment_method: PaymentMethod,
    /// The customer was shown an earlier purchase and wants this one too.
    pub buy_again: bool,
    /// Where it came from. None: from a program that we gave a key, and whose purchases are not counted.
    pub browser: Option<Browser>,
}

/// What is known of a customer's browser. Not shown by `Debug`: no address belongs in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Browser {
    /// The address that it called from.
    pub address: IpAddr,
    /// What it calls itself.
    pub agent: String,
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Browser(…)")
    }
}

impl Purchase {
    /// How the customer agreed to a debit: by the form that they sent, or with whoever sent it for them.
    pub(super) fn mandate(&self) -> Option<Mandate<'_>> {
        let mandate = match &self.browser {
            Some(Browser { address, agent }) => Mandate::Online {
                address: *address,
                agent,
            },
            None => Mandate::Offline,
        };
        self.payment_method.needs_mandate().then_some(mandate)
    }

    /// Whom it counts against.
    pub(super) fn subjects(&self) -> Vec<Subject> {
        let visitor = |_: &Browser| Subject::Visitor(self.visitor);
        let address = |browser: &Browser| Subject::behind(browser.address);
        let browser = self.browser.as_ref();
        browser
            .map(visitor)
            .into_iter()
            .chain(browser.and_then(address))
            .collect()
    }

    /// What the customer agreed to, in 64 hexadecimal digits: the goods and total of the form, the e-mail
    /// address and the payment method. The same key with another fingerprint is refused.
    ///
    /// It is taken from the form alone, never from the cart of the moment: a form that arrives again after its
    /// cart was used up has the same fingerprint as before. A changed name or address counts as the same
    /// purchase; the first one stands as it was stored. Not so for a client of the API, which nobody types into: it has a
    /// new wish when anything of it is different.
    pub fn fingerprint(&self) -> String {
        let total = self.quoted_total;
        let mut agreed = vec![
            self.quoted_cart.clone().unwrap_or_default(),
            total.map(|it| it.minor.to_string()).unwrap_or_default(),
            total
                .map(|it| it.currency.code())
                .unwrap_or_default()
                .to_owned(),
            customers::fold(&self.buyer.email),
            self.payment_method.as_str().to_owned(),
        ];
        if !self.items.is_empty() {
            agreed.push(self.buyer.name.clone());
            agreed.push(self.buyer.country.clone());
            let goods = self.items.iter();
            agreed.extend(goods.map(|item| format!("{} {}", item.quantity, item.sku)));
        }
        // What was stored had a digest of ours, or none, and no part with a line break: no other list makes its text.
        hex::encode(Sha256::digest(agreed.join("\n")))
    }
}

/// Who buys, and where the goods go, as far as that is known: a client of the API knows its own customers, and tells a name
/// and an e-mail address. Not shown by `Debug`: no address belongs in a log.
#[derive(Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Buyer {
    /// The e-mail address.
    pub email: String,
    /// The name on the parcel.
    pub name: String,
    /// Street and number.
    pub address: String,
    /// City.
    pub city: String,
    /// Postal code.
    pub postal_code: String,
    /// Country, two capital letters (ISO 3166-1).
    pub country: String,
}

impl Buyer {
    /// The address as it stands on a parcel, line by line.
    pub fn address_lines(&self) -> Vec<String> {
        let lines = [
            self.name.clone(),
            self.address.clone(),
            format!("{} {}", self.postal_code, self.city),
            country_name(&self.country).to_owned(),
        ];
        let is_known = |line: &String| !line.trim().is_empty();
        lines.into_iter().filter(is_known).collect()
    }
}

impl fmt::Debug for Buyer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Buyer(…)")
    }
}

/// The key hidden in a rendered form: it names one wish to buy, however often it arrives.
///
/// Any UUID is accepted but the nil one; the shop's own forms carry version 4. Quotes around it are allowed,
/// as the `Idempotency-Key` header of the IETF draft has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type)]
#[sqlx(transparent)]
pub struct IdempotencyKey(Uuid);

impl IdempotencyKey {
    /// A key for a form that is being rendered.
    pub fn fresh() -> Self {
        Self(Uuid::new_v4())
    }

    /// The key under which the key of an API's client is stored. Two clients that draw the same one never meet.
    #[must_use]
    pub fn of_client(self, client: VisitorId) -> Self {
        let client = Uuid::from(client);
        Self(derived(
            "key of a client",
            &[client.as_bytes(), self.0.as_bytes()],
        ))
    }
}

impl FromStr for IdempotencyKey {
    type Err = KeyError;
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bare = text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap_or(text);
        let key = Uuid::try_parse(bare).map_err(|_| KeyError::NotAUuid)?;
        if key.is_nil() {
            return Err(KeyError::Nil);
        }
        Ok(Self(key))
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// Why a text is no key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is not a UUID in any of its spellings.
    #[error("the key is not a UUID")]
    NotAUuid,
    /// It is the UUID of zeros, which a client that forgot to draw one sends.
    #[error("the key is the nil UUID")]
    Nil,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_uuid_quoted_or_bare() {
        let text = "8e03978e-40d5-43dd-bc93-6894a57f9324";
        let bare: IdempotencyKey = text.parse().expect("bare");
        let quoted: IdempotencyKey = format!("\"{text}\"").parse().expect("quoted");
        assert_eq!(bare, quoted);
        assert_eq!(bare.to_string(), text);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "1", "\"", "8e03978e-40d5-43dd-bc93-6894a57f932", "\0"] {
            assert_eq!(
                text.parse::<IdempotencyKey>(),
                Err(KeyError::NotAUuid),
                "{text:?}"
            );
        }
        let nil = "00000000-0000-0000-0000-000000000000";
        assert_eq!(nil.parse::<IdempotencyKey>(), Err(KeyError::Nil));
    }

    #[test]
    fn nothing_of_who_buys_gets_into_a_log() {
        let buyer = Buyer {
            email: "ada@example.org".to_owned(),
            name: "Ada".to_owned(),
            address: "1 Road".to_owned(),
            city: "Town".to_owned(),
            postal_code: "12345".to_owned(),
            country: "DE".to_owned(),
        };
        assert_eq!(format!("{buyer:?}"), "Buyer(…)");
        let browser = Browser {
            address: [192, 0, 2, 1].into(),
            agent: "a browser".to_owned(),
        };
        assert_eq!(format!("{browser:?}"), "Browser(…)");
    }
}
