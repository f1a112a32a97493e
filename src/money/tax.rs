//! Tax that is included in a price: shown, never added.
//!
//! It is computed once, from all that is paid, and rounded once. Three lines whose taxes each round up would come to a
//! cent more than the tax of the three, and then two pages of one order disagree.

use std::fmt;

use rust_decimal::{Decimal, RoundingStrategy};

use super::Money;

/// Decimals of a rate in percent.
const DECIMALS: u32 = 3;

/// A rate of tax: `19` or `8.1` percent. Stored as thousandths of a percent, which the database computes with too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct TaxRate(i64);

impl TaxRate {
    /// Nothing is included.
    pub const NONE: Self = Self(0);

    /// Reads a rate in percent, from 0 to 100.
    pub fn parse(percent: &str) -> Result<Self, NotARate> {
        let is_plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        let percent: Decimal = Some(percent)
            .filter(|text| text.bytes().all(is_plain))
            .and_then(|text| text.parse().ok())
            .ok_or(NotARate)?;
        let rate = (percent * Decimal::from(10_i64.pow(DECIMALS))).normalize();
        match i64::try_from(rate) {
            Ok(rate @ 0..=100_000) if percent.normalize().scale() <= DECIMALS => Ok(Self(rate)),
            _ => Err(NotARate),
        }
    }

    /// The tax that `gross` includes, rounded half away from zero: to the unit that the currency counts in.
    pub fn included_in(self, gross: Money) -> Money {
        let rate = Decimal::new(self.0, DECIMALS + 2);
        let tax = Decimal::from(gross.minor) * rate / (Decimal::ONE + rate);
        let tax = tax.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero);
        // No larger than what it is included in, which fits.
        Money::new(i64::try_from(tax).unwrap_or(gross.minor), gross.currency)
    }

    /// The tax in what is given back when of `before` there is `after` left: what the one includes less what the other
    /// does. However a purchase is given back, the taxes of the parts then add up to that of the whole.
    pub fn included_in_refund(self, before: Money, after: Money) -> Money {
        let (before, after) = (self.included_in(before), self.included_in(after));
        Money::new(before.minor - after.minor, before.currency)
    }
}

/// As people write it: `8.1`.
impl fmt::Display for TaxRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Decimal::new(self.0, DECIMALS).normalize().fmt(f)
    }
}

/// The text is no rate.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a percentage from 0 to 100 with three decimals at most, such as 19 or 8.1")]
pub struct NotARate;

/// Tax, and the rate by which it was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncludedTax {
    /// The rate at the time of the purchase.
    pub rate: TaxRate,
    /// How much of the total it is.
    pub amount: Money,
}

/// As it stands below a total: `including 19 % VAT: €3.98`.
impl fmt::Display for IncludedTax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "including {}\u{a0}% VAT: {}", self.rate, self.amount)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::{CHARGE_MAX, Currency};

    fn rate(percent: &str) -> TaxRate {
        TaxRate::parse(percent).expect(percent)
    }

    fn euro(minor: i64) -> Money {
        Money::new(minor, Currency::Eur)
    }

    #[test]
    fn a_rate_is_a_decimal_percentage() {
        for (text, shown) in [
            ("19", "19"),
            ("8.1", "8.1"),
            ("8.10", "8.1"),
            ("0", "0"),
            ("100", "100"),
            ("8.875", "8.875"),
        ] {
            assert_eq!(rate(text).to_string(), shown);
        }
        for text in [
            "",
            "-1",
            "+1",
            "100.001",
            "19%",
            "1,5",
            "1e1",
            "8.8755",
            "0.0001",
            "nineteen",
            "999999999999999999999999999999",
        ] {
            assert_eq!(TaxRate::parse(text), Err(NotARate), "{text}");
        }
    }

    #[test]
    fn the_tax_is_rounded_once_half_away_from_zero() {
        for (percent, gross, tax) in [
            ("19", 2490, 398), // 397.56…
            ("19", 1000, 160), // 159.66…
            ("8.1", 490, 37),  // 36.71…
            ("25", 50, 10),
            ("100", 1, 1), // a half
            ("100", 3, 2), // one and a half
            ("0", 2490, 0),
        ] {
            assert_eq!(
                rate(percent).included_in(euro(gross)),
                euro(tax),
                "{percent} % in {gross}"
            );
        }
    }

    /// 0.60 € at 19 % has 9.58 cents of tax, which round up to 10. Three of them have 28.7, which is 29, not 30.
    #[test]
    fn three_lines_that_round_up_do_not_make_a_cent() {
        let rate = rate("19");
        assert_eq!(rate.included_in(euro(60)), euro(10));
        assert_eq!(rate.included_in(euro(180)), euro(29));
    }

    #[test]
    fn thirds_of_ten_euro_have_all_of_its_tax() {
        let rate = rate("19");
        let left = [1000, 667, 334, 0].map(euro);
        let parts = left
            .windows(2)
            .map(|pair| rate.included_in_refund(pair[0], pair[1]).minor);
        assert_eq!(parts.collect::<Vec<_>>(), [54, 53, 53]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        /// The formula of the database's constraint is the same in whole numbers.
        #[test]
        fn the_tax_is_that_of_the_database(gross in 0..=CHARGE_MAX, millis in 0..=100_000_i64) {
            let tax = TaxRate(millis).included_in(euro(gross)).minor;
            prop_assert_eq!(tax, (2 * gross * millis + 100_000 + millis) / (2 * (100_000 + millis)));
            prop_assert!((0..=gross).contains(&tax));
        }

        #[test]
        fn the_taxes_of_all_refunds_add_up(
            gross in 1..=CHARGE_MAX,
            millis in 0..=100_000_i64,
            cuts in prop::collection::vec(0..=CHARGE_MAX, 0..9),
        ) {
            let rate = TaxRate(millis);
            let mut left: Vec<i64> = cuts.iter().map(|cut| cut % gross).collect();
            left.extend([0, gross]);
            left.sort_unstable_by(|a, b| b.cmp(a));
            let parts: Vec<i64> = left
                .windows(2)
                .map(|pair| rate.included_in_refund(euro(pair[0]), euro(pair[1])).minor)
                .collect();
            prop_assert!(parts.iter().all(|part| *part >= 0));
            prop_assert_eq!(parts.iter().sum::<i64>(), rate.included_in(euro(gross)).minor);
        }
    }
}
