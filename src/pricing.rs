//! What a purchase costs beside its goods, and how much of it is tax. Both are configured.
//!
//! Prices include tax, so a total is the same wherever the goods go; only what of it is tax depends on the country. Both
//! are written into the checkout's row, and a changed configuration changes no order.

use std::str::FromStr;

use crate::{
    countries::COUNTRIES,
    money::{Currency, IncludedTax, Money, NotARate, TaxRate},
};

/// How the shop prices.
#[derive(Clone, Debug)]
pub struct Pricing {
    /// What everything is sold in.
    pub currency: Currency,
    /// What shipping costs, whatever is bought and wherever it goes.
    pub shipping: Money,
    /// How much of a price is tax.
    pub tax_rates: TaxRates,
}

impl Pricing {
    /// What is paid for goods that cost `goods`; `None` when they are priced in another currency.
    pub fn total(&self, goods: Money) -> Option<Money> {
        goods.plus(self.shipping)
    }

    /// The tax in a total that is paid for goods that go to `country`; `None` when it has no rate.
    pub fn tax(&self, total: Money, country: &str) -> Option<IncludedTax> {
        let rate = self.tax_rates.of(country);
        (rate != TaxRate::NONE).then(|| IncludedTax {
            rate,
            amount: rate.included_in(total),
        })
    }
}

/// The rates of the countries that have one: `DE=19,AT=20`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxRates(Vec<(&'static str, TaxRate)>);

impl TaxRates {
    /// The standard rates of value-added tax where we send to, in 2026.
    pub const STANDARD: &str =
        "AT=20,BE=21,CH=8.1,DE=19,DK=25,ES=21,FR=20,GB=20,IE=23,IT=22,NL=21,SE=25";

    /// The rate of a country; of one that was not named [`TaxRate::NONE`].
    pub fn of(&self, country: &str) -> TaxRate {
        let known = self.0.iter().find(|(code, _)| *code == country);
        known.map_or(TaxRate::NONE, |(_, rate)| *rate)
    }
}

impl FromStr for TaxRates {
    type Err = UnusableRates;
    fn from_str(text: &str) -> Result<Self, UnusableRates> {
        let mut rates = Self::default();
        for pair in text
            .split(',')
            .map(str::trim)
            .filter(|pair| !pair.is_empty())
        {
            let (country, percent) = pair
                .split_once('=')
                .ok_or_else(|| UnusableRates::NoPair(pair.to_owned()))?;
            let known = COUNTRIES.iter().find(|(code, _)| *code == country);
            let (code, name) = known.ok_or_else(|| UnusableRates::Unknown(country.to_owned()))?;
            if rates.0.iter().any(|(named, _)| named == code) {
                return Err(UnusableRates::Twice(name));
            }
            let rate =
                TaxRate::parse(percent).map_err(|error| UnusableRates::NotARate(name, error))?;
            rates.0.push((code, rate));
        }
        Ok(rates)
    }
}

/// Why a list of rates is of no use.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableRates {
    /// A part of it is no pair.
    #[error("{0:?} is not a country and its rate, such as DE=19")]
    NoPair(String),
    /// A country that nothing is sent to.
    #[error("{0:?} is not the code of a country that we send to")]
    Unknown(String),
    /// A country with two rates.
    #[error("{0} has two rates")]
    Twice(&'static str),
    /// A rate that is none.
    #[error("{0}: {1}")]
    NotARate(&'static str, NotARate),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_country_that_we_send_to_has_a_standard_rate() {
        let rates: TaxRates = TaxRates::STANDARD.parse().expect("rates");
        for (code, name) in COUNTRIES {
            assert_ne!(rates.of(code), TaxRate::NONE, "{name}");
        }
        assert_eq!(rates.of("XX"), TaxRate::NONE);
    }

    #[test]
    fn a_list_names_countries_once_each() {
        let rates: TaxRates = "DE=7, CH=8.1,".parse().expect("rates");
        assert_eq!(rates.of("DE").to_string(), "7");
        assert_eq!(rates.of("AT"), TaxRate::NONE);
        assert_eq!("".parse(), Ok(TaxRates::default()));
        for (text, about) in [
            ("DE", "such as DE=19"),
            ("DE 19", "such as DE=19"),
            ("US=8", "\"US\" is not the code"),
            ("de=19", "\"de\" is not the code"),
            ("DE=19,DE=7", "Germany has two rates"),
            ("DE=-1", "Germany: not a percentage"),
            ("DE=", "Germany: not a percentage"),
            ("DE=1,9", "\"9\" is not a country and its rate"),
        ] {
            let said = text.parse::<TaxRates>().expect_err(text).to_string();
            assert!(said.contains(about), "{text}: {said}");
        }
    }
}
