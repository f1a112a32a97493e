//! What may be charged: currencies, minimum and maximum amounts.
//!
//! Amounts are minor units of the currency. The minimum applies to the settlement currency, so only the
//! currencies an account settles in have one here; the others start at one unit.

use rust_decimal::Decimal;

use super::error::ApiError;

/// Eight digits, as the reference of payment intents has it. (The currencies page allows twelve to most cards.)
const MAX_AMOUNT: i64 = 99_999_999;

/// Minimum charge in minor units, and how the message states it.
const MINIMUMS: &[(&str, i64, &str)] = &[
    ("aed", 200, "2.00 د.إ"),
    ("aud", 50, "$0.50 aud"),
    ("brl", 50, "R$0.50 brl"),
    ("cad", 50, "$0.50 cad"),
    ("chf", 50, "0.50 Fr"),
    ("czk", 1500, "15.00 Kč"),
    ("dkk", 250, "2.50 kr. dkk"),
    ("eur", 50, "€0.50 eur"),
    ("gbp", 30, "£0.30 gbp"),
    ("hkd", 400, "$4.00 hkd"),
    ("huf", 17_500, "175.00 Ft"),
    ("inr", 50, "₹0.50 inr"),
    ("jpy", 50, "¥50 jpy"),
    ("krw", 50, "₩50 krw"),
    ("mxn", 1000, "$10.00 mxn"),
    ("myr", 200, "RM2.00 myr"),
    ("nok", 300, "3.00 kr. nok"),
    ("nzd", 50, "$0.50 nzd"),
    ("pln", 200, "2.00 zł"),
    ("ron", 200, "lei2.00"),
    ("sek", 300, "3.00 kr. sek"),
    ("sgd", 50, "$0.50 sgd"),
    ("thb", 1000, "฿10.00"),
    ("usd", 50, "$0.50 usd"),
];

/// Every other presentment currency.
const OTHERS: &str = "afn all amd ang aoa ars awg azn bam bbd bdt bgn bhd bif bmd bnd bob bsd bwp byn bzd cdf clp \
                      cny cop crc cve djf dop dzd egp etb fjd fkp gel gip gmd gnf gtq gyd hnl htg idr ils isk jmd \
                      jod kes kgs khr kmf kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mur mvr mwk \
                      mzn nad ngn nio npr omr pab pen pgk php pkr pyg qar rsd rub rwf sar sbd scr shp sle sos srd \
                      std szl tjs tnd top try ttd twd tzs uah ugx uyu uzs vnd vuv wst xaf xcd xof xpf yer zar zmw";

/// Thousandths, of which the last digit must be 0.
const THREE_DECIMAL: &[&str] = &["bhd", "jod", "kwd", "omr", "tnd"];

/// Written with two decimals although there are no cents: the last two digits must be 00.
const WHOLE_IN_HUNDREDTHS: &[&str] = &["isk", "ugx"];

/// No decimals: one unit is one unit.
const ZERO_DECIMAL: &[&str] = &[
    "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf",
    "xof", "xpf",
];

/// An amount as people write it: 1042 of `usd` is `USD 10.42`, and 1042 of `jpy` is `JPY 1042`.
pub(super) fn written(amount: i64, currency: &str) -> String {
    let decimals = if ZERO_DECIMAL.contains(&currency) {
        0
    } else if THREE_DECIMAL.contains(&currency) {
        3
    } else {
        2
    };
    let code = currency.to_ascii_uppercase();
    format!("{code}\u{a0}{}", Decimal::new(amount, decimals))
}

/// Lower case is how the API shows a currency; upper case is accepted.
pub(super) fn parse_currency(text: &str) -> Result<String, ApiError> {
    let currency = text.to_ascii_lowercase();
    if is_supported(&currency) {
        return Ok(currency);
    }
    let mut all: Vec<&str> = MINIMUMS
        .iter()
        .map(|(code, ..)| *code)
        .chain(OTHERS.split_ascii_whitespace())
        .collect();
    all.sort_unstable();
    let shown: String = currency.chars().take(20).collect();
    let message = format!(
        "There is no currency {shown}. These can be charged: {}",
        all.join(", ")
    );
    Err(ApiError::invalid(message).param("currency"))
}

