//! Money: an integer number of minor units, and its currency.
//!
//! Never a float, and never an amount whose currency one has to know from elsewhere. How many decimals a
//! currency has is asked in one place, [`Currency::exponent`]; a hard-coded 100 charges yen a hundredfold.

mod currency;
mod limits;
mod tax;
mod typed;

use std::fmt;

use rust_decimal::Decimal;

pub use self::{
    currency::{CHARGE_MAX, Currency, UnknownCurrency},
    limits::NotChargeable,
    tax::{IncludedTax, NotARate, TaxRate},
    typed::NotAnAmount,
};

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

    /// The sum; `None` for two currencies, or when it no longer fits.
    pub fn plus(self, other: Self) -> Option<Self> {
        let minor = self.minor.checked_add(other.minor)?;
        (self.currency == other.currency).then_some(Self { minor, ..self })
    }

    /// What is left without `other`; `None` for two currencies, or when it no longer fits.
    pub fn minus(self, other: Self) -> Option<Self> {
        let minor = self.minor.checked_sub(other.minor)?;
        (self.currency == other.currency).then_some(Self { minor, ..self })
    }

    /// `minor` units of the currency of this `code`, as somebody else tells of them: as people write it, as far as we know the
    /// currency.
    pub fn told(minor: i64, code: &str) -> String {
        match code.parse() {
            Ok(currency) => Self::new(minor, currency).to_string(),
            Err(UnknownCurrency) => format!("{minor} minor units of {code:?}"),
        }
    }

    /// The amount in whole units and their fraction, as people count.
    pub fn in_units(self) -> Decimal {
        let units = Decimal::new(self.minor, self.currency.exponent());
        // Tax may come to a part of the smallest coin.
        let is_whole = self.currency.is_whole() && self.minor % self.currency.step() == 0;
        if is_whole { units.normalize() } else { units }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.in_units();
        let sign = if amount.is_sign_negative() { "-" } else { "" };
        write!(f, "{sign}{}{}", self.currency.symbol(), amount.abs())
    }
}

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
            (Currency::Huf, 171_500, "HUF\u{a0}1715.00"),
            // Hundredths to the provider, and nobody has ever seen one.
            (Currency::Isk, 49_000, "ISK\u{a0}490"),
            (Currency::Isk, 30_310, "ISK\u{a0}303.10"),
            (Currency::Isk, 550, "ISK\u{a0}5.50"),
            (Currency::Isk, 0, "ISK\u{a0}0"),
        ];
        for (currency, minor, shown) in cases {
            assert_eq!(Money::new(minor, currency).to_string(), shown);
            assert_eq!(Money::told(minor, currency.code()), shown);
        }
        assert_eq!(Money::told(5, "xxx"), "5 minor units of \"xxx\"");
    }

    #[test]
    fn sums_refuse_to_mix_or_to_overflow() {
        let euro = Money::new(1, Currency::Eur);
        assert_eq!(euro.plus(euro), Some(Money::new(2, Currency::Eur)));
        assert_eq!(euro.plus(Money::new(1, Currency::Jpy)), None);
        assert_eq!(Money::new(i64::MAX, Currency::Eur).plus(euro), None);
        assert_eq!(euro.minus(euro), Some(Money::new(0, Currency::Eur)));
        assert_eq!(euro.minus(Money::new(1, Currency::Jpy)), None);
        assert_eq!(Money::new(i64::MIN, Currency::Eur).minus(euro), None);
    }
}
