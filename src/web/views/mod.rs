//! What the templates take: one struct a page, with everything already turned into text.
//!
//! A view knows nothing of databases, carts or providers. Its fields are strings, numbers and flags, money arrives as
//! it is read ("€24.90"), and what must never be said by mistake is worded here and in `templates/` once: a page whose
//! payment is undecided has no field that could make it say "failed".
//!
//! Text goes into the HTML through askama's escaping, always, and every attribute is quoted. The tests of each page
//! render it with hostile text in every field and look for what must not get through.

mod api;
mod cart;
mod catalog;
mod checkout;
mod error;
mod lab;
mod mailbox;
mod order;
mod status;

pub use api::{ApiPage, Example, Named, Operation, ProblemKind, Said};
pub use cart::{CartLine, CartPage};
pub use catalog::{CatalogPage, Product, ProductPage};
pub use checkout::{
    CheckoutPage, Country, EarlierPurchase, EarlierState, Field, PaymentMethod, TotalChange,
};
pub use error::{ErrorPage, Link};
pub use lab::{
    Arrow, CheckoutLink, Choice, Count, LabPage, LedgerLine, Part, RunLink, RunPage, Side,
    SourcePage, StagePage, Step, TrailPage,
};
pub use mailbox::{Letter, LetterPage, MailboxPage};
pub use order::{OrderPage, Refund};
pub use status::{Status, StatusPage, TooLate};

use super::assets::{self, Assets};

/// What every page has around it.
#[derive(Clone, Debug, Default)]
pub struct Chrome {
    /// The units in the visitor's cart, shown beside the link to it when there are any. None where nobody looked, as on a page
    /// about an error.
    pub cart_units: i64,
    /// Whether the mails that the shop sends can be looked at.
    pub has_mailbox: bool,
    /// Whether what is behind the shop can be looked at.
    pub has_lab: bool,
    /// Whether programs can buy here.
    pub has_api: bool,
}

impl Chrome {
    /// The address of a file of `static/`.
    pub fn asset(&self, path: &str) -> String {
        assets::url(path)
    }

    /// The address of a product's picture, or of the picture for all that have none.
    pub fn picture(&self, sku: &str) -> String {
        let own = format!("goods/{}.svg", sku.to_ascii_lowercase());
        if Assets::get(&own).is_some() {
            self.asset(&own)
        } else {
            self.asset("goods/any.svg")
        }
    }
}

/// So many units of one product, as they stand in a cart, a checkout and an order.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The product's SKU: letters, digits and hyphens, since it is part of addresses.
    pub sku: String,
    /// The product's name.
    pub name: String,
    /// How many units.
    pub quantity: i64,
    /// The price of one unit, such as "€4.90".
    pub unit_price: String,
    /// The price of all units, such as "€9.80".
    pub amount: String,
}

/// Tax that is included in a total.
#[derive(Clone, Debug, Default)]
pub struct Tax {
    /// The rate in percent: "19".
    pub rate: String,
    /// How much it is, such as "€3.98".
    pub amount: String,
}

#[cfg(test)]
mod contrast;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
