//! The currencies that the provider can charge: how many decimals each has, and what no card can be charged in it.
//!
//! One table, since each of these figures is wrong somewhere when it is guessed. The decimals are the provider's, not
//! those of ISO 4217: `isk` and `ugx` have none there, and are hundredths here for old times' sake; `huf` and `twd` are
//! hundredths in charges and whole units in payouts only. <https://docs.stripe.com/currencies>

use std::{fmt, str::FromStr};

/// The most that one charge may be, in minor units of any currency: the eight digits of the provider's reference.
pub const CHARGE_MAX: i64 = 99_999_999;

/// What is known of a currency.
struct Facts {
    code: &'static str,
    /// 10 to this power minor units are one unit.
    decimals: u32,
    /// Amounts are multiples of so many minor units: thousandths end in 0, and of some currencies there are no cents.
    step: i64,
    /// The smallest charge, in minor units. The provider has one in the currencies that it pays out in.
    minimum: i64,
    /// What stands before an amount, as English has it; the code where English has none.
    symbol: &'static str,
}

macro_rules! currencies {
    ($($name:ident $code:literal $decimals:literal $step:literal $minimum:literal $symbol:literal)*) => {
        /// A currency the shop can sell in, by its ISO 4217 code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, sqlx::Type)]
        #[sqlx(type_name = "text", rename_all = "lowercase")]
        #[expect(missing_docs, reason = "each name is a code of ISO 4217")]
        pub enum Currency {
            $($name),*
        }

        impl Currency {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            fn facts(self) -> Facts {
                match self {
                    $(Self::$name => Facts {
                        code: $code,
                        decimals: $decimals,
                        step: $step,
                        minimum: $minimum,
                        symbol: $symbol,
                    }),*
                }
            }
        }
    };
}

