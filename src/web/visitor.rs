//! Who is asking, as far as a cookie can tell.

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::{Deserialize, Serialize};
use tower_sessions::Session;

use super::{error::PageError, views::Chrome};
use crate::{
    app::App,
    cart,
    ids::{CartId, VisitorId},
};

/// Under which name the session holds the visitor, and nothing else.
const NAME: &str = "visitor";

/// A visitor of the shop.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Visitor {
    /// Purchases, and the keys of their forms, belong to it.
    pub id: VisitorId,
    /// The cart that was used last, open or bought.
    pub cart: Option<CartId>,
}

impl Visitor {
    /// Somebody we have not seen. Nothing is stored until there is something to remember.
    fn stranger() -> Self {
        Self {
            id: VisitorId::new(),
            cart: None,
        }
    }

    /// Remembers `cart` as the one in use.
    pub async fn takes(self, cart: CartId, session: &Session) -> Result<(), PageError> {
        if self.cart == Some(cart) {
            return Ok(());
        }
        let visitor = Self {
            cart: Some(cart),
            ..self
        };
        Ok(session.insert(NAME, visitor).await?)
    }

    /// What is around each page of this visitor's.
    pub async fn chrome(&self, app: &App) -> Result<Chrome, PageError> {
        let cart_units = match self.cart {
            Some(cart) => cart::units(&app.till.db, cart).await?,
            None => 0,
        };
        Ok(Self::chrome_of(app, cart_units))
    }

    /// The same, of a visitor with so much in the cart.
    pub fn chrome_of(app: &App, cart_units: i64) -> Chrome {
        Chrome {
            cart_units,
            has_mailbox: app.mailbox.is_some(),
            has_lab: app.lab.is_some(),
            has_api: !app.api_keys.is_empty(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        let known = match parts.extensions.get::<Session>() {
            Some(session) => session.get(NAME).await?,
            None => None,
        };
        Ok(known.unwrap_or_else(Self::stranger))
    }
}
