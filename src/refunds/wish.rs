//! A refund as somebody asks for it: parsed, valid, and named by its key.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{checkout::IdempotencyKey, orders::OrderNumber};

/// One wish to give something back of what was paid for an order.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Names the wish, however often it arrives.
    pub key: IdempotencyKey,
    /// Who asks. A key belongs to whoever used it first.
    pub requester: Requester,
    /// The order.
    pub order: OrderNumber,
    /// How much, in minor units of the order's currency. `None`: all that is left.
    pub amount_minor: Option<i64>,
    /// What was left when the form was shown, in the same units, if there was a form. When that has changed, nothing is done.
    pub left_shown_minor: Option<i64>,
    /// Whether the order's goods go back on the shelf once the money is given back. Only with all that is left: of a part
    /// nobody could say which goods it is for.
    pub restock: bool,
    /// Why, for whoever looks at it later.
    pub reason: Option<Reason>,
}

impl Wish {
    /// What is asked for, in 64 hexadecimal digits: the order, the amount, and what becomes of the goods. The same key with
    /// another fingerprint is refused. With another reason it is the same wish; the first one stands as it was stored.
    pub fn fingerprint(&self) -> String {
        let amount = self.amount_minor.map_or_else(
            || "all that is left".to_owned(),
            |amount| amount.to_string(),
        );
        let goods = if self.restock { "restock" } else { "" };
        // No part has a line break: no other list makes the same text.
        let asked = [self.order.as_str(), &amount, goods];
        hex::encode(Sha256::digest(asked.join("\n")))
    }
}

/// Who asks for a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requester {
    /// Somebody at the shop's own pages.
    Operator,
    /// A program, by the id of its key, which is not the key itself.
    ApiKey(Uuid),
}

/// As it is stored: a word, and the key's id.
impl fmt::Display for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str("operator"),
            Self::ApiKey(id) => write!(f, "api-key {}", id.hyphenated()),
        }
    }
}

/// Why something is given back: a line that somebody has typed.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct Reason(String);

impl Reason {
    /// The longest.
    pub const CHARS_MAX: usize = 200;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Reason {
    type Err = NotAReason;
    fn from_str(text: &str) -> Result<Self, NotAReason> {
        let chars = text.chars().count();
        let is_a_line = !text.contains(char::is_control) && text.trim() == text;
        if is_a_line && (1..=Self::CHARS_MAX).contains(&chars) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAReason)
        }
    }
}

/// The text is empty, too long, or more than one line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reason is one line of at most {} characters", Reason::CHARS_MAX)]
pub struct NotAReason;

#[cfg(test)]
mod tests {
    use super::*;

    fn wish() -> Wish {
        Wish {
            key: IdempotencyKey::fresh(),
            requester: Requester::Operator,
            order: "7K3M-9QXT-2P".parse().expect("a number"),
            amount_minor: Some(490),
            left_shown_minor: Some(490),
            restock: false,
            reason: None,
        }
    }

    #[test]
    fn the_fingerprint_tells_wishes_apart_and_not_how_they_were_sent() {
        let wished = wish().fingerprint();
        let others = [
            Wish {
                amount_minor: Some(49),
                ..wish()
            },
            Wish {
                amount_minor: None,
                ..wish()
            },
            Wish {
                restock: true,
                ..wish()
            },
            Wish {
                order: "7K3M-9QXT-2Q".parse().expect("a number"),
                ..wish()
            },
        ];
        for other in others {
            assert_ne!(other.fingerprint(), wished, "{other:?}");
        }
        let same = Wish {
            left_shown_minor: None,
            reason: "broken".parse().ok(),
            ..wish()
        };
        assert_eq!(same.fingerprint(), wished);
    }

    #[test]
    fn a_reason_is_one_line_and_not_too_long() {
        let longest = "ä".repeat(Reason::CHARS_MAX);
        for text in ["broken", &longest] {
            assert_eq!(text.parse::<Reason>().expect(text).as_str(), text);
        }
        for text in ["", " ", "a ", "a\nb", "a\0b", &format!("{longest}ä")] {
            assert_eq!(text.parse::<Reason>(), Err(NotAReason), "{text:?}");
        }
    }
}