currencies! {
    // code, decimals, step, minimum, symbol
    Aed "aed" 2   1   200 "AED\u{a0}"
    Afn "afn" 2   1     1 "AFN\u{a0}"
    All "all" 2   1     1 "ALL\u{a0}"
    Amd "amd" 2   1     1 "AMD\u{a0}"
    Ang "ang" 2   1     1 "ANG\u{a0}"
    Aoa "aoa" 2   1     1 "AOA\u{a0}"
    Ars "ars" 2   1     1 "ARS\u{a0}"
    Aud "aud" 2   1    50 "A$"
    Awg "awg" 2   1     1 "AWG\u{a0}"
    Azn "azn" 2   1     1 "AZN\u{a0}"
    Bam "bam" 2   1     1 "BAM\u{a0}"
    Bbd "bbd" 2   1     1 "BBD\u{a0}"
    Bdt "bdt" 2   1     1 "BDT\u{a0}"
    Bgn "bgn" 2   1     1 "BGN\u{a0}"
    Bhd "bhd" 3  10    10 "BHD\u{a0}"
    Bif "bif" 0   1     1 "BIF\u{a0}"
    Bmd "bmd" 2   1     1 "BMD\u{a0}"
    Bnd "bnd" 2   1     1 "BND\u{a0}"
    Bob "bob" 2   1     1 "BOB\u{a0}"
    Brl "brl" 2   1    50 "R$"
    Bsd "bsd" 2   1     1 "BSD\u{a0}"
    Bwp "bwp" 2   1     1 "BWP\u{a0}"
    Byn "byn" 2   1     1 "BYN\u{a0}"
    Bzd "bzd" 2   1     1 "BZD\u{a0}"
    Cad "cad" 2   1    50 "CA$"
    Cdf "cdf" 2   1     1 "CDF\u{a0}"
    Chf "chf" 2   1    50 "CHF\u{a0}"
    Clp "clp" 0   1     1 "CLP\u{a0}"
    Cny "cny" 2   1     1 "CN¥"
    Cop "cop" 2   1     1 "COP\u{a0}"
    Crc "crc" 2   1     1 "CRC\u{a0}"
    Cve "cve" 2   1     1 "CVE\u{a0}"
    Czk "czk" 2   1  1500 "CZK\u{a0}"
    Djf "djf" 0   1     1 "DJF\u{a0}"
    Dkk "dkk" 2   1   250 "DKK\u{a0}"
    Dop "dop" 2   1     1 "DOP\u{a0}"
    Dzd "dzd" 2   1     1 "DZD\u{a0}"
    Egp "egp" 2   1     1 "EGP\u{a0}"
    Etb "etb" 2   1     1 "ETB\u{a0}"
    Eur "eur" 2   1    50 "€"
    Fjd "fjd" 2   1     1 "FJD\u{a0}"
    Fkp "fkp" 2   1     1 "FKP\u{a0}"
    Gbp "gbp" 2   1    30 "£"
    Gel "gel" 2   1     1 "GEL\u{a0}"
    Gip "gip" 2   1     1 "GIP\u{a0}"
    Gmd "gmd" 2   1     1 "GMD\u{a0}"
    Gnf "gnf" 0   1     1 "GNF\u{a0}"
    Gtq "gtq" 2   1     1 "GTQ\u{a0}"
    Gyd "gyd" 2   1     1 "GYD\u{a0}"
    Hkd "hkd" 2   1   400 "HK$"
    Hnl "hnl" 2   1     1 "HNL\u{a0}"
    Htg "htg" 2   1     1 "HTG\u{a0}"
    Huf "huf" 2   1 17500 "HUF\u{a0}"
    Idr "idr" 2   1     1 "IDR\u{a0}"
    Ils "ils" 2   1     1 "₪"
    Inr "inr" 2   1    50 "₹"
    Isk "isk" 2 100   100 "ISK\u{a0}"
    Jmd "jmd" 2   1     1 "JMD\u{a0}"
    Jod "jod" 3  10    10 "JOD\u{a0}"
    Jpy "jpy" 0   1    50 "¥"
    Kes "kes" 2   1     1 "KES\u{a0}"
    Kgs "kgs" 2   1     1 "KGS\u{a0}"
    Khr "khr" 2   1     1 "KHR\u{a0}"
    Kmf "kmf" 0   1     1 "KMF\u{a0}"
    Krw "krw" 0   1    50 "₩"
    Kwd "kwd" 3  10    10 "KWD\u{a0}"
    Kyd "kyd" 2   1     1 "KYD\u{a0}"
    Kzt "kzt" 2   1     1 "KZT\u{a0}"
    Lak "lak" 2   1     1 "LAK\u{a0}"
    Lbp "lbp" 2   1     1 "LBP\u{a0}"
    Lkr "lkr" 2   1     1 "LKR\u{a0}"
    Lrd "lrd" 2   1     1 "LRD\u{a0}"
    Lsl "lsl" 2   1     1 "LSL\u{a0}"
    Mad "mad" 2   1     1 "MAD\u{a0}"
    Mdl "mdl" 2   1     1 "MDL\u{a0}"
    Mga "mga" 0   1     1 "MGA\u{a0}"
    Mkd "mkd" 2   1     1 "MKD\u{a0}"
    Mmk "mmk" 2   1     1 "MMK\u{a0}"
    Mnt "mnt" 2   1     1 "MNT\u{a0}"
    Mop "mop" 2   1     1 "MOP\u{a0}"
    Mur "mur" 2   1     1 "MUR\u{a0}"
    Mvr "mvr" 2   1     1 "MVR\u{a0}"
    Mwk "mwk" 2   1     1 "MWK\u{a0}"
    Mxn "mxn" 2   1  1000 "MX$"
    Myr "myr" 2   1   200 "MYR\u{a0}"
    Mzn "mzn" 2   1     1 "MZN\u{a0}"
    Nad "nad" 2   1     1 "NAD\u{a0}"
    Ngn "ngn" 2   1     1 "NGN\u{a0}"
    Nio "nio" 2   1     1 "NIO\u{a0}"
    Nok "nok" 2   1   300 "NOK\u{a0}"
    Npr "npr" 2   1     1 "NPR\u{a0}"
    Nzd "nzd" 2   1    50 "NZ$"
    Omr "omr" 3  10    10 "OMR\u{a0}"
    Pab "pab" 2   1     1 "PAB\u{a0}"
    Pen "pen" 2   1     1 "PEN\u{a0}"
    Pgk "pgk" 2   1     1 "PGK\u{a0}"
    Php "php" 2   1     1 "₱"
    Pkr "pkr" 2   1     1 "PKR\u{a0}"
    Pln "pln" 2   1   200 "PLN\u{a0}"
    Pyg "pyg" 0   1     1 "PYG\u{a0}"
    Qar "qar" 2   1     1 "QAR\u{a0}"
    Ron "ron" 2   1   200 "RON\u{a0}"
    Rsd "rsd" 2   1     1 "RSD\u{a0}"
    Rub "rub" 2   1     1 "RUB\u{a0}"
    Rwf "rwf" 0   1     1 "RWF\u{a0}"
    Sar "sar" 2   1     1 "SAR\u{a0}"
    Sbd "sbd" 2   1     1 "SBD\u{a0}"
    Scr "scr" 2   1     1 "SCR\u{a0}"
    Sek "sek" 2   1   300 "SEK\u{a0}"
    Sgd "sgd" 2   1    50 "SGD\u{a0}"
    Shp "shp" 2   1     1 "SHP\u{a0}"
    Sle "sle" 2   1     1 "SLE\u{a0}"
    Sos "sos" 2   1     1 "SOS\u{a0}"
    Srd "srd" 2   1     1 "SRD\u{a0}"
    Std "std" 2   1     1 "STD\u{a0}"
    Szl "szl" 2   1     1 "SZL\u{a0}"
    Thb "thb" 2   1  1000 "THB\u{a0}"
    Tjs "tjs" 2   1     1 "TJS\u{a0}"
    Tnd "tnd" 3  10    10 "TND\u{a0}"
    Top "top" 2   1     1 "TOP\u{a0}"
    Try "try" 2   1     1 "TRY\u{a0}"
    Ttd "ttd" 2   1     1 "TTD\u{a0}"
    Twd "twd" 2   1     1 "NT$"
    Tzs "tzs" 2   1     1 "TZS\u{a0}"
    Uah "uah" 2   1     1 "UAH\u{a0}"
    Ugx "ugx" 2 100   100 "UGX\u{a0}"
    Usd "usd" 2   1    50 "$"
    Uyu "uyu" 2   1     1 "UYU\u{a0}"
    Uzs "uzs" 2   1     1 "UZS\u{a0}"
    Vnd "vnd" 0   1     1 "₫"
    Vuv "vuv" 0   1     1 "VUV\u{a0}"
    Wst "wst" 2   1     1 "WST\u{a0}"
    Xaf "xaf" 0   1     1 "XAF\u{a0}"
    Xcd "xcd" 2   1     1 "XCD\u{a0}"
    Xof "xof" 0   1     1 "XOF\u{a0}"
    Xpf "xpf" 0   1     1 "XPF\u{a0}"
    Yer "yer" 2   1     1 "YER\u{a0}"
    Zar "zar" 2   1     1 "ZAR\u{a0}"
    Zmw "zmw" 2   1     1 "ZMW\u{a0}"
}

