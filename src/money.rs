//! Money: an integer number of minor units, and its currency.
//!
//! Never a float, and never an amount whose currency one has to know from elsewhere. How many decimals a
//! currency has is asked in one place, [`Currency::exponent`]; a hard-coded 100 charges yen a hundredfold.

use std::fmt;

use rust_decimal::Decimal;

/// A currency the shop can sell in. Codes are ISO 4217, lower case as on the provider's wire.
///
/// The exponents are the provider's, which differ from ISO for a few currencies (none of these).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Currency {
    /// Euro.
    Eur,
    /// US dollar.
    Usd,
    /// Pound sterling.
    Gbp,
    /// Swiss franc.
    Chf,
    /// Yen: no decimals.
    Jpy,
    /// Kuwaiti dinar: three decimals.
    Kwd,
}

impl Currency {
    /// The three-letter code, lower case.
    pub fn code(self) -> &'static str {
        match self {
            Self::Eur => "eur",
            Self::Usd => "usd",
            Self::Gbp => "gbp",
            Self::Chf => "chf",
            Self::Jpy => "jpy",
            Self::Kwd => "kwd",
        }
    }

    /// How many decimals an amount has: 10 to this power minor units are one unit.
    pub fn exponent(self) -> u32 {
        match self {
            Self::Jpy => 0,
            Self::Eur | Self::Usd | Self::Gbp | Self::Chf => 2,
            Self::Kwd => 3,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Eur => "€",
            Self::Usd => "$",
            Self::Gbp => "£",
            Self::Chf => "CHF\u{a0}",
            Self::Jpy => "¥",
            Self::Kwd => "KWD\u{a0}",
        }
    }
}

/// An amount of money. Shown as people write it: `€24.90`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    /// Minor units: cents, yen, fils.
    pub minor: i64,
    /// What they are units of.
    pub currency: Currency,
}

impl Money {
    /// `minor` units of `currency`.
    pub fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// Reads an amount of `currency`: digits, and after a point at most as many more as the currency has decimals. Nothing is
    /// guessed and nothing is rounded.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, NotAnAmount> {
        let (units, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |digits: &str| {
            (1..=15).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
        };
        let amount: Option<Decimal> = text.parse().ok();
        let amount = amount.filter(|_| is_number(units) && is_number(fraction));
        let minor = amount.map(|units| units * Decimal::from(10_i64.pow(currency.exponent())));
        let minor = minor.filter(Decimal::is_integer);
        let minor = minor.and_then(|minor| i64::try_from(minor).ok());
        let minor = minor.ok_or(NotAnAmount(currency))?;
        Ok(Self { minor, currency })
    }

    /// The amount in whole units and their fraction, as people count.
    pub fn in_units(self) -> Decimal {
        Decimal::new(self.minor, self.currency.exponent())
    }

    /// The sum; `None` for two currencies, or when it no longer fits.
    pub fn plus(self, other: Self) -> Option<Self> {
        let minor = self.minor.checked_add(other.minor)?;
        (self.currency == other.currency).then_some(Self { minor, ..self })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.in_units();
        let sign = if amount.is_sign_negative() { "-" } else { "" };
        write!(f, "{sign}{}{}", self.currency.symbol(), amount.abs())
    }
}

/// The text is no amount of this currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an amount such as {}", Money::new(490, *.0).in_units())]
pub struct NotAnAmount(pub Currency);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_decimals_of_their_currency() {
        let cases = [
            (Currency::Eur, 2490, "€24.90"),
            (Currency::Eur, 500, "€5.00"),
            (Currency::Eur, -5, "-€0.05"),
            (Currency::Jpy, 500, "¥500"),
            (Currency::Kwd, 18_600, "KWD\u{a0}18.600"),
        ];
        for (currency, minor, shown) in cases {
            assert_eq!(Money::new(minor, currency).to_string(), shown);
        }
    }

    #[test]
    fn sums_refuse_to_mix_or_to_overflow() {
        let euro = Money::new(1, Currency::Eur);
        assert_eq!(euro.plus(euro), Some(Money::new(2, Currency::Eur)));
        assert_eq!(euro.plus(Money::new(1, Currency::Jpy)), None);
        assert_eq!(Money::new(i64::MAX, Currency::Eur).plus(euro), None);
    }
}
