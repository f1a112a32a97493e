//! Amounts as people type them: `3.33`, or `500` of a currency without decimals.

use rust_decimal::Decimal;

use super::{CHARGE_MAX, Currency, Money};

/// Longer than any amount that can be charged, with its decimals.
const CHARS_MAX: usize = 20;

impl Money {
    /// Reads an amount of `currency`: digits, and after a point at most as many more as the currency has decimals.
    ///
    /// Nothing is guessed and nothing is rounded. A comma is a decimal point to some and divides thousands to others, so
    /// it is refused. None is negative; nothing at all is an amount too.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, NotAnAmount> {
        let text = text.trim();
        let (units, fraction) = match text.split_once('.') {
            Some((units, fraction)) => (units, Some(fraction)),
            None => (text, None),
        };
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(units) || !fraction.is_none_or(is_number) {
            return Err(NotAnAmount::NotANumber { currency });
        }
        let decimals = if currency.is_whole() {
            0
        } else {
            currency.exponent()
        };
        if fraction.is_some_and(|fraction| fraction.len() > usize::try_from(decimals).unwrap_or(0))
        {
            return Err(NotAnAmount::TooFine { currency });
        }
        if text.len() > CHARS_MAX {
            return Err(NotAnAmount::TooLarge { currency });
        }
        let units: Decimal = text
            .parse()
            .map_err(|_| NotAnAmount::TooLarge { currency })?;
        let minor = units * Decimal::from(10_i64.pow(currency.exponent()));
        let minor = i64::try_from(minor)
            .ok()
            .filter(|minor| *minor <= CHARGE_MAX);
        let amount = Self::new(minor.ok_or(NotAnAmount::TooLarge { currency })?, currency);
        if amount.minor % currency.step() != 0 {
            return Err(NotAnAmount::BetweenSteps { currency });
        }
        Ok(amount)
    }
}

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnAmount {
    /// It is empty, or has something in it that is no digit.
    #[error("not an amount such as {}", example(*currency))]
    NotANumber {
        /// Of which it should have been an amount.
        currency: Currency,
    },
    /// It has more decimals than there are.
    #[error("too many decimals: an amount of {currency} is written like {}", example(*currency))]
    TooFine {
        /// Of which it should have been an amount.
        currency: Currency,
    },
    /// The provider takes thousandths in tens.
    #[error("the last of three decimals must be 0 in {currency}")]
    BetweenSteps {
        /// Of which it should have been an amount.
        currency: Currency,
    },
    /// No card can be charged so much.
    #[error("too much: {} is the most", Money::new(CHARGE_MAX, *currency).steps())]
    TooLarge {
        /// Of which it should have been an amount.
        currency: Currency,
    },
}

/// An amount that every currency can show.
fn example(currency: Currency) -> Decimal {
    Money::new(49 * 10_i64.pow(currency.exponent()) / 10, currency)
        .steps()
        .in_units()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_to_the_unit() {
        let cases = [
            ("3.33", Currency::Eur, 333),
            ("3.3", Currency::Eur, 330),
            (" 3 ", Currency::Eur, 300),
            ("0", Currency::Eur, 0),
            ("007", Currency::Eur, 700),
            ("999999.99", Currency::Eur, 99_999_999),
            ("500", Currency::Jpy, 500),
            ("99999999", Currency::Jpy, 99_999_999),
            ("18.600", Currency::Kwd, 18_600),
            ("18.6", Currency::Kwd, 18_600),
            ("490", Currency::Isk, 49_000),
            ("175.00", Currency::Huf, 17_500),
        ];
        for (text, currency, minor) in cases {
            assert_eq!(
                Money::parse(text, currency),
                Ok(Money::new(minor, currency)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        for text in [
            "", ".", "3.", ".5", "-1", "+1", "1e3", "1,5", "1.000,00", "1_000", "€3", "3 33", "٣",
            "3.-3", "\0",
        ] {
            let refused = Money::parse(text, Currency::Eur).expect_err(text);
            assert!(
                matches!(refused, NotAnAmount::NotANumber { .. }),
                "{text}: {refused}"
            );
        }
        for (text, currency) in [
            ("0.001", Currency::Eur),
            ("3.330", Currency::Eur),
            ("500.0", Currency::Jpy),
            ("0.0005", Currency::Bhd),
            ("490.00", Currency::Isk),
        ] {
            let refused = Money::parse(text, currency).expect_err(text);
            assert_eq!(refused, NotAnAmount::TooFine { currency }, "{text}");
        }
        let currency = Currency::Bhd;
        assert_eq!(
            Money::parse("0.005", currency),
            Err(NotAnAmount::BetweenSteps { currency })
        );
    }

    #[test]
    fn what_no_card_can_pay_is_refused() {
        let currency = Currency::Eur;
        let long = "9".repeat(100);
        for text in ["1000000", "1000000.00", "9223372036854775807", &long] {
            assert_eq!(
                Money::parse(text, currency),
                Err(NotAnAmount::TooLarge { currency }),
                "{text}"
            );
        }
        assert!(Money::parse("100000000", Currency::Jpy).is_err());
    }

    #[test]
    fn a_refusal_says_how_it_is_written() {
        let said = |text, currency| Money::parse(text, currency).expect_err(text).to_string();
        assert_eq!(said("1,5", Currency::Eur), "not an amount such as 4.90");
        assert_eq!(said("1,5", Currency::Jpy), "not an amount such as 4");
        assert_eq!(
            said("0.001", Currency::Eur),
            "too many decimals: an amount of EUR is written like 4.90"
        );
        assert_eq!(
            said("1000000", Currency::Eur),
            "too much: €999999.99 is the most"
        );
        assert_eq!(
            said("9999999", Currency::Isk),
            "too much: ISK\u{a0}999999 is the most"
        );
    }

    /// What is shown reads back.
    #[test]
    fn every_currency_reads_what_it_shows() {
        for currency in Currency::ALL {
            for minor in [0, currency.minimum(), 1230 * currency.step()] {
                let amount = Money::new(minor, *currency);
                let shown = amount.in_units().to_string();
                assert_eq!(Money::parse(&shown, *currency), Ok(amount), "{shown}");
            }
        }
    }
}