impl Currency {
    /// The three-letter code, lower case as on the provider's wire.
    pub fn code(self) -> &'static str {
        self.facts().code
    }

    /// How many decimals an amount has on the wire: 10 to this power minor units are one unit.
    pub fn exponent(self) -> u32 {
        self.facts().decimals
    }

    /// Amounts are multiples of so many minor units.
    pub fn step(self) -> i64 {
        self.facts().step
    }

    /// The smallest charge in minor units.
    pub fn minimum(self) -> i64 {
        self.facts().minimum
    }

    /// Whether there is no coin smaller than a unit, so that nobody writes decimals.
    pub fn is_whole(self) -> bool {
        let Facts { decimals, step, .. } = self.facts();
        step == 10_i64.pow(decimals)
    }

    pub(super) fn symbol(self) -> &'static str {
        self.facts().symbol
    }
}

/// As people write it in a text: `EUR`.
impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code().to_ascii_uppercase())
    }
}

/// The code, in whatever case.
impl FromStr for Currency {
    type Err = UnknownCurrency;
    fn from_str(text: &str) -> Result<Self, UnknownCurrency> {
        let known = Self::ALL
            .iter()
            .find(|known| known.code().eq_ignore_ascii_case(text));
        known.copied().ok_or(UnknownCurrency)
    }
}

/// No currency that can be charged has this code.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the code of a currency that can be charged, such as eur, usd or jpy")]
pub struct UnknownCurrency;

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists of <https://docs.stripe.com/currencies>, written down a second time.
    #[test]
    fn decimals_are_the_providers() {
        let with = |decimals| {
            let codes = Currency::ALL
                .iter()
                .filter(move |it| it.exponent() == decimals);
            codes.map(|it| it.code()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            with(0),
            "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf"
        );
        assert_eq!(with(3), "bhd jod kwd omr tnd");
        for hundredths in [Currency::Isk, Currency::Ugx, Currency::Huf, Currency::Twd] {
            assert_eq!(hundredths.exponent(), 2, "{hundredths}");
        }
    }

    #[test]
    fn every_amount_that_can_be_charged_is_a_multiple_of_the_step() {
        for currency in Currency::ALL {
            assert_eq!(currency.minimum() % currency.step(), 0, "{currency}");
            assert!((1..CHARGE_MAX).contains(&currency.minimum()), "{currency}");
        }
    }

    #[test]
    fn codes_are_read_in_any_case_and_nothing_else_is() {
        assert_eq!("EUR".parse(), Ok(Currency::Eur));
        assert_eq!("jpy".parse(), Ok(Currency::Jpy));
        for text in ["", "euro", "xyz", "€", "eur "] {
            assert_eq!(text.parse::<Currency>(), Err(UnknownCurrency), "{text:?}");
        }
        assert!(Currency::ALL.iter().all(|it| it.code().parse() == Ok(*it)));
    }
}
