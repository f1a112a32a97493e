//! Ids are types of their own: a cart's id does not compile where a checkout's belongs.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $new:expr) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, sqlx::Type,
        )]
        #[sqlx(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A fresh one.
            #[expect(clippy::new_without_default, reason = "two calls differ, which a default must not")]
            pub fn new() -> Self {
                Self($new)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                Uuid::try_parse(text).map(Self)
            }
        }
    };
}

id!(
    /// Names one checkout. Version 7: rows of one time lie together in the index.
    CheckoutId,
    Uuid::now_v7()
);
id!(
    /// Names one refund.
    RefundId,
    Uuid::now_v7()
);
id!(
    /// Names one customer.
    CustomerId,
    Uuid::now_v7()
);
id!(
    /// Names one cart.
    CartId,
    Uuid::now_v7()
);
id!(
    /// Names one visitor of the shop, as far as a session cookie can tell. Version 4: nothing to guess.
    VisitorId,
    Uuid::new_v4()
);

impl CartId {
    /// The cart that follows this one, the same whoever asks: of two products that are added at once to a cart
    /// that was bought, both come into one new cart.
    #[must_use]
    pub fn next(self) -> Self {
        Self(derived("next cart", &[self.0.as_bytes()]))
    }
}

/// A UUID (version 8) that is the same for the same `parts`, whoever asks, and with another `label` another one.
pub(crate) fn derived(label: &str, parts: &[&[u8]]) -> Uuid {
    let mut digest = Sha256::new_with_prefix(label);
    for part in parts {
        digest.update(part);
    }
    let mut bytes = [0; 16];
    for (byte, of_digest) in bytes.iter_mut().zip(digest.finalize()) {
        *byte = of_digest;
    }
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}
