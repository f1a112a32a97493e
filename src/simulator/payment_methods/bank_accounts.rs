//! The test bank accounts: a debit is taken at once, and the bank says later what becomes of it.
//!
//! American accounts (ACH) and those with an IBAN (SEPA), by the names of <https://docs.stripe.com/testing>; of the
//! countries of SEPA there are five. The accounts are verified, so no deposits have to be waited for. Accounts that
//! Stripe offers for what this simulator does not do are unknown here: micro-deposits, Radar, disputed debits.

use super::{
    instrument::{AmericanAccount, EuropeanAccount, Instrument},
    table::{Behaviour, Quirk, TestMethod},
};

/// How a debit ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) struct Debit {
    /// `None`: never.
    pub(in crate::simulator) after_seconds: Option<i64>,
    /// `None`: with the money.
    pub(in crate::simulator) failure: Option<Failure>,
}

/// Why the bank does not pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) struct Failure {
    /// The code in the intent's `last_payment_error`.
    pub(in crate::simulator) code: &'static str,
    /// The `failure_code` of the charge.
    pub(in crate::simulator) charge_code: &'static str,
    pub(in crate::simulator) message: &'static str,
}

/// As measured in test mode.
const ACH_SECONDS: i64 = 20;
const SEPA_SECONDS: i64 = 15;

/// "After at least three minutes".
const DELAYED_SECONDS: i64 = 180;

const ACCOUNT_CLOSED: Failure = failure("account_closed", "This bank account has been closed.");

const NO_ACCOUNT: Failure = failure("no_account", "There is no bank account with this number.");

const INSUFFICIENT_FUNDS: Failure = failure(
    "insufficient_funds",
    "There is not enough money on this bank account.",
);

const NOT_AUTHORIZED: Failure = failure(
    "debit_not_authorized",
    "The owner of this bank account says that they did not authorize the debit.",
);

const INVALID_CURRENCY: Failure = failure(
    "invalid_currency",
    "This bank account cannot be debited in this currency.",
);

const WEEKLY_LIMIT: Failure = failure(
    "charge_exceeds_weekly_limit",
    "This bank account was debited too often this week.",
);

const VOLUME_LIMIT: Failure = failure(
    "charge_exceeds_source_limit",
    "This bank account was debited for too much this week.",
);

const REFUSED: Failure = Failure {
    code: "payment_intent_payment_attempt_failed",
    charge_code: "incorrect_account_holder_name",
    message: "The bank refused the debit: the name of the account's owner is another one.",
};

