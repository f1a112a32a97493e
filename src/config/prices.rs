//! The flags that say how the shop prices.

use clap::Args;

use crate::{
    money::{Currency, Money, NotAnAmount},
    pricing::{Pricing, TaxRates},
};

/// The flag of every command that needs to know in what the goods are priced.
#[derive(Clone, Debug, Args)]
pub struct PricedIn {
    /// What everything is sold in, the code of a currency; the catalog must be priced in it
    #[arg(long, env = "CURRENCY", value_name = "CODE", default_value = "eur")]
    pub currency: Currency,
}

/// The flags of whatever sells.
#[derive(Clone, Debug, Args)]
pub struct Prices {
    /// The currency
    #[command(flatten)]
    pub priced_in: PricedIn,
    /// What shipping costs, tax included, whatever is bought and wherever it goes, such as 4.90
    #[arg(long, env = "SHIPPING", value_name = "AMOUNT", default_value = "0")]
    pub shipping: String,
    /// How many percent of tax are included in the prices, for each country. Countries that are not named have none
    #[arg(long, env = "TAX_RATES", value_name = "RATES", default_value = TaxRates::STANDARD)]
    pub tax_rates: TaxRates,
}

impl Prices {
    /// What they come to. The amount of one flag can be read only with the currency of another.
    pub fn pricing(&self) -> Result<Pricing, NotAnAmount> {
        let currency = self.priced_in.currency;
        Ok(Pricing {
            currency,
            shipping: Money::parse(&self.shipping, currency)?,
            tax_rates: self.tax_rates.clone(),
        })
    }
}