/// Refuses an amount that no card can be charged in `currency`.
pub(super) fn check_amount(amount: i64, currency: &str) -> Result<(), ApiError> {
    if amount < 1 {
        let message = "This value must be greater than or equal to 1.";
        return Err(ApiError::invalid(message)
            .code("parameter_invalid_integer")
            .param("amount"));
    }
    if amount > MAX_AMOUNT {
        let message =
            format!("Amount must be no more than {MAX_AMOUNT} in the currency's smallest unit.");
        return Err(ApiError::invalid(message)
            .code("amount_too_large")
            .param("amount"));
    }
    if let Some((_, minimum, shown)) = MINIMUMS.iter().find(|(code, ..)| *code == currency)
        && amount < *minimum
    {
        let message = format!("Amount must be at least {shown}");
        return Err(ApiError::invalid(message)
            .code("amount_too_small")
            .param("amount"));
    }
    check_granularity(amount, currency, "amount")
}

/// Refuses a fraction of the smallest coin.
pub(super) fn check_granularity(amount: i64, currency: &str, param: &str) -> Result<(), ApiError> {
    let step = granularity(currency);
    if amount % step == 0 {
        return Ok(());
    }
    let message = format!("Invalid amount: amounts in {currency} must be divisible by {step}.");
    Err(ApiError::invalid(message).param(param))
}

fn is_supported(currency: &str) -> bool {
    MINIMUMS.iter().any(|(code, ..)| *code == currency)
        || OTHERS.split_ascii_whitespace().any(|code| code == currency)
}

/// The smallest step between two amounts.
fn granularity(currency: &str) -> i64 {
    if THREE_DECIMAL.contains(&currency) {
        10
    } else if WHOLE_IN_HUNDREDTHS.contains(&currency) {
        100
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::{ZERO_DECIMAL, check_amount, parse_currency, written};

    #[test]
    fn amounts_are_refused_one_beyond_each_limit() {
        assert!(check_amount(49, "usd").is_err());
        assert!(check_amount(50, "usd").is_ok());
        assert!(check_amount(99_999_999, "usd").is_ok());
        assert!(check_amount(100_000_000, "usd").is_err());
        assert!(check_amount(0, "vnd").is_err());
        assert!(check_amount(1, "vnd").is_ok());
    }

    #[test]
    fn each_minimum_is_charged_and_one_unit_less_is_not() {
        let minimums = "usd 50 eur 50 aud 50 cad 50 chf 50 sgd 50 nzd 50 brl 50 inr 50 gbp 30 jpy 50 krw 50 dkk 250
                        nok 300 sek 300 pln 200 aed 200 ron 200 myr 200 hkd 400 mxn 1000 thb 1000 czk 1500 huf 17500";
        let words: Vec<&str> = minimums.split_whitespace().collect();
        for pair in words.chunks(2) {
            let (currency, minimum) = (pair[0], pair[1].parse::<i64>().unwrap());
            assert!(check_amount(minimum, currency).is_ok(), "{currency}");
            assert!(check_amount(minimum - 1, currency).is_err(), "{currency}");
        }
    }

    #[test]
    fn some_currencies_have_no_smallest_coin() {
        for thousandths in ["bhd", "jod", "kwd", "omr", "tnd"] {
            assert!(check_amount(1230, thousandths).is_ok());
            assert!(check_amount(1235, thousandths).is_err());
        }
        for whole in ["isk", "ugx"] {
            assert!(check_amount(500, whole).is_ok());
            assert!(check_amount(550, whole).is_err());
        }
        assert!(check_amount(1, "vnd").is_ok());
    }

    #[test]
    fn currencies_are_shown_in_lower_case() {
        assert_eq!(parse_currency("USD").unwrap(), "usd");
        assert!(parse_currency("xyz").is_err());
        assert!(parse_currency("usd eur").is_err());
    }

    #[test]
    fn amounts_are_written_with_the_decimals_of_their_currency() {
        for (amount, currency, expected) in [
            (1042, "usd", "USD\u{a0}10.42"),
            (5, "eur", "EUR\u{a0}0.05"),
            (1042, "jpy", "JPY\u{a0}1042"),
            (1230, "kwd", "KWD\u{a0}1.230"),
            (500, "isk", "ISK\u{a0}5.00"),
        ] {
            assert_eq!(written(amount, currency), expected);
        }
        assert!(ZERO_DECIMAL.iter().all(|code| parse_currency(code).is_ok()));
    }
}