#[rustfmt::skip]
pub(super) const TEST_ACCOUNTS: &[TestMethod] = &[
    ach("pm_usBankAccount_success", "6789", None),
    ach(
        "pm_usBankAccount_accountClosed",
        "1113",
        Some(ACCOUNT_CLOSED),
    ),
    ach("pm_usBankAccount_noAccount", "1116", Some(NO_ACCOUNT)),
    ach(
        "pm_usBankAccount_insufficientFunds",
        "2227",
        Some(INSUFFICIENT_FUNDS),
    ),
    ach(
        "pm_usBankAccount_debitNotAuthorized",
        "3335",
        Some(NOT_AUTHORIZED),
    ),
    ach(
        "pm_usBankAccount_invalidCurrency",
        "4440",
        Some(INVALID_CURRENCY),
    ),
    ach(
        "pm_usBankAccount_weeklyLimitExceeded",
        "7771",
        Some(WEEKLY_LIMIT),
    ),
    TestMethod {
        behaviour: Behaviour::Debits(Debit {
            after_seconds: None,
            failure: None,
        }),
        ..ach("pm_usBankAccount_processing", "0009", None)
    },
    sepa("pm_sepaDebit_success_at", AT, "AT611904300234573201", SOON, None),
    sepa("pm_sepaDebit_successDelayed_at", AT, "AT321904300235473204", LATE, None),
    sepa("pm_sepaDebit_failed_at", AT, "AT861904300235473202", SOON, Some(REFUSED)),
    sepa("pm_sepaDebit_failedDelayed_at", AT, "AT051904300235473205", LATE, Some(REFUSED)),
    sepa("pm_sepaDebit_exceedsWeeklyVolumeLimit_at", AT, "AT981904300000343434", SOON, Some(VOLUME_LIMIT)),
    sepa("pm_sepaDebit_exceedsWeeklyTransactionLimit_at", AT, "AT601904300000121212", SOON, Some(WEEKLY_LIMIT)),
    sepa("pm_sepaDebit_insufficientFunds_at", AT, "AT981904300002222227", SOON, Some(INSUFFICIENT_FUNDS)),
    sepa("pm_sepaDebit_success_be", BE, "BE62510007547061", SOON, None),
    sepa("pm_sepaDebit_successDelayed_be", BE, "BE78510007547064", LATE, None),
    sepa("pm_sepaDebit_failed_be", BE, "BE68539007547034", SOON, Some(REFUSED)),
    sepa("pm_sepaDebit_failedDelayed_be", BE, "BE51510007547065", LATE, Some(REFUSED)),
    sepa("pm_sepaDebit_exceedsWeeklyVolumeLimit_be", BE, "BE90510000343434", SOON, Some(VOLUME_LIMIT)),
    sepa("pm_sepaDebit_exceedsWeeklyTransactionLimit_be", BE, "BE52510000121212", SOON, Some(WEEKLY_LIMIT)),
    sepa("pm_sepaDebit_insufficientFunds_be", BE, "BE90510002222227", SOON, Some(INSUFFICIENT_FUNDS)),
    sepa("pm_sepaDebit_success_de", DE, "DE89370400440532013000", SOON, None),
    sepa("pm_sepaDebit_successDelayed_de", DE, "DE08370400440532013003", LATE, None),
    sepa("pm_sepaDebit_failed_de", DE, "DE62370400440532013001", SOON, Some(REFUSED)),
    sepa("pm_sepaDebit_failedDelayed_de", DE, "DE78370400440532013004", LATE, Some(REFUSED)),
    sepa("pm_sepaDebit_exceedsWeeklyVolumeLimit_de", DE, "DE65370400440000343434", SOON, Some(VOLUME_LIMIT)),
    sepa("pm_sepaDebit_exceedsWeeklyTransactionLimit_de", DE, "DE27370400440000121212", SOON, Some(WEEKLY_LIMIT)),
    sepa("pm_sepaDebit_insufficientFunds_de", DE, "DE65370400440002222227", SOON, Some(INSUFFICIENT_FUNDS)),
    sepa("pm_sepaDebit_success_fr", FR, "FR1420041010050500013M02606", SOON, None),
    sepa("pm_sepaDebit_successDelayed_fr", FR, "FR3020041010050500013M02609", LATE, None),
    sepa("pm_sepaDebit_failed_fr", FR, "FR8420041010050500013M02607", SOON, Some(REFUSED)),
    sepa("pm_sepaDebit_failedDelayed_fr", FR, "FR7920041010050500013M02600", LATE, Some(REFUSED)),
    sepa("pm_sepaDebit_exceedsWeeklyVolumeLimit_fr", FR, "FR9720041010050000000343434", SOON, Some(VOLUME_LIMIT)),
    sepa("pm_sepaDebit_exceedsWeeklyTransactionLimit_fr", FR, "FR5920041010050000000121212", SOON, Some(WEEKLY_LIMIT)),
    sepa("pm_sepaDebit_insufficientFunds_fr", FR, "FR9720041010050000002222227", SOON, Some(INSUFFICIENT_FUNDS)),
    sepa("pm_sepaDebit_success_ie", IE, "IE29AIBK93115212345678", SOON, None),
    sepa("pm_sepaDebit_successDelayed_ie", IE, "IE24AIBK93115212345671", LATE, None),
    sepa("pm_sepaDebit_failed_ie", IE, "IE02AIBK93115212345679", SOON, Some(REFUSED)),
    sepa("pm_sepaDebit_failedDelayed_ie", IE, "IE94AIBK93115212345672", LATE, Some(REFUSED)),
    sepa("pm_sepaDebit_exceedsWeeklyVolumeLimit_ie", IE, "IE10AIBK93115200343434", SOON, Some(VOLUME_LIMIT)),
    sepa("pm_sepaDebit_exceedsWeeklyTransactionLimit_ie", IE, "IE69AIBK93115200121212", SOON, Some(WEEKLY_LIMIT)),
    sepa("pm_sepaDebit_insufficientFunds_ie", IE, "IE10AIBK93115202222227", SOON, Some(INSUFFICIENT_FUNDS)),
];

const SOON: i64 = SEPA_SECONDS;
const LATE: i64 = DELAYED_SECONDS;

/// The bank and the branch in the IBANs of a country.
type Bank = (&'static str, &'static str);

const AT: Bank = ("19043", "");
const BE: Bank = ("510", "");
const DE: Bank = ("37040044", "");
const FR: Bank = ("20041", "01005");
const IE: Bank = ("AIBK", "931152");

const fn ach(alias: &'static str, last4: &'static str, failure: Option<Failure>) -> TestMethod {
    TestMethod {
        alias,
        instrument: Instrument::UsBankAccount(AmericanAccount { last4 }),
        behaviour: Behaviour::Debits(Debit {
            after_seconds: Some(ACH_SECONDS),
            failure,
        }),
        quirk: Quirk::None,
    }
}

const fn sepa(
    alias: &'static str,
    (bank_code, branch_code): Bank,
    iban: &'static str,
    after_seconds: i64,
    failure: Option<Failure>,
) -> TestMethod {
    TestMethod {
        alias,
        instrument: Instrument::SepaDebit(EuropeanAccount {
            iban,
            bank_code,
            branch_code,
        }),
        behaviour: Behaviour::Debits(Debit {
            after_seconds: Some(after_seconds),
            failure,
        }),
        quirk: Quirk::None,
    }
}

/// Most say the same about the intent and the charge.
const fn failure(code: &'static str, message: &'static str) -> Failure {
    Failure {
        code,
        charge_code: code,
        message,
    }
}
