//! What a purchase can be paid with: the provider's test methods, each with its fixed outcome.
//!
//! A card is charged at once. A bank account is debited with the customer's mandate, and its bank decides days later; the
//! purchase waits for it like for any other answer.

use std::str::FromStr;

use crate::money::Currency;

/// One of the provider's payment methods that the shop offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaymentMethod {
    /// The provider's id.
    id: &'static str,
    /// What the customer reads.
    pub label: &'static str,
    /// What comes of it.
    pub note: &'static str,
    kind: Kind,
}

/// What is paid with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A card, in any currency. It is charged at once.
    Card,
    /// A bank account with an IBAN. The bank decides days later.
    SepaDebit,
    /// An American bank account. So does this one's.
    UsBankAccount,
}

/// What the form offers: test methods of the provider, each with its fixed outcome. The first is preselected.
/// <https://docs.stripe.com/testing>
pub const PAYMENT_METHODS: [PaymentMethod; 11] = [
    method("pm_card_visa", "Visa •••• 4242", "succeeds"),
    method("pm_card_mastercard", "Mastercard •••• 4444", "succeeds"),
    method(
        "pm_card_threeDSecure2Required",
        "Visa •••• 3220",
        "asks you to confirm the payment",
    ),
    method("pm_card_chargeDeclined", "Visa •••• 0002", "is declined"),
    method(
        "pm_card_chargeDeclinedInsufficientFunds",
        "Visa •••• 9995",
        "is declined: insufficient funds",
    ),
    method(
        "pm_card_chargeDeclinedExpiredCard",
        "Visa •••• 0069",
        "is declined: the card has expired",
    ),
    method(
        "pm_card_chargeDeclinedProcessingError",
        "Visa •••• 0119",
        "is declined: an error while processing",
    ),
    account(
        Kind::SepaDebit,
        "pm_sepaDebit_success_de",
        "IBAN DE89 •••• 3000",
        "we will debit this account once: takes a while, and succeeds",
    ),
    account(
        Kind::SepaDebit,
        "pm_sepaDebit_failed_de",
        "IBAN DE62 •••• 3001",
        "we will debit this account once: takes a while, and is refused",
    ),
    account(
        Kind::UsBankAccount,
        "pm_usBankAccount_success",
        "Bank account •••• 6789",
        "we will debit this account once: takes a while, and succeeds",
    ),
    account(
        Kind::UsBankAccount,
        "pm_usBankAccount_insufficientFunds",
        "Bank account •••• 2227",
        "we will debit this account once: takes a while, and is refused",
    ),
];

const fn method(id: &'static str, label: &'static str, note: &'static str) -> PaymentMethod {
    account(Kind::Card, id, label, note)
}

const fn account(
    kind: Kind,
    id: &'static str,
    label: &'static str,
    note: &'static str,
) -> PaymentMethod {
    PaymentMethod {
        id,
        label,
        note,
        kind,
    }
}

impl PaymentMethod {
    /// Those that a purchase in `currency` can be paid with.
    pub fn offered(currency: Currency) -> impl Iterator<Item = Self> {
        let fits = move |method: &Self| method.takes(currency);
        PAYMENT_METHODS.into_iter().filter(fits)
    }

    /// Whether it can pay in `currency`. Debits can in that of their country.
    pub fn takes(self, currency: Currency) -> bool {
        match self.kind {
            Kind::Card => true,
            Kind::SepaDebit => currency == Currency::Eur,
            Kind::UsBankAccount => currency == Currency::Usd,
        }
    }

    /// The provider's id of it.
    pub fn as_str(self) -> &'static str {
        self.id
    }

    /// What the provider calls its kind.
    pub fn kind(self) -> &'static str {
        match self.kind {
            Kind::Card => "card",
            Kind::SepaDebit => "sepa_debit",
            Kind::UsBankAccount => "us_bank_account",
        }
    }

    /// Whether the customer has to agree that their account is debited.
    pub fn needs_mandate(self) -> bool {
        self.kind != Kind::Card
    }
}

impl FromStr for PaymentMethod {
    type Err = UnknownPaymentMethod;
    fn from_str(id: &str) -> Result<Self, UnknownPaymentMethod> {
        PAYMENT_METHODS
            .into_iter()
            .find(|method| method.id == id)
            .ok_or(UnknownPaymentMethod)
    }
}

/// The shop does not offer this method.
#[derive(Debug, thiserror::Error)]
#[error("unknown payment method")]
pub struct UnknownPaymentMethod;
