//! What a card can be charged. The provider refuses the rest, so the shop does first: before anything is held for it.

use super::{CHARGE_MAX, Money};

impl Money {
    /// Whether a card can be charged this.
    pub fn check_chargeable(self) -> Result<(), NotChargeable> {
        let of = |minor| Self::new(minor, self.currency);
        if self.minor < self.currency.minimum() {
            let least = of(self.currency.minimum());
            return Err(NotChargeable::TooLittle {
                amount: self,
                least,
            });
        }
        if self.minor > CHARGE_MAX {
            let most = of(CHARGE_MAX).steps();
            return Err(NotChargeable::TooMuch { amount: self, most });
        }
        if self.steps() != self {
            let step = of(self.currency.step());
            return Err(NotChargeable::BetweenSteps { amount: self, step });
        }
        Ok(())
    }

    /// The amount less what is not a whole step of its currency.
    pub(super) fn steps(self) -> Self {
        let Self { minor, currency } = self;
        Self::new(minor - minor % currency.step(), currency)
    }
}

/// Why no card can be charged an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotChargeable {
    /// It is below the provider's minimum.
    #[error("The total is {amount}, and a card can pay {least} at least.")]
    TooLittle {
        /// What it comes to.
        amount: Money,
        /// The smallest charge.
        least: Money,
    },
    /// It is beyond the provider's maximum.
    #[error("The total is {amount}, and a card can pay {most} at most.")]
    TooMuch {
        /// What it comes to.
        amount: Money,
        /// The largest charge.
        most: Money,
    },
    /// There is no coin for it.
    #[error("The total is {amount}, and a card can pay multiples of {step} only.")]
    BetweenSteps {
        /// What it comes to.
        amount: Money,
        /// The smallest difference between two charges.
        step: Money,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Currency;

    #[test]
    fn amounts_are_refused_one_beyond_each_limit() {
        let is_chargeable =
            |minor, currency| Money::new(minor, currency).check_chargeable().is_ok();
        for (currency, least) in [
            (Currency::Eur, 50),
            (Currency::Usd, 50),
            (Currency::Gbp, 30),
            (Currency::Jpy, 50),
            (Currency::Krw, 50),
            (Currency::Huf, 17_500),
            (Currency::Vnd, 1),
            (Currency::Kwd, 10),
        ] {
            let step = currency.step();
            assert!(is_chargeable(least, currency), "{currency}");
            assert!(!is_chargeable(least - step, currency), "{currency}");
            assert!(!is_chargeable(-least, currency), "{currency}");
            let most = CHARGE_MAX - CHARGE_MAX % step;
            assert!(is_chargeable(most, currency), "{currency}");
            assert!(!is_chargeable(most + step, currency), "{currency}");
        }
    }

    #[test]
    fn a_fraction_of_the_smallest_coin_is_refused() {
        let said = |minor, currency| {
            let refused = Money::new(minor, currency).check_chargeable();
            refused
                .expect_err("refused")
                .to_string()
                .replace('\u{a0}', " ")
        };
        assert_eq!(
            said(1235, Currency::Bhd),
            "The total is BHD 1.235, and a card can pay multiples of BHD 0.010 only."
        );
        assert_eq!(
            said(550, Currency::Isk),
            "The total is ISK 5.50, and a card can pay multiples of ISK 1 only."
        );
        assert_eq!(
            said(1, Currency::Krw),
            "The total is ₩1, and a card can pay ₩50 at least."
        );
    }
}
