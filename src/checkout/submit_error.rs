//! Why a form became no checkout: each variant is what somebody can do about it.

use super::{earlier::Earlier, limits::TooMany};
use crate::{
    catalog::Sku,
    db::Transient,
    money::{Money, NotChargeable},
};

/// Why there is no new checkout. Nothing was stored, held or charged, but for what [`Db`](Self::Db) leaves open.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The key was used for something else.
    #[error("This form was already used for a different purchase.")]
    KeyReused,
    /// The key was used by another visitor, of whom nothing is told.
    #[error("This form can't be used. Please start again from your cart.")]
    KeyOfAnother,
    /// Some of the goods that a client brought along are none of ours.
    #[error("We do not have all of these products.")]
    UnknownProducts(Vec<Sku>),
    /// There is nothing to buy, or nothing that has one price.
    #[error("Your cart is empty.")]
    CartEmpty,
    /// A price or the cart changed after the form was shown.
    #[error("The total has changed to {now}.")]
    TotalChanged {
        /// What it would cost now.
        now: Money,
    },
    /// Other goods of the same total are in the cart now.
    #[error("Your cart has changed.")]
    GoodsChanged,
    /// No card can be charged the total.
    #[error(transparent)]
    NotChargeable(#[from] NotChargeable),
    /// Too little is left of some products.
    #[error("Some products are sold out.")]
    OutOfStock(Vec<Short>),
    /// The visitor has purchases that must be seen before another one.
    #[error("You have an earlier purchase.")]
    BoughtBefore(Vec<Earlier>),
    /// Too many purchases were begun in this session, or from this address.
    #[error("Too many attempts to pay.")]
    TooMany(TooMany),
    /// The winner of the insert ended while we looked at it; another run of the phase decides.
    #[error("another request was faster")]
    Raced,
    /// The database did not do its part. Whether something was stored is unknown.
    #[error("the database failed")]
    Db(#[from] sqlx::Error),
}

impl Transient for SubmitError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Db(error) => error.is_transient(),
            Self::Raced => true,
            _ => false,
        }
    }
}

/// A product that there is too little of.
#[derive(Debug, PartialEq, Eq)]
pub struct Short {
    /// Which one.
    pub sku: Sku,
    /// Its name.
    pub name: String,
    /// How many could be had.
    pub left: i64,
}
